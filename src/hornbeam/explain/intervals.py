"""Intervals of class probabilities and means, per node and per row."""

import numpy as np

from hornbeam.data.table import Table
from hornbeam.smoothing.interval_calibration import effective_size
from hornbeam.smoothing.node_variance import node_variances
from hornbeam.tree.decision.base_rate import adjust_bound_to_prior
from hornbeam.tree.route import predict_rows
from hornbeam.tree.statistics.bounds import mean_bounds, moved_rate_bounds, rate_bounds
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["interval", "predict_interval"]


def interval(tree: Tree, level: float = 0.9) -> tuple[Floats, Floats]:
    """Compute intervals of the true class rates, or of the true mean, of every node.

    Parameters
    ----------
    tree : Tree
    level : float, default 0.9
        Probability that the interval holds the true rate.

    Returns
    -------
    low, high : float64 arrays of shape (n_nodes, n_classes)
        Bounds around the belief of every node, per class; 0 and 1 for a node without rows. For a numeric target, bounds
        around the mean, of shape (n_nodes, 1); infinite without rows.

    Notes
    -----
    A node of probability p and effective size s (`hornbeam.smoothing.interval_calibration.effective_size`) has the
    bounds of a beta distribution (`hornbeam.tree.statistics.bounds.rate_bounds`): for p = 0 the lower bound is 0 and
    the upper one about 2 / s.

    The interval of a mean is that of Student's t with s degrees of freedom, and the variance of
    `hornbeam.smoothing.node_variance`.

    The true rate is that of all rows that can reach the node, not of the training rows. A tree grown on other rows has
    other nodes: the interval is conditional on this tree.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0.0]] * 10 + [[1.0]] * 40, [0] * 10 + [0, 1] * 20
    >>> low, high = interval(TreeClassifier(smoothing=None).fit(X, y).tree_)
    >>> low[1:, 1].round(3), high[1:, 1].round(3)
    (array([0.   , 0.366]), array([0.179, 0.634]))
    """
    size = effective_size(tree)[:, None]
    if tree.is_regression:
        return mean_bounds(tree.belief, node_variances(tree)[:, None], size, level)
    return rate_bounds(tree.belief, size, level)


def predict_interval(
    tree: Tree, table: Table, level: float = 0.9, *, factors: Floats | None = None, n_jobs: int = 1
) -> tuple[Floats, Floats]:
    """Compute intervals of the class probabilities, or of the mean, of each row of a table.

    Parameters
    ----------
    tree : Tree
    table : Table
    level : float, default 0.9
        Probability that the interval holds the true rate.
    factors : float64 array of shape (n_classes,), optional
        Ratio of new to old base rate of each class (`hornbeam.tree.decision.base_rate`).
    n_jobs : int, default 1
        Threads.

    Returns
    -------
    low, high : float64 arrays of shape (n_rows, n_classes)
        The interval of the node where the row stops. If a missing value goes to every child, the mean of the bounds of
        the children, weighted by their evidence. It assumes errors in the same direction, so it is the widest
        possible interval of the average. In a leaf with slopes the bounds move with the prediction of the row: their
        odds by the same factor, or their mean by the same amount. The slopes count as known.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> tree = TreeClassifier(smoothing=None).fit([[0.0]] * 10 + [[1.0]] * 10, [0] * 10 + [1] * 10).tree_
    >>> low, high = predict_interval(tree, Table.read([[0.0]], schema=tree.schema))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([[0.821, 0.0]], [[1.0, 0.179]])
    """
    bounds = np.hstack([*interval(tree, level), tree.belief])
    low, high, belief = np.split(predict_rows(tree, table, n_jobs, node_values=bounds), 3, axis=1)
    if len(tree.slopes):
        moved = predict_rows(tree, table, n_jobs)
        if tree.is_regression:
            low, high = np.minimum(low + (moved - belief), moved), np.maximum(high + (moved - belief), moved)
        else:
            low, high = moved_rate_bounds(low, high, belief, moved)
        belief = moved
    if factors is None:
        return low, high
    return adjust_bound_to_prior(low, belief, factors), adjust_bound_to_prior(high, belief, factors)
