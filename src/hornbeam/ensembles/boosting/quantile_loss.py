"""The pinball loss of a quantile, with exact quantiles of residuals as leaf values."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.checks import check_share
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.gradients import GradientScale
from hornbeam.ensembles.boosting.losses import LeafInputs, Loss
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True)
class QuantileLoss(Loss):
    """The pinball loss, which a quantile minimises; for the median it is half the absolute error.

    Parameters
    ----------
    quantile : float, default 0.5
        Above 0 and below 1.

    Examples
    --------
    >>> QuantileLoss(0.9).negative_gradients(np.array([[1.0, 1.0]]), np.array([3.0, 0.5]))[0].round(2)
    array([[ 0.9, -0.1]])
    """

    quantile: float = 0.5
    allows_monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_share("quantile", self.quantile)

    def initial_score(self, table: Table) -> Floats:
        """Compute the quantile of all rows."""
        assert table.numeric_target is not None
        return np.array(
            [weighted_quantile(table.numeric_target.values, GradientScale.of(table).weight, self.quantile)]
        )

    def negative_gradients(self, scores: Floats, target: Floats) -> tuple[Floats, None]:
        """Compute q for residuals above 0 and q - 1 below, where q is the quantile."""
        residual = target - scores
        return np.where(residual > 0, self.quantile, np.where(residual < 0, self.quantile - 1.0, 0.0)), None

    def row_losses(self, scores: Floats, target: Floats) -> Floats:
        """Compute the residuals times the negative gradients."""
        residual = target - scores[0]
        loss: Floats = np.maximum(self.quantile * residual, (self.quantile - 1.0) * residual)
        return loss

    def leaf_values(self, inputs: LeafInputs) -> Floats:
        """Compute the quantile of the residuals in each leaf, and the mean of the children at each inner node.

        Only the rows that the tree was grown on count. Means are weighted by the number of rows.
        """
        nodes, node, weight = inputs.grown.nodes, inputs.grown.node, inputs.weight
        if inputs.sampled is not None:
            node = np.where(inputs.sampled, node, -1)
        residual = inputs.target - inputs.scores
        order = np.argsort(node, kind="stable")
        starts = np.searchsorted(node[order], np.arange(len(nodes.parent) + 1))
        values = np.zeros(len(nodes.parent))
        for leaf in np.flatnonzero(nodes.feature < 0).tolist():
            rows = order[starts[leaf] : starts[leaf + 1]]
            row_weight = None if weight is None else weight[rows]
            values[leaf] = weighted_quantile(residual[rows], row_weight, self.quantile)
        # Parents precede their children: going backwards, every node is complete before it is added to its parent.
        for child in range(len(values) - 1, 0, -1):
            parent = nodes.parent[child]
            values[parent] += values[child] * (nodes.rows[child] / nodes.rows[parent])
        return values


def weighted_quantile(values: Floats, weight: Floats | None, quantile: float) -> float:
    """Compute a weighted quantile: the midpoint where two values are possible, 0 for no values."""
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    below = np.arange(1, len(values) + 1) if weight is None else np.cumsum(weight[order])
    goal = quantile * below[-1]
    first, last = np.searchsorted(below, goal, "left"), np.searchsorted(below, goal, "right")
    lower, upper = values[order[np.minimum([first, last], len(values) - 1)]]
    return float(lower + (upper - lower) / 2)
