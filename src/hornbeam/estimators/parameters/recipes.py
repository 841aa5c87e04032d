"""Translation of the parameters of a tree estimator into a recipe, or a fitter that tunes one."""

from dataclasses import replace
from typing import Any

from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.estimators.parameters.validators import (
    choice,
    limit,
    lookup,
    monotone_signs,
    number,
    resolve_bins,
    resolve_rows,
    seed_of,
    step,
)
from hornbeam.growing import Criterion, Grower, Missing, Nominal
from hornbeam.pruning import BayesRisk, Collapse, CostComplexity, ErrorBased, MinimumError, Pruner
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS, Recipe
from hornbeam.smoothing import (
    HDP,
    HGS,
    Borrowing,
    GradientHGS,
    HierarchicalShrinkage,
    Laplace,
    LeaveOneOutHGS,
    MBranch,
    MEstimate,
    Raw,
    Smoother,
)
from hornbeam.tree.decision.costs import Costs
from hornbeam.tuning import CrossFitted, CrossValidated

__all__ = [
    "CLASSIFICATION_ONLY",
    "SMOOTHERS",
    "classification_fitter",
    "make_grower",
    "make_smoother",
    "regression_fitter",
]

_PRUNERS: dict[str, Pruner] = {
    "bayes-risk": BayesRisk(),
    "collapse": Collapse(),
    "cost-complexity": CostComplexity(0.0),  # its alpha is chosen by cross-validation
    "error-based": ErrorBased(),
    "minimum-error": MinimumError(),
}
SMOOTHERS: dict[str, Smoother] = {
    "cross-fitted": Borrowing(),
    "raw": Raw(),
    "laplace": Laplace(),
    "m-estimate": MEstimate(),
    "m-branch": MBranch(),
    "shrinkage": HierarchicalShrinkage(),
    "hgs": HGS(),
    "hgs-gradient": GradientHGS(),
    "hgs-loo": LeaveOneOutHGS(),
    "hdp": HDP(),
}
CLASSIFICATION_ONLY = [criterion for criterion in Criterion if criterion is not Criterion.SQUARED_ERROR]


def classification_fitter(
    estimator: Any, table: Table | Source, n_rows: int | None = None
) -> Recipe | CrossValidated | CrossFitted:
    """Return the fitter for the parameters of a `TreeClassifier`; "auto" is the preset's value.

    Parameters that are shares of rows refer to `n_rows`, which may be a sample.
    """
    n_rows = table.n_rows if n_rows is None else n_rows
    recipe = lookup("preset", estimator.preset, PRESETS)
    grower = make_grower(estimator, recipe.grower, table, n_rows)
    criterion = choice("criterion", estimator.criterion, CLASSIFICATION_ONLY, grower.criterion)
    grower = replace(grower, criterion=criterion)
    smoother = step("smoothing", estimator.smoothing, SMOOTHERS, recipe.smoother)
    pruner = step("pruning", estimator.pruning, _PRUNERS, recipe.pruner)
    # Wrong costs are refused here, not in predict.
    costs = None if estimator.costs is None else Costs.of(estimator.costs, table.schema.classes)
    honest = _is_cross_fitted(estimator, smoother)
    at_risk = pruner is _PRUNERS["bayes-risk"]
    if at_risk:
        # Risks are those of the probabilities the tree will have: raw ones would hardly ever prune.
        pruner = BayesRisk(costs, estimate=None if honest else smoother)
    recipe = Recipe(resolve_bins(estimator.max_bins, recipe.max_bins), grower, pruner, smoother)
    seed = seed_of(estimator.random_state)
    pruned: Recipe | CrossValidated = recipe
    if pruner is _PRUNERS["cost-complexity"]:
        pruned = CrossValidated(recipe, score="brier" if costs is None else costs, simplicity=1.0, seed=seed)
    if not honest:
        return pruned
    sized = at_risk or (estimator.pruning == "auto" and pruner is None)
    return CrossFitted(
        replace(recipe, pruner=None) if at_risk else pruned,
        simplicity=number("simplicity", estimator.simplicity) if sized else None,
        pruner=pruner if at_risk else None,
        seed=seed,
    )


def regression_fitter(estimator: Any, table: Table) -> Recipe | CrossValidated | CrossFitted:
    """Return the fitter for the parameters of a `TreeRegressor`; "auto" is the preset's value."""
    recipe = lookup("preset", estimator.preset, REGRESSION_PRESETS)
    grower = make_grower(estimator, recipe.grower, table, table.n_rows)
    known = {name: SMOOTHERS[name] for name in ("cross-fitted", "raw", "m-branch", "shrinkage")}
    smoother = step("smoothing", estimator.smoothing, known, recipe.smoother)
    pruners = {name: _PRUNERS[name] for name in ("cost-complexity",)}
    pruner = step("pruning", estimator.pruning, pruners, recipe.pruner)
    recipe = Recipe(resolve_bins(estimator.max_bins, recipe.max_bins), grower, pruner, smoother)
    seed = seed_of(estimator.random_state)
    pruned: Recipe | CrossValidated = recipe
    if pruner is _PRUNERS["cost-complexity"]:
        pruned = CrossValidated(recipe, simplicity=1.0, seed=seed)
    if not _is_cross_fitted(estimator, smoother):
        return pruned
    sized = estimator.pruning == "auto" and pruner is None
    simplicity = number("simplicity", estimator.simplicity) if sized else None
    return CrossFitted(pruned, simplicity=simplicity, seed=seed)


def _is_cross_fitted(estimator: Any, smoother: Smoother | None) -> bool:
    """Whether the strengths of borrowing are fitted on held-out rows."""
    return smoother is SMOOTHERS["cross-fitted"] or (
        estimator.smoothing == "auto" and isinstance(smoother, Borrowing)
    )


def make_grower(estimator: Any, grower: Grower, table: Table | Source, n_rows: int) -> Grower:
    """Return a grower with the parameters that all trees have in common."""
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


def make_smoother(value: Any) -> Smoother | None:
    """Return the smoother for a tree that exists already; "auto" is HGS.

    Examples
    --------
    >>> make_smoother("laplace"), make_smoother(None)
    (Laplace(), None)
    """
    # Without "cross-fitted", which would have to grow trees without a fold.
    known = {name: smoother for name, smoother in SMOOTHERS.items() if name != "cross-fitted"}
    return step("smoothing", value, known, HGS())  # type: ignore[no-any-return]
