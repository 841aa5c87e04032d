"""Two checks of a candidate split: its gain on held-out rows, and its association with the split of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.explain.candidate_table import CandidateChild
from hornbeam.explain.mean_and_error import mean_and_error
from hornbeam.growing import Criterion
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants
from hornbeam.typing import Floats

__all__ = ["HeldOutRows", "association", "child_of_row"]


def child_of_row(children: Sequence[CandidateChild], columns: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """Return the position of the child that each row goes to; -1 for a row that stops, or goes to every child."""
    column = columns[children[0].test.column]
    child = np.full(len(column), -1)
    for at, one in enumerate(children):
        child[one.test.holds_in(column)] = at
    return child


def association(chosen: NDArray[np.intp], other: NDArray[np.intp], weight: Floats) -> float | None:
    """Measure how well one split stands in for another: 1 if it separates the rows as the other does.

    Parameters
    ----------
    chosen, other : array of int
        The child of each row, of the split to replace and of its substitute (`child_of_row`).
    weight : float64 array

    Returns
    -------
    float or None
        The share of the errors of "every row goes to the largest child" that the substitute avoids, as for
        surrogate splits :cite:p:`breiman1984`: 0 if it says nothing about the chosen child. None if there is no
        error to avoid.

    Examples
    --------
    >>> association(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]), np.ones(4))
    0.5
    """
    known = (chosen >= 0) & (other >= 0)
    shape = chosen.max(initial=-1) + 1, other.max(initial=-1) + 1
    place = chosen[known] * shape[1] + other[known]
    table = np.bincount(place, weight[known], shape[0] * shape[1]).reshape(shape)
    errors_of_largest = table.sum() - table.sum(axis=1).max(initial=0.0)
    if errors_of_largest <= 0:
        return None
    return float(1 - (table.sum() - table.max(axis=0).sum()) / errors_of_largest)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutRows:
    """Rows at a node that the tree was not grown from, and what the node predicts for them.

    Parameters
    ----------
    table : Table
        The rows that reach the node.
    rates : float64 array
        Class rates of the node; or the mean of its target.
    criterion : Criterion
    """

    table: Table
    rates: Floats
    criterion: Criterion

    @classmethod
    def of(cls, tree: Tree, table: Table, node: int, criterion: Criterion) -> Self:
        """Find the rows that reach a node."""
        at = np.flatnonzero(np.isin(route(tree.skeleton, table), descendants(tree.skeleton, node)))
        evidence = tree.evidence[node] * tree.unit
        if tree.is_regression:
            rates = evidence[1:2] / evidence[0]
        else:
            rates = (evidence + 1 / len(evidence)) / (evidence.sum() + 1)
        return cls(table.take(at), rates, criterion)

    def gain(self, children: Sequence[CandidateChild]) -> tuple[float, float]:
        """Return the mean decrease of the loss by a split, and its standard error.

        The loss is that whose decrease on training rows is the gain: log loss in bits, Brier score for Gini impurity,
        squared error for a numeric target. A child predicts its class rates and one more row with those of the node,
        so that no rate is 0. Rows that go to no child, or to every child, keep the prediction of the node.
        """
        child = child_of_row(children, self.table.columns)
        predicted = np.vstack([*(self._rates(one) for one in children), self.rates])  # -1 is the node
        return mean_and_error(self._decrease(predicted, child), self.table.row_weights)

    def _rates(self, child: CandidateChild) -> Floats:
        if child.mean is not None:
            return np.array([child.mean])
        return (np.array(child.counts) + self.rates) / (child.weight + 1)

    def _decrease(self, predicted: Floats, child: NDArray[np.intp]) -> Floats:
        """Return the loss of each row at the node, minus that in its child."""
        if self.table.numeric_target is not None:
            y = self.table.numeric_target.values
            fall: Floats = (predicted[-1, 0] - y) ** 2 - (predicted[child, 0] - y) ** 2
            return fall
        if self.criterion is Criterion.GINI:
            loss = (predicted**2).sum(axis=1, keepdims=True) - 2 * predicted + 1
        else:
            loss = -np.log2(predicted)
        decrease: Floats = (loss[-1] - loss)[child, self.table.target]
        return decrease
