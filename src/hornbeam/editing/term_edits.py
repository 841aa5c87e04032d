"""Edits of the terms of a node: new slopes in the place of those of a feature."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_whole, is_number
from hornbeam.data.table import Table
from hornbeam.editing.fitted_bases import slopes_where, with_bases
from hornbeam.errors import ParameterError, shown
from hornbeam.explain.candidates.list_splits import check_node, find_column
from hornbeam.export.slope_text import NodeTerm, node_terms, round_step
from hornbeam.kernels.elementary import exp, log
from hornbeam.smoothing.replay import replay, smoothers_of
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.edit import with_slopes
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import descendants
from hornbeam.tree.words import feature_name
from hornbeam.typing import Floats


def with_terms(tree: Tree, node: int, slopes: Slopes, table: Table, step: Step) -> Tree:
    """Replace the slopes of a tree, of which those of a node have changed.

    In a tree with a teacher the bases below the node are fitted again; any other tree keeps those of its smoother.
    """
    new = with_slopes(tree, slopes, step)
    if is_distilled(tree):
        below = np.zeros(tree.n_nodes, dtype=bool)
        below[descendants(tree.skeleton, node)] = True
        new = with_bases(tree, new, below, table)
    return replay(smoothers_of(tree.history[-1:]), new)  # intervals stay calibrated


def terms_at(tree: Tree, node: int, feature: str | int | None) -> NDArray[np.intp]:
    """Find the terms of a feature at a node, of all features if None; raise `ParameterError` if it has none."""
    check_node(tree, node)
    own = tree.slopes.of_node(node)
    column = None if feature is None else find_column(tree.schema, feature)
    at = np.array([one for one in own if column is None or tree.slopes.feature[one] == column], np.intp)
    if not len(at):
        names = ", ".join(dict.fromkeys(term.name for term in node_terms(tree, node))) or "none"
        what = "no terms" if column is None else f"no term of {tree.schema.names[column]!r}"
        nodes = ", ".join(map(str, tree.slopes.nodes.tolist())) or "none"
        raise ParameterError(
            f"node {node} has {what}, its terms are those of: {names}. Expected a feature with a term at the node; "
            f"nodes with terms: {nodes}."
        )
    return at


def terms_below(tree: Tree, node: int) -> Slopes:
    """Return the terms of a node and of all below it, as those of the subtree."""
    if not len(tree.slopes):
        return tree.slopes
    number = np.full(tree.n_nodes, -1, np.int32)
    inside = descendants(tree.skeleton, node)
    number[inside] = np.arange(len(inside))
    return tree.slopes.renumbered(number)


def check_signs(tree: Tree, slopes: Slopes, signs: Sequence[int] | None) -> None:
    """Raise `ParameterError` if a slope is against the monotone constraint of its feature."""
    if signs is None:
        return
    first = 0.0 if tree.is_regression else slopes.slope[:, 0]
    wrong = np.flatnonzero((slopes.slope[:, -1] - first) * np.array(signs)[slopes.feature] < 0)
    if len(wrong):
        column = slopes.feature.item(wrong[0])
        raise ParameterError(
            f"the term of {tree.schema.names[column]!r} at node {slopes.node[wrong[0]]} would be against its monotone "
            f"constraint, {signs[column]:+d}; expected an effect of that direction. Drop the term, or fix its effect."
        )


def without_terms(tree: Tree, at: NDArray[np.intp]) -> Slopes:
    """Drop some terms."""
    kept = np.ones(len(tree.slopes), dtype=bool)
    kept[at] = False
    return slopes_where(tree.slopes, kept)


def rounded_terms(tree: Tree, at: NDArray[np.intp], digits: int) -> Slopes:
    """Round the factors or changes per step to some digits, limits and centres to a hundredth of a step.

    Of two classes it is the factor of the odds that is rounded, per step or of a category against others; of more
    classes the change of each score.
    """
    check_whole("digits", digits, 1, 15)
    old = tree.slopes
    low, high, centre, slope = (array.copy() for array in (old.low, old.high, old.centre, old.slope))
    for one in at.tolist():
        numeric = tree.schema.features[old.feature[one]].is_numeric
        step = round_step(low.item(one), high.item(one)) if numeric else 1.0
        if numeric:
            decimals = 2 - floor(log10(step))
            limits = [round(bound.item(one), decimals) for bound in (low, high)]
            if limits[0] < limits[1]:
                low[one], high[one] = limits
            centre[one] = min(max(round(centre.item(one), decimals), low.item(one)), high.item(one))
        slope[one] = _rounded(tree, slope[one] * step, digits) / step
    every = np.ones(len(old), dtype=bool)
    return slopes_where(old, every, low=low, high=high, centre=centre, slope=slope)


def _rounded(tree: Tree, change: Floats, digits: int) -> Floats:
    if tree.n_classes != 2:
        return np.array([float(f"{one:.{digits}g}") for one in change.tolist()])
    factor = exp(np.clip(change[1] - change[0], -700, 700)).item()
    return _of_log_odds(log(float(f"{factor:.{digits}g}")).item())


def _of_log_odds(change: float) -> Floats:
    """Return the change of the score of each of two classes, for a change of the log odds of the second."""
    return np.array([-change / 2, change / 2])


def fixed_term(tree: Tree, at: NDArray[np.intp], category: Any, effect: Any, per: float) -> Slopes:
    """Set the slope of a term; parameters as in `TreeEditor.set_term`."""
    schema, slopes = tree.schema, tree.slopes
    feature = schema.features[slopes.feature.item(at[0])]
    if feature.is_nominal:
        codes = slopes.category[at].tolist()
        found = [
            one for one, code in zip(at.tolist(), codes, strict=True) if feature.categories[code] == category
        ]
        if not found:
            known = ", ".join(repr(feature.categories[code]) for code in codes)
            raise ParameterError(
                f"category={shown(category)}: expected one with a term of its own at this node: {known}."
            )
    elif category is not None:
        raise ParameterError(
            f"category={shown(category)}: {feature.name!r} has one term for all values; expected None."
        )
    else:
        found = at.tolist()
    if not (is_number(per) and isfinite(per) and per > 0):
        raise ParameterError(f"per={shown(per)}: expected a number above 0.")
    slope = slopes.slope.copy()
    slope[found] = _change(tree, effect) / per
    return slopes_where(slopes, np.ones(len(slopes), dtype=bool), slope=slope)


def _change(tree: Tree, effect: Any) -> Floats:
    """Return the change of each score, or of the mean."""
    n = tree.schema.n_outputs
    several = tree.n_classes > 2
    values: list[Any] = list(effect) if several and isinstance(effect, Sequence) else [effect]
    least = -np.inf if tree.is_regression else 0.0
    fits = len(values) == (n if several else 1)
    if not (fits and all(is_number(one) and isfinite(one) and one > least for one in values)):
        kind = "a number" if tree.is_regression else "a number above 0"
        each = f", one for each of the {n} classes" if several else ""
        raise ParameterError(f"effect={shown(effect)}: expected {kind}{each}.")
    if tree.is_regression:
        return np.array(values, np.float64)
    logs = log(np.array(values, np.float64))
    return logs - logs.mean() if several else _of_log_odds(logs.item())


def terms_text(tree: Tree, after: Tree, node: int, at: NDArray[np.intp]) -> str:
    """Describe the change of some terms of a node."""
    columns = dict.fromkeys(tree.slopes.feature[at].tolist())
    place = f"node {node}" if node else "the root"
    texts = []
    for column in columns:
        old, new = (_text(one, node, column) for one in (tree, after))
        name = feature_name(tree.schema.names[column])
        if new is None:
            texts.append(f"removed the term of {name} at {place}: {old}")
        else:
            texts.append(f"changed the term of {name} at {place} from {old} to {new}")
    return "; ".join(texts)


def _text(tree: Tree, node: int, column: int) -> str | None:
    term: NodeTerm | None = next((one for one in node_terms(tree, node) if one.column == column), None)
    return None if term is None else term.text().removeprefix(f"{term.name}: ")
