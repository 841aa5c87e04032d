"""Translation of the parameters of a tree estimator into a recipe, or a fitter that tunes one."""

from dataclasses import replace
from typing import Any

from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.estimators.parameters.forced import resolve_forced
from hornbeam.estimators.parameters.path_constraints import forbidden_pairs, interaction_groups
from hornbeam.estimators.parameters.teaching import READABLE, has_teacher, taught_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.estimators.parameters.validators import (
    boolean,
    choice,
    is_named,
    limit,
    lookup,
    monotone_signs,
    number,
    resolve_bins,
    resolve_rows,
    resolve_seed,
    smoother_or_pruner,
)
from hornbeam.growing import Criterion, Grower, Missing, Nominal
from hornbeam.growing.forced_splits import forced_splits
from hornbeam.pruning import BayesRisk, CostComplexity, Pruner
from hornbeam.pruning.registry import PRUNERS
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS, Fitter, Recipe
from hornbeam.smoothing import HDP, HGS, Borrowing, Smoother
from hornbeam.smoothing.registry import SMOOTHERS
from hornbeam.tree.decision.costs import Costs
from hornbeam.tuning import CrossFitted, CrossValidated

__all__ = [
    "CLASSIFICATION_ONLY",
    "classification_fitter",
    "make_grower",
    "make_smoother",
    "regression_fitter",
    "smoothing_options",
]

CLASSIFICATION_ONLY = [criterion for criterion in Criterion if criterion is not Criterion.SQUARED_ERROR]


def smoothing_options(*, regression: bool = False, seed: int = 0) -> dict[str, Smoother]:
    """Smoothers by the values of the parameter `smoothing`, without "cross-fitted".

    `Borrowing` is left out: its strengths must be fitted, which is what "cross-fitted" does. `seed` is that of `HDP`.

    Examples
    --------
    >>> list(smoothing_options(regression=True))
    ['raw', 'm-branch', 'shrinkage']
    """
    known = {name: kind for name, kind in SMOOTHERS.items() if kind is not Borrowing}
    return {
        name: HDP(seed=seed) if kind is HDP else kind()
        for name, kind in known.items()
        if kind.for_regression or not regression
    }


def _pruning_options(*, regression: bool = False) -> dict[str, Pruner]:
    return {name: kind() for name, kind in PRUNERS.items() if kind.for_regression or not regression}


def _smoother(
    estimator: Any, default: Smoother | None, seed: int, *, regression: bool = False
) -> Smoother | None:
    known = {"cross-fitted": Borrowing(), **smoothing_options(regression=regression, seed=seed)}
    return smoother_or_pruner("smoothing", estimator.smoothing, known, default)  # type: ignore[no-any-return]


def classification_fitter(estimator: Any, table: Table | Source, n_rows: int | None = None) -> Fitter:
    """Make the fitter of a `TreeClassifier`; "auto" is the choice of the preset.

    Parameters that are shares of all rows are shares of `n_rows`, the rows that are grown on.
    """
    recipe = lookup("preset", estimator.preset, {**PRESETS, READABLE: PRESETS["default"]})
    if has_teacher(estimator):
        return taught_fitter(estimator, table.n_rows)
    n_rows = table.n_rows if n_rows is None else n_rows
    grower = _constrained(estimator, make_grower(estimator, recipe.grower, table, n_rows), table)
    criterion = choice("criterion", estimator.criterion, CLASSIFICATION_ONLY, grower.criterion)
    grower = replace(grower, criterion=criterion)
    seed = resolve_seed(estimator.random_state)
    smoother = _smoother(estimator, recipe.smoother, seed)
    pruner = smoother_or_pruner("pruning", estimator.pruning, _pruning_options(), recipe.pruner)
    # Invalid costs raise here, not in predict.
    costs = None if estimator.costs is None else Costs.of(estimator.costs, table.schema.classes)
    cross_fitted = _is_cross_fitted(estimator, smoother)
    by_risk = is_named(estimator.pruning, BayesRisk.name)
    if by_risk:
        # The risks of smoothed probabilities: with raw ones hardly any subtree is pruned.
        estimate = None if cross_fitted else smoother
        pruner = BayesRisk(costs, n_jobs=n_threads(estimator.n_jobs), estimate=estimate)
    recipe = Recipe(resolve_bins(estimator.max_bins, recipe.max_bins), grower, pruner, smoother)
    pruned: Recipe | CrossValidated = recipe
    if is_named(estimator.pruning, CostComplexity.name):  # its alpha is chosen by cross-validation
        pruned = CrossValidated(recipe, score="brier" if costs is None else costs, simplicity=1.0, seed=seed)
    if not cross_fitted:
        return pruned
    has_penalty = by_risk or (estimator.pruning == "auto" and pruner is None)
    return _limited(
        CrossFitted(
            replace(recipe, pruner=None) if by_risk else pruned,
            tolerance=number("tolerance", estimator.tolerance) if has_penalty else None,
            pruner=pruner if by_risk else None,
            seed=seed,
        )
    )


def regression_fitter(estimator: Any, table: Table | Source, n_rows: int | None = None) -> Fitter:
    """Make the fitter of a `TreeRegressor`; "auto" is the choice of the preset.

    Parameters that are shares of all rows are shares of `n_rows`, the rows that are grown on.
    """
    recipe = lookup(
        "preset", estimator.preset, {**REGRESSION_PRESETS, READABLE: REGRESSION_PRESETS["default"]}
    )
    if has_teacher(estimator):
        return taught_fitter(estimator, table.n_rows)
    n_rows = table.n_rows if n_rows is None else n_rows
    grower = _constrained(estimator, make_grower(estimator, recipe.grower, table, n_rows), table)
    seed = resolve_seed(estimator.random_state)
    smoother = _smoother(estimator, recipe.smoother, seed, regression=True)
    pruner = smoother_or_pruner(
        "pruning", estimator.pruning, _pruning_options(regression=True), recipe.pruner
    )
    recipe = Recipe(resolve_bins(estimator.max_bins, recipe.max_bins), grower, pruner, smoother)
    pruned: Recipe | CrossValidated = recipe
    if is_named(estimator.pruning, CostComplexity.name):
        pruned = CrossValidated(recipe, simplicity=1.0, seed=seed)
    if not _is_cross_fitted(estimator, smoother):
        return pruned
    has_penalty = estimator.pruning == "auto" and pruner is None
    tolerance = number("tolerance", estimator.tolerance) if has_penalty else None
    return _limited(CrossFitted(pruned, tolerance=tolerance, seed=seed))


def _limited(fitter: CrossFitted) -> CrossFitted:
    """Limit the leaves of a monotone tree by what they save on held-out rows, not by their raw gains.

    Where a constraint forbids the best splits, the largest gains left are often those of tiny leaves.
    """
    recipe = fitter.fixed_recipe
    if recipe is None or fitter.tolerance is None or not any(recipe.grower.monotone or ()):
        return fitter
    grower = replace(recipe.grower, max_leaf_nodes=None)
    return replace(fitter, recipe=replace(recipe, grower=grower), max_leaf_nodes=recipe.grower.max_leaf_nodes)


def _is_cross_fitted(estimator: Any, smoother: Smoother | None) -> bool:
    """Whether the strengths of `Borrowing` are to be fitted on held-out rows."""
    value = estimator.smoothing
    return is_named(value, "cross-fitted") or (is_named(value, "auto") and isinstance(smoother, Borrowing))


def make_grower(estimator: Any, grower: Grower, table: Table | Source, n_rows: int) -> Grower:
    """Set the parameters that all tree estimators share."""
    return replace(
        grower,
        nominal=choice("nominal", estimator.nominal, Nominal, grower.nominal),
        missing=choice("missing", estimator.missing, Missing, grower.missing),
        max_depth=limit("max_depth", estimator.max_depth),
        min_samples_split=resolve_rows("min_samples_split", estimator.min_samples_split, 2, n_rows),
        min_samples_leaf=resolve_rows("min_samples_leaf", estimator.min_samples_leaf, 1, n_rows),
        min_weight_fraction_leaf=number("min_weight_fraction_leaf", estimator.min_weight_fraction_leaf),
        min_impurity_decrease=number("min_impurity_decrease", estimator.min_impurity_decrease),
        max_leaf_nodes=limit("max_leaf_nodes", estimator.max_leaf_nodes),
        monotone=monotone_signs(estimator.monotonic_cst, table.schema.names),
    )


def _constrained(estimator: Any, grower: Grower, table: Table | Source) -> Grower:
    """Set the constraints that only a single tree has."""
    names, forced = table.schema.names, resolve_forced(estimator.forced_splits, table.schema)
    return replace(
        grower,
        interactions=interaction_groups(estimator.interaction_cst, names),
        once_per_path=boolean("once_per_path", estimator.once_per_path),
        forbidden_below=forbidden_pairs(estimator.forbidden_below, names),
        forced=None if forced is None else forced_splits(forced),
    )


def make_smoother(value: Any) -> Smoother | None:
    """Return the smoother for a tree that exists already; "auto" is HGS.

    Examples
    --------
    >>> make_smoother("laplace"), make_smoother(None)
    (Laplace(), None)
    """
    # "cross-fitted" is missing: it would have to grow trees.
    return smoother_or_pruner("smoothing", value, smoothing_options(), HGS())  # type: ignore[no-any-return]
