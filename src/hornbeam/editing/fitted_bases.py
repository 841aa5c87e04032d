"""Predictions of new nodes, and slopes of terms, fitted to the rows and to the predictions before an edit.

A tree with a teacher has predictions that its rows alone do not give. So the tree before the edit takes the place of
the teacher: at a node its predictions count as many rows as those of the teacher. The base of a node is the prediction
of a row at the centres of all terms of its path; it is fitted so that the mean prediction of the rows of the node is
that of their target and those predictions.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.kernels.elementary import dot, exp, log
from hornbeam.kernels.terms import EndedRows, Fitting, fit_base
from hornbeam.smoothing.teacher_prior import is_distilled, with_prior_of
from hornbeam.tree.edit import with_belief, with_slopes
from hornbeam.tree.route import predict_rows, route, sums_of_terms
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants, path
from hornbeam.typing import Bools, Floats

_FITTING = Fitting(steps=1000, tolerance=1e-14)
_LEAST = 1e-12  # of a rate whose logarithm is taken
_LARGEST = 1e6  # of a score, that the kernels take
_LEAST_DEVIATION = 1e-6  # of labels, relative to the largest
_LEAST_ROWS = 2.0**-18  # of a class, among the rows and pseudo-rows of a node


def _shares(weight: Floats) -> Floats:
    return weight / dot(weight, np.ones(len(weight)))


def _mean(values: Floats, share: Floats) -> Floats:
    return np.array([dot(share, column) for column in values.T])


def _clipped(score: Floats) -> Floats:
    clipped: Floats = np.clip(score, -_LARGEST, _LARGEST)
    return clipped


def _in_order(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Sort rows by their values, the first column first, so that sums do not depend on their order."""
    order = np.lexsort([column for array in reversed(arrays) for column in reversed(array.T)])
    return [np.ascontiguousarray(array[order]) for array in arrays]


def soft_labels(before: Tree, tree: Tree, nodes: NDArray[np.intp], table: Table) -> tuple[Floats, Floats]:
    """Return labels and weights of rows, each as one of the rows of a node.

    A label is the mean of the row's target and its prediction before the edit, which counts the borrowed rows of the
    node, divided by its rows.
    """
    of_node = tree.weight_in_rows[nodes]
    extra = np.divide(tree.borrowed[nodes], of_node, out=np.zeros(len(nodes)), where=of_node > 0)
    predicted = predict_rows(before, table)
    label = (table.truth + extra[:, None] * predicted) / (1 + extra)[:, None]
    if not tree.is_regression:
        label = np.minimum(label, 1.0)  # rounding
    return label, table.row_weights * (1 + extra)


def with_bases(before: Tree, tree: Tree, fresh: Bools, table: Table) -> Tree:
    """Fit the bases of some nodes; the others keep theirs."""
    belief = tree.belief.copy()
    stops = route(tree.skeleton, table)
    for node in np.flatnonzero(fresh & (tree.rows > 0)).tolist():
        inside = np.zeros(tree.n_nodes, dtype=bool)
        inside[descendants(tree.skeleton, node)] = True
        rows = table.take(np.flatnonzero(inside[stops]))
        belief[node] = _base(before, tree, node, rows)
        if not tree.is_regression:
            # Rounding takes less from a class than this.
            least = _LEAST_ROWS / (tree.weight_in_rows[node] + tree.borrowed[node])
            belief[node] = np.maximum(belief[node], least)
            belief[node] /= belief[node].sum()
    fitted = with_belief(tree, belief, tree.borrowed)
    # Rounded, so that rows which are added and removed again leave the same predictions.
    belief[fresh] = with_prior_of(fitted, tree).belief[fresh]
    return with_belief(tree, belief, tree.borrowed)


def _base(before: Tree, tree: Tree, node: int, table: Table) -> Floats:
    """Fit the base of a node to its rows."""
    every = np.full(table.n_rows, node, np.intp)
    label, weight = soft_labels(before, tree, every, table)
    score = sums_of_terms(_with_terms_of(tree, path(tree.skeleton, node)), table)
    score, label, weight = _in_order(score, label, weight[:, None])
    share = _shares(weight[:, 0])
    mean = _mean(label, share)
    if tree.is_regression:
        return mean - _mean(score, share)
    if not score.any():
        return mean / mean.sum()
    base = fit_base(_clipped(score), label, share, _FITTING.tolerance)
    power = exp(base - base.max())
    belief: Floats = power / power.sum()
    return belief


def _with_terms_of(tree: Tree, nodes: list[int]) -> Tree:
    """Drop the terms of all other nodes."""
    number = np.full(tree.n_nodes, -1, np.int32)
    number[nodes] = nodes
    return with_slopes(tree, tree.slopes.renumbered(number))


def refitted_terms(tree: Tree, at: NDArray[np.intp], table: Table) -> Slopes:
    """Fit the slopes of some terms of a node anew; ranges and centres stay.

    In a tree with a teacher together with the bases below the node, to the target and the predictions of the tree; in
    any other to the target alone, with the bases of its smoother.
    """
    slopes, free = tree.slopes, is_distilled(tree)
    node = slopes.node.item(at[0])
    stops = route(tree.skeleton, table)
    inside = np.zeros(tree.n_nodes, dtype=bool)
    inside[descendants(tree.skeleton, node)] = True
    table = table.take(np.flatnonzero(inside[stops]))
    stops = stops[inside[stops]]
    rest = np.ones(len(slopes), dtype=bool)
    rest[at] = False
    score = sums_of_terms(with_slopes(tree, slopes_where(slopes, rest)), table)
    label, weight = soft_labels(tree, tree, stops.astype(np.intp), table)
    if not free:
        label, weight = table.truth, table.row_weights
        score = score + (tree.belief if tree.is_regression else log(np.maximum(tree.belief, _LEAST)))[stops]
    width = slopes.high[at] - slopes.low[at]
    width[width <= 0] = 1.0
    distances = [slopes.distances(one, table.columns[slopes.feature.item(one)]) for one in at.tolist()]
    values = np.column_stack(distances) / width
    end, score, label, weight, values = _in_order(stops[:, None], score, label, weight[:, None], values)
    share, scale = _shares(weight[:, 0]), 1.0
    if tree.is_regression:
        # In units of the deviation: then the ridge does not depend on the unit of the target.
        label, score = label - score, np.zeros_like(score)
        mean = _mean(label, share)
        deviation = sqrt(_mean(np.square(label - mean), share).item())
        scale = max(deviation, _LEAST_DEVIATION * float(np.abs(label).max())) or 1.0
        label = (label - mean if free else label) / scale
    start = np.flatnonzero(np.diff(end[:, 0], prepend=-1))
    of_end = end[start, 0].astype(np.int32)
    rows = EndedRows(label, share, tree.skeleton.parent, of_end, np.append(start, len(end)))
    of_terms = np.full(len(at), node, np.int32), np.zeros(len(at), np.int8)
    fitted = rows.slopes(values, *of_terms, _FITTING, _clipped(score), fixed_bases=not free)
    slope = slopes.slope.copy()
    slope[at] = fitted * scale / width[:, None]
    return slopes_where(slopes, np.ones(len(slopes), dtype=bool), slope=slope)


def slopes_where(slopes: Slopes, kept: Bools, **changed: Floats) -> Slopes:
    """Keep some terms, and replace arrays."""
    names = ("node", "feature", "category", "low", "high", "centre", "slope")
    if not kept.any():
        return Slopes.none(slopes.n_outputs)
    return Slopes(**{name: changed.get(name, getattr(slopes, name))[kept] for name in names})
