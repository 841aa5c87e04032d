"""Translation of the parameters of a tree with a teacher, and of the preset "readable", into a fitter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from inspect import signature
from typing import TYPE_CHECKING, Any

from hornbeam.errors import ParameterError, shown
from hornbeam.estimators.parameters.fields import TreeClassifierParameters
from hornbeam.estimators.parameters.validators import (
    is_named,
    is_whole,
    limit,
    number,
    parameter_error,
    resolve_rows,
    resolve_seed,
)

if TYPE_CHECKING:
    from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
    from hornbeam.ensembles.distillation.taught import Taught

__all__ = ["READABLE", "has_teacher", "resolve_slopes", "small_tree_rows", "taught_fitter"]

READABLE = "readable"  #: the preset: at most 16 leaves, depth 7, two slopes per leaf
_LEAVES, _DEPTH, _SLOPES = 16, 7, 2
_MOST_SLOPES = 3
# Rows of a readable leaf: 2 % of all, but at least 5, and 10 are enough (record 24).
_ROWS_PER_LEAF_ROW, _LEAST, _ENOUGH = 50, 5, 10

# Parameters that a tree with a teacher uses; the others are of growing, pruning and smoothing.
_USED = frozenset(
    [
        "preset",
        "max_depth",
        "min_samples_leaf",
        "min_weight_fraction_leaf",
        "max_leaf_nodes",
        "slopes",
        "teacher",
        "costs",
        "class_weight",
        "random_state",
        "n_jobs",
    ]
)


def has_teacher(estimator: Any) -> bool:
    """Whether the tree of an estimator is fitted to the predictions of a teacher."""
    teacher, readable = estimator.teacher, _is_readable(estimator)
    if is_named(teacher, "ensemble"):
        return True
    if is_named(teacher, "auto"):
        return readable or resolve_slopes(estimator.slopes, 0) > 0
    if teacher is not None:
        raise parameter_error(
            "teacher",
            teacher,
            "'auto', 'ensemble' or None",
            "Use hornbeam.distill for a teacher of your own.",
        )
    if readable or resolve_slopes(estimator.slopes, 0) > 0:
        raise ParameterError(
            "teacher=None: slopes and the preset 'readable' need a teacher. Pass teacher='auto', or slopes=0 and "
            "another preset."
        )
    return False


def taught_fitter(estimator: Any, n_rows: int) -> Taught:
    """Make the fitter of an estimator with a teacher, for a number of rows."""
    # Imported only when needed: ensembles are slow to import.
    from hornbeam.ensembles.distillation.distillation import MOST_SEARCHED, Distillation
    from hornbeam.ensembles.distillation.taught import Taught

    _refuse_unused(estimator)
    readable = _is_readable(estimator)
    leaves, depth = limit("max_leaf_nodes", estimator.max_leaf_nodes), limit("max_depth", estimator.max_depth)
    if readable:
        leaves, depth = _LEAVES if leaves is None else leaves, _DEPTH if depth is None else depth
    least = resolve_rows("min_samples_leaf", estimator.min_samples_leaf, 1, n_rows)
    if least == 1 and readable and leaves is not None and leaves <= MOST_SEARCHED:
        least = min(max(n_rows // _ROWS_PER_LEAF_ROW, _LEAST), _ENOUGH)
    elif least > 1 and (leaves is None or leaves > MOST_SEARCHED):
        raise ParameterError(
            f"min_samples_leaf={shown(estimator.min_samples_leaf)}: a tree with a teacher uses it up to "
            f"max_leaf_nodes={MOST_SEARCHED}; expected no more leaves, or the default."
        )
    return Taught(
        Distillation(
            synthetic_rows=small_tree_rows(resolve_seed(estimator.random_state), leaves),
            max_leaf_nodes=leaves,
            max_depth=depth,
            slopes=resolve_slopes(estimator.slopes, _SLOPES if readable else 0),
            min_share=number("min_weight_fraction_leaf", estimator.min_weight_fraction_leaf),
            min_real_rows=least,
        )
    )


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
    return SyntheticRows(most=15_000, seed=seed)


def resolve_slopes(value: Any, default: int) -> int:
    """Return the number of slopes per leaf; "auto" is the default, None and False are 0.

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


def _refuse_unused(estimator: Any) -> None:
    defaults = {name: one.default for name, one in signature(type(estimator)).parameters.items()}
    for field in fields(TreeClassifierParameters):
        name, value = field.name, getattr(estimator, field.name, None)
        if name in _USED or name not in defaults or (name == "monotonic_cst" and _constrains_nothing(value)):
            continue
        if value is not defaults[name] and value != defaults[name]:
            raise ParameterError(
                f"{name}={shown(value)}: a tree with a teacher does not use it; expected the default. Its size is "
                "set by max_leaf_nodes, max_depth and slopes."
            )


def _constrains_nothing(monotonic_cst: Any) -> bool:
    """Whether every sign of a monotone constraint is 0."""
    signs = monotonic_cst.values() if isinstance(monotonic_cst, Mapping) else monotonic_cst
    return isinstance(signs, Iterable) and all(is_whole(sign) and sign == 0 for sign in signs)
