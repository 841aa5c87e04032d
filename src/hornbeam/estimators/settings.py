"""From an estimator's parameters to a recipe: the one place where strings become objects."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from enum import StrEnum
from math import ceil
from numbers import Integral, Real
from typing import Any

from hornbeam.data.table import Table
from hornbeam.data.units import Source
from hornbeam.errors import ParameterError
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
from hornbeam.tree.costs import Costs
from hornbeam.tuning import CrossValidated, Honest

__all__ = ["recipe_of", "regression_recipe_of", "seed_of", "smoother_of"]

_PRUNERS: dict[str, Pruner] = {
    "bayes-risk": BayesRisk(),
    "collapse": Collapse(),
    "cost-complexity": CostComplexity(0.0),  # its alpha is chosen by cross-validation
    "error-based": ErrorBased(),
    "minimum-error": MinimumError(),
}
_SMOOTHERS: dict[str, Smoother] = {
    "honest": Borrowing(),
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
_OF_CLASSES = [criterion for criterion in Criterion if criterion is not Criterion.SQUARED_ERROR]
_MOST_BINS = 65_535


def recipe_of(
    estimator: Any, table: Table | Source, n_rows: int | None = None
) -> Recipe | CrossValidated | Honest:
    """Translate the parameters of a `TreeClassifier`; "auto" is what the preset says.

    A share of all rows is one of `n_rows`, if not all are grown on.
    """
    n_rows = table.n_rows if n_rows is None else n_rows
    recipe = _named("preset", estimator.preset, PRESETS)
    grower = _grower(estimator, recipe.grower, table, n_rows)
    criterion = _choice("criterion", estimator.criterion, _OF_CLASSES, grower.criterion)
    grower = replace(grower, criterion=criterion)
    smoother = _step("smoothing", estimator.smoothing, _SMOOTHERS, recipe.smoother)
    pruner = _step("pruning", estimator.pruning, _PRUNERS, recipe.pruner)
    # Wrong costs are refused here, not in predict.
    costs = None if estimator.costs is None else Costs.of(estimator.costs, table.schema.classes)
    honest = _is_honest(estimator, smoother)
    at_risk = pruner is _PRUNERS["bayes-risk"]
    if at_risk:
        # Risks are those of the probabilities the tree will have: raw ones would hardly ever prune.
        pruner = BayesRisk(costs, estimate=None if honest else smoother)
    recipe = Recipe(_bins(estimator.max_bins, recipe), grower, pruner, smoother)
    seed = seed_of(estimator.random_state)
    pruned: Recipe | CrossValidated = recipe
    if pruner is _PRUNERS["cost-complexity"]:
        pruned = CrossValidated(recipe, score="brier" if costs is None else costs, simplicity=1.0, seed=seed)
    if not honest:
        return pruned
    sized = at_risk or (estimator.pruning == "auto" and pruner is None)
    return Honest(
        replace(recipe, pruner=None) if at_risk else pruned,
        simplicity=_number("simplicity", estimator.simplicity) if sized else None,
        pruner=pruner if at_risk else None,
        seed=seed,
    )


def regression_recipe_of(estimator: Any, table: Table) -> Recipe | CrossValidated | Honest:
    """Translate the parameters of a `TreeRegressor`; "auto" is what the preset says."""
    recipe = _named("preset", estimator.preset, REGRESSION_PRESETS)
    grower = _grower(estimator, recipe.grower, table, table.n_rows)
    known = {name: _SMOOTHERS[name] for name in ("honest", "raw", "m-branch", "shrinkage")}
    smoother = _step("smoothing", estimator.smoothing, known, recipe.smoother)
    pruners = {name: _PRUNERS[name] for name in ("cost-complexity",)}
    pruner = _step("pruning", estimator.pruning, pruners, recipe.pruner)
    recipe = Recipe(_bins(estimator.max_bins, recipe), grower, pruner, smoother)
    seed = seed_of(estimator.random_state)
    pruned: Recipe | CrossValidated = recipe
    if pruner is _PRUNERS["cost-complexity"]:
        pruned = CrossValidated(recipe, simplicity=1.0, seed=seed)
    if not _is_honest(estimator, smoother):
        return pruned
    sized = estimator.pruning == "auto" and pruner is None
    simplicity = _number("simplicity", estimator.simplicity) if sized else None
    return Honest(pruned, simplicity=simplicity, seed=seed)


def _is_honest(estimator: Any, smoother: Smoother | None) -> bool:
    """Whether the strengths of borrowing are to be found on rows held out of regrown trees."""
    return smoother is _SMOOTHERS["honest"] or (
        estimator.smoothing == "auto" and isinstance(smoother, Borrowing)
    )


def _grower(estimator: Any, grower: Grower, table: Table | Source, n_rows: int) -> Grower:
    """Translate what all trees have in common."""
    return replace(
        grower,
        nominal=_choice("nominal", estimator.nominal, Nominal, grower.nominal),
        missing=_choice("missing", estimator.missing, Missing, grower.missing),
        max_depth=_limit("max_depth", estimator.max_depth),
        min_samples_split=_rows("min_samples_split", estimator.min_samples_split, 2, n_rows),
        min_samples_leaf=_rows("min_samples_leaf", estimator.min_samples_leaf, 1, n_rows),
        min_weight_fraction_leaf=_number("min_weight_fraction_leaf", estimator.min_weight_fraction_leaf),
        min_impurity_decrease=_number("min_impurity_decrease", estimator.min_impurity_decrease),
        max_leaf_nodes=_limit("max_leaf_nodes", estimator.max_leaf_nodes),
        monotone=_signs(estimator.monotonic_cst, table.schema.names),
    )


def smoother_of(value: Any) -> Smoother | None:
    """Translate ``smoothing`` for a tree that is there already; "auto" is HGS.

    Examples
    --------
    >>> smoother_of("laplace"), smoother_of(None)
    (Laplace(), None)
    """
    # "honest" is a promise to fit the borrowing on regrown trees, and nothing is regrown here.
    known = {name: smoother for name, smoother in _SMOOTHERS.items() if name != "honest"}
    return _step("smoothing", value, known, HGS())  # type: ignore[no-any-return]


def seed_of(value: Any) -> int:
    """Translate ``random_state``: None, a number, or a generator of scikit-learn's manners.

    Examples
    --------
    >>> seed_of(None), seed_of(7)
    (0, 7)
    """
    if value is None:
        return 0
    if _is_whole(value) and value >= 0:
        return int(value)
    if hasattr(value, "randint"):
        return int(value.randint(2**31))
    raise _refuse("random_state", value, "a whole number from 0, or None", "Pass random_state=0, say.")


def _refuse(name: str, value: Any, expected: str, advice: str) -> ParameterError:
    return ParameterError(f"{name}={value!r}: expected {expected}. {advice}")


def _misnamed(name: str, value: Any, known: Iterable[str], others: str = "") -> ParameterError:
    known = list(map(str, known))
    close = get_close_matches(value.lower(), known, n=1) if isinstance(value, str) else []
    advice = f"Did you mean {close[0]!r}?" if close else f"Pass {name}={known[0]!r}, say."
    return _refuse(name, value, f"one of {', '.join(map(repr, known))}{others}", advice)


def _named[T](name: str, value: Any, known: Mapping[str, T]) -> T:
    if not isinstance(value, str) or value not in known:
        raise _misnamed(name, value, known)
    return known[value]


def _choice[E: StrEnum](name: str, value: Any, choices: Iterable[E], default: E) -> E:
    if isinstance(value, str):
        if value == "auto":
            return default
        for choice in choices:
            if choice == value:
                return choice
    raise _misnamed(name, value, ["auto", *choices])


def _step(name: str, value: Any, known: Mapping[str, Any], default: Any) -> Any:
    if isinstance(value, str):
        if value == "auto":
            return default
        if value in known:
            return known[value]
    elif value is None or (callable(value) and not isinstance(value, type)):
        return value
    raise _misnamed(name, value, ["auto", *known], ", None for none, or a step from tree to tree")


def _is_whole(value: object) -> bool:
    return type(value) is int or (not isinstance(value, bool) and isinstance(value, Integral))


def _is_number(value: object) -> bool:
    return type(value) is float or (not isinstance(value, bool) and isinstance(value, Real))


def _limit(name: str, value: Any) -> int | None:
    if value is None or _is_whole(value):
        return value  # type: ignore[no-any-return]
    raise _refuse(name, value, "a whole number, or None for no limit", f"Pass {name}=None or {name}=5, say.")


def _number(name: str, value: Any) -> float:
    if _is_number(value):
        return float(value)
    raise _refuse(name, value, "a number", f"Pass {name}=0.0, which is the default.")


def _rows(name: str, value: Any, least: int, n_rows: int) -> int:
    """So many rows, or such a share of all rows, as in scikit-learn."""
    if _is_whole(value):
        return int(value)
    if _is_number(value) and 0.0 < value < 1.0:
        return max(least, ceil(float(value) * n_rows))
    expected = "a whole number of rows, or a share of all rows between 0 and 1"
    raise _refuse(name, value, expected, f"Pass {name}={least}, say.")


def _bins(value: Any, recipe: Recipe) -> Any:
    if isinstance(value, str) and value == "auto":
        return recipe.max_bins
    if value is None or (_is_whole(value) and 2 <= value <= _MOST_BINS):
        return value
    expected = f"'auto', None for every value, or a whole number from 2 to {_MOST_BINS:,}"
    raise _refuse("max_bins", value, expected, "Pass max_bins=255, say.")


def _signs(value: Any, names: tuple[str, ...]) -> tuple[int, ...] | None:
    if value is None:
        return None
    expected = "for each feature 1 (rises), -1 (falls) or 0 (free), or a dict of these by feature name"
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            first = ", ".join(map(repr, names[:5]))
            advice = f"Name features: {unknown[0]!r} is none, the first ones are {first}."
            raise _refuse("monotonic_cst", value, expected, advice)
        value = [value.get(name, 0) for name in names]
    try:
        signs = list(value)
    except TypeError:
        signs = [None]
    if not all(isinstance(sign, Real) and sign in (-1, 0, 1) for sign in signs):
        raise _refuse("monotonic_cst", value, expected, "Pass None for no constraints.")
    return tuple(map(int, signs))
