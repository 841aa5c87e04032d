"""Translation of the parameters of a tree estimator into a recipe, a fitter that tunes one, or one with a teacher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbeam.checks import is_whole
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.errors import ParameterError, shown
from hornbeam.estimators.parameters.fields import TreeClassifierParameters, TreeRegressorParameters
from hornbeam.estimators.parameters.path_constraints import (
    forbidden_pairs,
    interaction_groups,
    priced_items,
    resolve_forced,
)
from hornbeam.estimators.parameters.validators import (
    FROM_TREE,
    boolean,
    choice,
    has_own_teacher,
    is_named,
    limit,
    lookup,
    monotone_signs,
    number,
    parameter_error,
    resolve_bins,
    resolve_rows,
    resolve_seed,
    smoother_or_pruner,
)
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.forced_splits import forced_splits
from hornbeam.growing.grower import Grower
from hornbeam.pruning.pruner import Pruner
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS, Fitter, Recipe
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.smoother import Smoother
from hornbeam.tree.decision import Costs
from hornbeam.tuning.cross_fitted import CrossFitted

if TYPE_CHECKING:
    from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
    from hornbeam.ensembles.distillation.taught import OwnTeacher, Taught
    from hornbeam.tuning.cross_validated import CrossValidated

_CRITERIA = {
    regression: [one for one in Criterion if one.is_numeric == regression] for regression in (False, True)
}
READABLE = "readable"  #: the preset: at most 16 leaves, depth 7, terms for twice as many
_LEAVES, _DEPTH, _SLOPES = 16, 7, 2
_MOST_SLOPES = 3
# Rows of a readable leaf: 2 % of all, but at least 5, and 10 are enough (record 24).
_ROWS_PER_LEAF_ROW, _LEAST, _ENOUGH = 50, 5, 10

# Parameters that a tree with a teacher uses, whatever its size.
_USED = frozenset(
    [
        "preset",
        "max_depth",
        "min_samples_split",
        "min_samples_leaf",
        "min_weight_fraction_leaf",
        "max_leaf_nodes",
        "slopes",
        "teacher",
        "fidelity",
        "costs",
        "class_weight",
        "monotonic_cst",
        "interaction_cst",
        "once_per_path",
        "forbidden_below",
        "random_state",
        "n_jobs",
        "distribution",
    ]
)
_SEARCH = "up to max_leaf_nodes=64 a search with lookahead"
# Why a tree with a teacher does not use the others; those of `_GROWN` it uses from 65 leaves on, or without a limit.
_GROWN = {
    "nominal_split": f"{_SEARCH} makes two branches at each split",
    "missing": f"{_SEARCH} sends missing values to the better branch, as 'learned'",
    "min_impurity_decrease": f"{_SEARCH} compares whole trees, not single splits",
    "max_bins": f"{_SEARCH} has 64 bins of each feature",
}
_UNUSED = {
    "criterion": "splits are compared by the squared distance to the teacher, which is 'gini' for classes and "
    "'squared_error' for numbers",
    "smoothing": "the teacher's mean prediction at each node takes the place of smoothing",
    "pruning": "fidelity and max_leaf_nodes prune it, and pruning=None is fidelity=1.0",
    "tolerance": "it is pruned by its fidelity to the teacher, not by its loss on held-out rows",
    "forced_splits": "its splits are those that explain the teacher",
    "feature_costs": "its splits are those that explain the teacher, which was fitted to all columns",
    "feature_cost_weight": "it has no prices of columns",
}
# Values that ask for what a tree with a teacher does anyway.
_AS_TAUGHT = {"criterion": "gini", "nominal_split": "subset", "missing": "learned"}


def smoothing_options(*, regression: bool = False, seed: int = 0) -> dict[str, Callable[[], Smoother]]:
    """Makers of smoothers by the values of the parameter `smoothing`, without "cross-fitted"; `seed` is that of `HDP`.

    Examples
    --------
    >>> list(smoothing_options(regression=True))
    ['raw', 'm-branch', 'hierarchical-shrinkage', 'borrowing']
    """
    from hornbeam.smoothing.hdp import HDP  # imported only for a name, as all smoothers
    from hornbeam.smoothing.registry import PUBLISHED, SMOOTHERS

    if regression:
        return {name: kind for name, kind in SMOOTHERS.items() if kind.for_regression}
    return {**SMOOTHERS, **PUBLISHED, HDP.name: partial(HDP, random_state=seed)}


def pruning_options(*, regression: bool = False) -> dict[str, Callable[[], Pruner | None]]:
    """Makers of pruners by the values of the parameter `pruning`."""
    from hornbeam.pruning.registry import PRUNERS, PUBLISHED  # imported only for a name: all pruners

    named = {name: kind for name, kind in PRUNERS.items() if kind.for_regression or not regression}
    return {"none": lambda: None, **named, **({} if regression else PUBLISHED)}


def tree_fitter(
    parameters: Any, rows: Table | Source, n_rows: int | None = None, *, own_teacher: OwnTeacher | None = None
) -> Fitter:
    """Make the fitter of one tree; "auto" is the choice of the preset.

    Parameters that are shares of all rows are shares of `n_rows`, the rows that are grown on. `own_teacher` is the
    estimator that is the parameter `teacher`, with the rows as they were passed.
    """
    regression = rows.schema.is_regression
    presets = REGRESSION_PRESETS if regression else PRESETS
    if is_named(parameters.preset, FROM_TREE):
        kind = "TreeRegressor" if regression else "TreeClassifier"
        raise ParameterError(
            f"preset='from_tree': this estimator was made by {kind}.from_tree, and its parameters do not describe its "
            f"tree; expected a preset. Make a {kind} with the parameters that you want, or pass the tree itself, tree_."
        )
    preset = lookup("preset", parameters.preset, {**presets, READABLE: presets["default"]})
    if has_teacher(parameters):
        return _taught_fitter(parameters, rows, own_teacher)
    n_rows = rows.n_rows if n_rows is None else n_rows
    grower = _constrained(parameters, make_grower(parameters, preset.grower, rows, n_rows), rows)
    seed = resolve_seed(parameters.random_state)

    def smoothers() -> dict[str, Callable[[], Smoother]]:
        return {"cross-fitted": Borrowing, **smoothing_options(regression=regression, seed=seed)}

    smoother = smoother_or_pruner("smoothing", parameters.smoothing, smoothers, preset.smoother)
    pruners = partial(pruning_options, regression=regression)
    pruner = smoother_or_pruner("pruning", parameters.pruning, pruners, preset.pruner)
    # Invalid costs raise here, not in predict.
    costs = (
        None if regression or parameters.costs is None else Costs.of(parameters.costs, rows.schema.classes)
    )
    cross_fitted = is_named(parameters.smoothing, "cross-fitted") or (
        is_named(parameters.smoothing, "auto") and isinstance(smoother, Borrowing)
    )
    by_risk = isinstance(parameters.pruning, str) and getattr(pruner, "name", None) == "bayes-risk"
    if by_risk:
        # The risks of smoothed probabilities: with raw ones hardly any subtree is pruned.
        pruner = replace(pruner, costs=costs, estimate=None if cross_fitted else smoother)
        pruner = pruner._with_threads(n_threads(parameters.n_jobs))
    recipe = Recipe(resolve_bins(parameters.max_bins, preset.max_bins), grower, pruner, smoother)
    fitter: Recipe | CrossValidated = recipe
    if is_named(parameters.pruning, "cost-complexity") and grower.criterion.is_deviance:
        raise ParameterError(
            f"pruning='cost-complexity' with criterion={grower.criterion.value!r}: it compares squared errors; "
            "expected 'auto', which compares deviances of held-out rows, None or a pruner. Pass one of these."
        )
    if is_named(parameters.pruning, "cost-complexity"):  # its alpha is chosen by cross-validation
        from hornbeam.tuning.cross_validated import CrossValidated  # imported only when it is named

        fitter = CrossValidated(recipe, score="brier" if costs is None else costs, simplicity=1.0, seed=seed)
    tolerance = number("tolerance", parameters.tolerance)
    if tolerance > 1:  # 5 is meant as 5 %
        raise parameter_error("tolerance", parameters.tolerance, "a share from 0 to 1", "Pass 0.05 for 5 %.")
    number("fidelity", parameters.fidelity, 0.98)
    if not cross_fitted:
        return fitter
    has_penalty = by_risk or (is_named(parameters.pruning, "auto") and pruner is None)
    return _limited(
        CrossFitted(
            replace(recipe, pruner=None) if by_risk else fitter,
            tolerance=tolerance if has_penalty else None,
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
        not isinstance(recipe, Recipe)
        or fitter.tolerance is None
        or not any(recipe.grower.monotonic_cst or ())
    ):
        return fitter
    grower = replace(recipe.grower, max_leaf_nodes=None)
    return replace(fitter, recipe=replace(recipe, grower=grower), max_leaf_nodes=recipe.grower.max_leaf_nodes)


def make_grower(parameters: Any, grower: Grower, rows: Table | Source, n_rows: int) -> Grower:
    """Set the parameters of growing that trees and forests share."""
    criterion = getattr(parameters, "criterion", "auto")  # a regression forest has none
    criterion = choice("criterion", criterion, _CRITERIA[rows.schema.is_regression], grower.criterion)
    return replace(
        grower,
        criterion=criterion,
        nominal_split=choice("nominal_split", parameters.nominal_split, Nominal, grower.nominal_split),
        missing=choice("missing", parameters.missing, Missing, grower.missing),
        max_depth=limit("max_depth", parameters.max_depth),
        min_samples_split=resolve_rows("min_samples_split", parameters.min_samples_split, 2, n_rows),
        min_samples_leaf=resolve_rows("min_samples_leaf", parameters.min_samples_leaf, 1, n_rows),
        min_weight_fraction_leaf=number("min_weight_fraction_leaf", parameters.min_weight_fraction_leaf),
        min_impurity_decrease=number("min_impurity_decrease", parameters.min_impurity_decrease),
        max_leaf_nodes=limit("max_leaf_nodes", parameters.max_leaf_nodes),
        monotonic_cst=monotone_signs(parameters.monotonic_cst, rows.schema.names),
    )


def _constrained(parameters: Any, grower: Grower, rows: Table | Source) -> Grower:
    """Set the constraints that only a single tree has."""
    forced = resolve_forced(parameters.forced_splits, rows.schema)
    constraints = _path_constraints(parameters, rows.schema.names)
    constraints["forced_splits"] = None if forced is None else forced_splits(forced)
    constraints["feature_costs"] = priced_items(parameters.feature_costs, rows.schema.names)
    weight = number("feature_cost_weight", parameters.feature_cost_weight, 1.0)
    constraints["feature_cost_weight"] = weight if constraints["feature_costs"] else 0.0
    return replace(grower, **constraints) if any(constraints.values()) else grower


def _path_constraints(parameters: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return which features may follow each other on a path, as parameters of a grower."""
    return {
        "interaction_cst": interaction_groups(parameters.interaction_cst, names),
        "once_per_path": boolean("once_per_path", parameters.once_per_path),
        "forbidden_below": forbidden_pairs(parameters.forbidden_below, names),
    }


def make_smoother(value: Any) -> Smoother | None:
    """Return the smoother for a tree that exists already; "auto" is HGS.

    Examples
    --------
    >>> make_smoother("laplace"), make_smoother(None)
    (Laplace(), None)
    """
    # "cross-fitted" is missing: it would have to grow trees.
    return smoother_or_pruner("smoothing", value, smoothing_options, smoothing_options()["hgs"]())  # type: ignore[no-any-return]


def has_teacher(estimator: Any) -> bool:
    """Whether the tree of an estimator is fitted to the predictions of a teacher."""
    teacher, readable = estimator.teacher, _is_readable(estimator)
    if is_named(teacher, "auto"):
        return readable or resolve_slopes(estimator.slopes, 0) > 0
    if is_named(teacher, "ensemble") or has_own_teacher(estimator):
        return True
    if teacher is not None:
        raise parameter_error(
            "teacher",
            teacher,
            "'auto', 'ensemble', an estimator or None",
            "Pass an instance, such as hornbeam.ForestClassifier(); a model file has only the class name of one.",
        )
    if readable or resolve_slopes(estimator.slopes, 0) > 0:
        raise ParameterError(
            "teacher=None: slopes and the preset 'readable' need a teacher. Pass teacher='auto', or slopes=0 and "
            "another preset."
        )
    return False


def _taught_fitter(estimator: Any, rows: Table | Source, own: OwnTeacher | None) -> Taught:
    """Make the fitter of an estimator with a teacher."""
    # Imported only when needed: ensembles are slow to import.
    from hornbeam.ensembles.distillation.distillation import MOST_SEARCHED, Distillation
    from hornbeam.ensembles.distillation.search_rows import GREEDY_BINS
    from hornbeam.ensembles.distillation.taught import Taught

    names, n_rows = rows.schema.names, rows.n_rows
    readable = _is_readable(estimator)
    leaves, depth = limit("max_leaf_nodes", estimator.max_leaf_nodes), limit("max_depth", estimator.max_depth)
    if readable:
        leaves, depth = _LEAVES if leaves is None else leaves, _DEPTH if depth is None else depth
    searched = leaves is not None and leaves <= MOST_SEARCHED
    if own is not None and getattr(estimator, "distribution", False):
        raise ParameterError(
            "distribution=True with an estimator as teacher: its ranges need a teacher that is fitted again without "
            "each fold of the rows; expected teacher='ensemble'. Pass that, or distribution=False."
        )
    _refuse_unused(estimator, searched=searched)
    least = resolve_rows("min_samples_leaf", estimator.min_samples_leaf, 1, n_rows)
    if least == 1 and readable and searched:
        least = min(max(n_rows // _ROWS_PER_LEAF_ROW, _LEAST), _ENOUGH)
    distillation = Distillation(
        1.0 if _keeps_all(estimator.pruning) else number("fidelity", estimator.fidelity, 0.98),
        synthetic_rows=small_tree_rows(resolve_seed(estimator.random_state), leaves),
        max_leaf_nodes=leaves,
        max_depth=depth,
        slopes=resolve_slopes(estimator.slopes, _SLOPES if readable else 0),
        root_terms=is_named(estimator.slopes, "auto") and not (readable or searched),
        min_share=number("min_weight_fraction_leaf", estimator.min_weight_fraction_leaf),
        min_real_rows=least,
        min_split_rows=resolve_rows("min_samples_split", estimator.min_samples_split, 2, n_rows),
        max_bins=resolve_bins(estimator.max_bins, GREEDY_BINS),
        grower=Grower(
            nominal_split=choice("nominal_split", estimator.nominal_split, Nominal, Nominal.SUBSET),
            missing=choice("missing", estimator.missing, Missing, Missing.OWN),
            min_impurity_decrease=number("min_impurity_decrease", estimator.min_impurity_decrease),
            monotonic_cst=monotone_signs(estimator.monotonic_cst, names),
            **_path_constraints(estimator, names),
        ),
    )
    return Taught(distillation, own)


def small_tree_rows(seed: int, max_leaf_nodes: int | None) -> SyntheticRows:
    """Choose the number of synthetic rows: a small tree needs fewer than a tree of any size.

    Examples
    --------
    >>> small_tree_rows(0, 16).most < small_tree_rows(0, None).most
    True
    """
    from hornbeam.ensembles.distillation.distillation import MOST_SEARCHED
    from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows

    if max_leaf_nodes is None or max_leaf_nodes > MOST_SEARCHED:
        return SyntheticRows(seed=seed)
    return SyntheticRows(most=15_000, most_values=10_000_000, seed=seed)


def resolve_slopes(value: Any, default: int) -> int:
    """Return the number of terms for each leaf; "auto" is the default, None and False are 0.

    Examples
    --------
    >>> resolve_slopes("auto", 2), resolve_slopes(1, 2), resolve_slopes(None, 2)
    (2, 1, 0)
    """
    if value is None or value is False:
        return 0
    if is_named(value, "auto"):
        return default
    if is_whole(value) and 0 <= value <= _MOST_SLOPES:
        return int(value)
    raise parameter_error("slopes", value, "'auto', or a whole number from 0 to 3", "Pass slopes=2, say.")


def _is_readable(estimator: Any) -> bool:
    return is_named(estimator.preset, READABLE)


def _refuse_unused(estimator: Any, *, searched: bool) -> None:
    """Raise `ParameterError` with every parameter that is set and that a teacher does not use, and the reasons."""
    found, reasons = [], []
    known = {one.name: one for one in (*fields(TreeClassifierParameters), *fields(TreeRegressorParameters))}
    for field in known.values():
        value = getattr(estimator, field.name, field.default)
        reason = _why_unused(field.name, value, searched=searched)
        if reason is not None and value is not field.default and np.any(value != field.default):
            found.append(f"{field.name}={shown(value)}")
            reasons.append(reason and f" {reason[0].upper()}{reason[1:]}.")
    if found:
        which = "it; expected the default" if len(found) == 1 else "them; expected the defaults"
        raise ParameterError(
            f"{', '.join(found)}: a tree with a teacher does not use {which}.{''.join(reasons)} Its size is set by "
            "max_leaf_nodes, max_depth, slopes and fidelity."
        )


def _why_unused(name: str, value: Any, *, searched: bool) -> str | None:
    """Say why a tree with a teacher does not use the value of a parameter; None: it does."""
    if name == "missing" and is_named(value, "fractional"):
        return "its terms, and the teacher's rows, need each row at one node"
    if name in _USED or (name in _AS_TAUGHT and is_named(value, _AS_TAUGHT[name])):
        return None
    if name == "pruning" and _keeps_all(value):
        return None
    if name in _GROWN:
        return _GROWN[name] if searched else None
    return _UNUSED.get(name, "")


def _keeps_all(pruning: Any) -> bool:
    return pruning is None or is_named(pruning, "none")
