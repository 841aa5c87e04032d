"""Translation of the parameters of a tree estimator into a recipe, or a fitter that tunes one."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.estimators.parameters.path_constraints import (
    forbidden_pairs,
    interaction_groups,
    resolve_forced,
)
from hornbeam.estimators.parameters.teaching import READABLE, has_teacher, taught_fitter
from hornbeam.estimators.parameters.validators import (
    boolean,
    choice,
    is_named,
    limit,
    lookup,
    monotone_signs,
    n_threads,
    number,
    resolve_bins,
    resolve_rows,
    resolve_seed,
    smoother_or_pruner,
)
from hornbeam.growing import Criterion, Grower, Missing, Nominal
from hornbeam.growing.forced_splits import forced_splits
from hornbeam.pruning import PRUNERS, BayesRisk, CostComplexity
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS, Fitter, Recipe
from hornbeam.smoothing import HDP, HGS, Borrowing, Smoother
from hornbeam.smoothing.registry import SMOOTHERS
from hornbeam.tree.decision import Costs
from hornbeam.tuning import CrossFitted, CrossValidated

__all__ = ["make_grower", "make_smoother", "smoothing_options", "tree_fitter"]

_CLASSIFICATION_ONLY = [criterion for criterion in Criterion if criterion is not Criterion.SQUARED_ERROR]


def smoothing_options(*, regression: bool = False, seed: int = 0) -> dict[str, Callable[[], Smoother]]:
    """Makers of smoothers by the values of the parameter `smoothing`, without "cross-fitted".

    `Borrowing` is left out: its strengths must be fitted, which is what "cross-fitted" does. `seed` is that of `HDP`.

    Examples
    --------
    >>> list(smoothing_options(regression=True))
    ['raw', 'm-branch', 'shrinkage']
    """
    if regression:
        return {
            name: kind for name, kind in SMOOTHERS.items() if kind.for_regression and kind is not Borrowing
        }
    known: dict[str, Callable[[], Smoother]] = {**SMOOTHERS, HDP.name: partial(HDP, seed=seed)}
    del known[Borrowing.name]
    return known


def tree_fitter(parameters: Any, rows: Table | Source, n_rows: int | None = None) -> Fitter:
    """Make the fitter of one tree; "auto" is the choice of the preset.

    Parameters that are shares of all rows are shares of `n_rows`, the rows that are grown on.
    """
    regression = rows.schema.is_regression
    presets = REGRESSION_PRESETS if regression else PRESETS
    preset = lookup("preset", parameters.preset, {**presets, READABLE: presets["default"]})
    if has_teacher(parameters):
        return taught_fitter(parameters, rows.n_rows)
    n_rows = rows.n_rows if n_rows is None else n_rows
    grower = _constrained(parameters, make_grower(parameters, preset.grower, rows, n_rows), rows)
    seed = resolve_seed(parameters.random_state)
    known = {"cross-fitted": Borrowing, **smoothing_options(regression=regression, seed=seed)}
    smoother = smoother_or_pruner("smoothing", parameters.smoothing, known, preset.smoother)
    pruners = {name: kind for name, kind in PRUNERS.items() if kind.for_regression or not regression}
    pruner = smoother_or_pruner("pruning", parameters.pruning, pruners, preset.pruner)
    # Invalid costs raise here, not in predict.
    costs = (
        None if regression or parameters.costs is None else Costs.of(parameters.costs, rows.schema.classes)
    )
    cross_fitted = is_named(parameters.smoothing, "cross-fitted") or (
        is_named(parameters.smoothing, "auto") and isinstance(smoother, Borrowing)
    )
    by_risk = is_named(parameters.pruning, BayesRisk.name)
    if by_risk:
        # The risks of smoothed probabilities: with raw ones hardly any subtree is pruned.
        estimate = None if cross_fitted else smoother
        pruner = BayesRisk(costs, n_jobs=n_threads(parameters.n_jobs), estimate=estimate)
    recipe = Recipe(resolve_bins(parameters.max_bins, preset.max_bins), grower, pruner, smoother)
    fitter: Recipe | CrossValidated = recipe
    if is_named(parameters.pruning, CostComplexity.name):  # its alpha is chosen by cross-validation
        fitter = CrossValidated(recipe, score="brier" if costs is None else costs, simplicity=1.0, seed=seed)
    if not cross_fitted:
        return fitter
    has_penalty = by_risk or (is_named(parameters.pruning, "auto") and pruner is None)
    return _limited(
        CrossFitted(
            replace(recipe, pruner=None) if by_risk else fitter,
            tolerance=number("tolerance", parameters.tolerance) if has_penalty else None,
            pruner=pruner if by_risk else None,
            seed=seed,
        )
    )


def _limited(fitter: CrossFitted) -> CrossFitted:
    """Limit the leaves of a monotone tree by what they save on held-out rows, not by their raw gains.

    Where a constraint forbids the best splits, the largest gains left are often those of tiny leaves.
    """
    recipe = fitter.recipe
    if (
        isinstance(recipe, CrossValidated)
        or fitter.tolerance is None
        or not any(recipe.grower.monotone or ())
    ):
        return fitter
    grower = replace(recipe.grower, max_leaf_nodes=None)
    return replace(fitter, recipe=replace(recipe, grower=grower), max_leaf_nodes=recipe.grower.max_leaf_nodes)


def make_grower(parameters: Any, grower: Grower, rows: Table | Source, n_rows: int) -> Grower:
    """Set the parameters of growing that trees and forests share."""
    criterion = grower.criterion
    if not rows.schema.is_regression:
        criterion = choice("criterion", parameters.criterion, _CLASSIFICATION_ONLY, criterion)
    return replace(
        grower,
        criterion=criterion,
        nominal=choice("nominal", parameters.nominal, Nominal, grower.nominal),
        missing=choice("missing", parameters.missing, Missing, grower.missing),
        max_depth=limit("max_depth", parameters.max_depth),
        min_samples_split=resolve_rows("min_samples_split", parameters.min_samples_split, 2, n_rows),
        min_samples_leaf=resolve_rows("min_samples_leaf", parameters.min_samples_leaf, 1, n_rows),
        min_weight_fraction_leaf=number("min_weight_fraction_leaf", parameters.min_weight_fraction_leaf),
        min_impurity_decrease=number("min_impurity_decrease", parameters.min_impurity_decrease),
        max_leaf_nodes=limit("max_leaf_nodes", parameters.max_leaf_nodes),
        monotone=monotone_signs(parameters.monotonic_cst, rows.schema.names),
    )


def _constrained(parameters: Any, grower: Grower, rows: Table | Source) -> Grower:
    """Set the constraints that only a single tree has."""
    names, forced = rows.schema.names, resolve_forced(parameters.forced_splits, rows.schema)
    return replace(
        grower,
        interactions=interaction_groups(parameters.interaction_cst, names),
        once_per_path=boolean("once_per_path", parameters.once_per_path),
        forbidden_below=forbidden_pairs(parameters.forbidden_below, names),
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
