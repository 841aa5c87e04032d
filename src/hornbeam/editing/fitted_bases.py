"""Predictions of new nodes, and slopes of terms, fitted to the rows and to the predictions before an edit.

A tree with a teacher has predictions that its rows alone do not give. So the tree before the edit takes the place of
the teacher: at a node its predictions count as many rows as those of the teacher. The base of a node is the prediction
of a row at the centres of all terms of its path; it is fitted so that the mean prediction of the rows of the node is
that of their target and those predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.kernels.elementary import dot, exp, log, minimise
from hornbeam.smoothing.teacher_prior import is_distilled, with_prior_of
from hornbeam.tree.edit import with_belief, with_slopes
from hornbeam.tree.route import predict_rows, route, sums_of_terms
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants, path
from hornbeam.typing import Bools, Floats

_RIDGE = 0.002  # per row, of a slope times the range of its values
_LEAST = 1e-12  # of a rate, where the search for a base begins
_LEAST_ROWS = 2.0**-18  # of a class, among the rows and pseudo-rows of a node
_MOST = 700.0  # of a score


@dataclass(frozen=True, slots=True)
class FitRows:
    """Rows to fit scores to, in an order that depends on their values alone.

    `score` has what is known of the score of each class, or of the mean; `label` the mean of the target and the
    predictions before the edit, `weight` what both count together. `group` is which base a row has, `values` has the
    distance of the row from the centre of each term, in units of its range.
    """

    score: Floats
    label: Floats
    weight: Floats
    group: NDArray[np.intp]
    values: Floats

    @classmethod
    def of(
        cls,
        score: Floats,
        label: Floats,
        weight: Floats,
        group: NDArray[np.intp],
        values: Floats | None = None,
    ) -> Self:
        """Sort rows; equal ones stand side by side, so sums do not depend on the order of the rows."""
        values = np.zeros((len(score), 0)) if values is None else values
        keys = [*score.T, *label.T, weight, group, *values.T]
        order = np.lexsort(keys)
        return cls(score[order], label[order], weight[order], group[order], values[order])

    def fit(self, n_groups: int, regression: bool) -> tuple[Floats, Floats]:
        """Return the bases of the groups, of shape (n_groups, n_outputs), and the slopes of the terms.

        By logistic regression, or least squares, with a small ridge of the slopes.
        """
        n_terms, n_outputs = self.values.shape[1], self.score.shape[1]
        share = self.weight / dot(self.weight, np.ones(len(self.weight)))
        scale = 1.0
        if (
            regression
        ):  # in units of the deviation, so that the ridge does not depend on the unit of the target
            off = self.label[:, 0] - self.score[:, 0]
            scale = sqrt(dot(share, np.square(off - dot(share, off)))) or 1.0
        known, labels = self.score / scale, self.label / scale

        def value(parameters: Floats) -> tuple[float, Floats]:
            bases, slopes = np.split(parameters.reshape(-1, n_outputs), [n_groups])
            score = known + bases[self.group] if n_groups else known.copy()
            for own, slope in zip(self.values.T, slopes, strict=True):
                score += own[:, None] * slope
            if regression:
                rest = score - labels
                loss = dot(share, np.square(rest[:, 0])) / 2
            else:
                most = score.max(axis=1, keepdims=True)
                power = exp(score - most)
                total = sum(power.T[1:], start=power.T[0])[:, None]
                rest = power / total - labels
                loss = dot(share, (log(total) + most)[:, 0])
                loss -= sum(dot(share, a * b) for a, b in zip(score.T, labels.T, strict=True))
            columns = [share * column for column in rest.T]
            of_bases = (
                [np.bincount(self.group, column, minlength=n_groups) for column in columns]
                if n_groups
                else []
            )
            of_slopes = [[dot(own, column) for column in columns] for own in self.values.T]
            gradient = np.zeros((n_groups + n_terms, n_outputs))
            if n_groups:
                gradient[:n_groups] = np.column_stack(of_bases)
            if n_terms:
                gradient[n_groups:] = np.array(of_slopes) + _RIDGE * slopes
                loss += _RIDGE * dot(slopes, slopes) / 2
            return loss, gradient.ravel()

        start = np.zeros((n_groups + n_terms, n_outputs))
        for group in range(n_groups):
            inside = self.group == group
            mean = _mean(labels[inside], self.weight[inside])
            start[group] = mean if regression else log(np.maximum(mean, _LEAST))
        bounds = (-np.inf, np.inf) if regression else (-_MOST, _MOST)
        found = minimise(value, start.ravel(), bounds, tolerance=1e-15).reshape(start.shape)
        return found[:n_groups] * scale, found[n_groups:] * scale


def _mean(values: Floats, weight: Floats) -> Floats:
    share = weight / dot(weight, np.ones(len(weight)))
    return np.array([dot(share, column) for column in values.T])


def soft_labels(before: Tree, tree: Tree, nodes: NDArray[np.intp], table: Table) -> tuple[Floats, Floats]:
    """Return labels and weights of rows, each as one of the rows of a node.

    A label is the mean of the row's target and its prediction before the edit, which counts the borrowed rows of the
    node, divided by its rows.
    """
    of_node = tree.weight_in_rows[nodes]
    extra = np.divide(tree.borrowed[nodes], of_node, out=np.zeros(len(nodes)), where=of_node > 0)
    predicted = predict_rows(before, table)
    label = (table.truth + extra[:, None] * predicted) / (1 + extra)[:, None]
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
    rows = FitRows.of(score, label, weight, np.zeros(table.n_rows, np.intp))
    mean = _mean(rows.label, rows.weight)
    if tree.is_regression:
        return mean - _mean(rows.score, rows.weight)
    if not score.any():
        return mean / mean.sum()
    [base], _ = rows.fit(1, regression=False)
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
    groups, group = np.unique(stops, return_inverse=True)
    label, weight = soft_labels(tree, tree, stops.astype(np.intp), table)
    if not free:
        label, weight = table.truth, table.row_weights
        score = score + (tree.belief if tree.is_regression else log(np.maximum(tree.belief, _LEAST)))[stops]
    width = slopes.high[at] - slopes.low[at]
    distances = [slopes.distances(one, table.columns[slopes.feature.item(one)]) for one in at.tolist()]
    values = np.column_stack(distances) / np.where(width > 0, width, 1.0)
    _, fitted = FitRows.of(score, label, weight, group, values).fit(
        len(groups) if free else 0, tree.is_regression
    )
    slope = slopes.slope.copy()
    slope[at] = fitted / np.where(width > 0, width, 1.0)[:, None]
    return slopes_where(slopes, np.ones(len(slopes), dtype=bool), slope=slope)


def slopes_where(slopes: Slopes, kept: Bools, **changed: Floats) -> Slopes:
    """Keep some terms, and replace arrays."""
    names = ("node", "feature", "category", "low", "high", "centre", "slope")
    if not kept.any():
        return Slopes.none(slopes.n_outputs)
    return Slopes(**{name: changed.get(name, getattr(slopes, name))[kept] for name in names})
