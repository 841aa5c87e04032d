"""Losses of quantiles, the median among them: leaves answer with the exact quantile of what is left."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.gradients import GradientScale
from hornbeam.errors import ParameterError
from hornbeam.growing.leafwise import GrownTree
from hornbeam.typing import Bools, Floats

__all__ = ["QuantileLoss", "weighted_quantile"]


@dataclass(frozen=True, slots=True)
class QuantileLoss:
    """The pinball loss, least at a quantile; at the median it is half the absolute error.

    Parameters
    ----------
    quantile : float, default 0.5
        Above 0 and below 1.

    Examples
    --------
    >>> QuantileLoss(0.9).pulls(np.array([[1.0, 1.0]]), np.array([3.0, 0.5]))[0].round(2)
    array([[ 0.9, -0.1]])
    """

    quantile: float = 0.5
    n_outputs: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0.0 < self.quantile < 1.0:
            raise ParameterError(f"quantile={self.quantile}: expected a number above 0.0 and below 1.0.")

    def start(self, table: Table) -> Floats:
        """Start with the quantile of all rows."""
        assert table.numeric_target is not None
        return np.array(
            [weighted_quantile(table.numeric_target.values, GradientScale.of(table).weight, self.quantile)]
        )

    def pulls(self, scores: Floats, target: Floats) -> tuple[Floats, None]:
        """Pull up by the quantile, or down by what is missing to 1."""
        left = target - scores
        return np.where(left > 0, self.quantile, np.where(left < 0, self.quantile - 1.0, 0.0)), None

    def of_rows(self, scores: Floats, target: Floats) -> Floats:
        """The residual times the pull."""
        left = target - scores[0]
        loss: Floats = np.maximum(self.quantile * left, (self.quantile - 1.0) * left)
        return loss

    def answer(self, scores: Floats) -> Floats:
        """Scores are answers."""
        return scores.T

    def values(self, grown: GrownTree, left: Floats, weight: Floats | None, added: Bools | None) -> Floats:
        """Give each leaf the quantile of what is left of its rows, and each inner node the mean of its children.

        Rows that were not added up do not count, and the mean is by rows.
        """
        nodes, node = grown.nodes, grown.node if added is None else np.where(added, grown.node, -1)
        order = np.argsort(node, kind="stable")
        starts = np.searchsorted(node[order], np.arange(len(nodes.parent) + 1))
        values = np.zeros(len(nodes.parent))
        for leaf in np.flatnonzero(nodes.feature < 0).tolist():
            rows = order[starts[leaf] : starts[leaf + 1]]
            values[leaf] = weighted_quantile(
                left[rows], None if weight is None else weight[rows], self.quantile
            )
        # Parents come before their children: the last node has given its share before it is asked for its own.
        for child in range(len(values) - 1, 0, -1):
            parent = nodes.parent[child]
            values[parent] += values[child] * (nodes.rows[child] / nodes.rows[parent])
        return values


def weighted_quantile(values: Floats, weight: Floats | None, quantile: float) -> float:
    """Find the number below which such a part of the weight lies; midway, where two numbers would do.

    Examples
    --------
    >>> weighted_quantile(np.array([1.0, 2.0, 3.0, 9.0]), None, 0.5)
    2.5
    >>> weighted_quantile(np.array([1.0, 2.0]), np.array([1.0, 3.0]), 0.5)
    2.0
    """
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    below = np.arange(1, len(values) + 1) if weight is None else np.cumsum(weight[order])
    goal = quantile * below[-1]
    first, last = np.searchsorted(below, goal, "left"), np.searchsorted(below, goal, "right")
    lower, upper = values[order[np.minimum([first, last], len(values) - 1)]]
    return float(lower + (upper - lower) / 2)
