"""How sure a tree is: an interval for every probability."""

import numpy as np

from hornbeam.data.table import Table
from hornbeam.smoothing.interval_calibration import effective_size
from hornbeam.smoothing.node_variance import node_variances
from hornbeam.tree.decision.base_rate import shift_bound
from hornbeam.tree.route import predict_rows
from hornbeam.tree.statistics.bounds import mean_bounds, rate_bounds
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["interval", "predict_interval"]


def interval(tree: Tree, level: float = 0.9) -> tuple[Floats, Floats]:
    """Give bounds between which the true class rates of every node lie, most of the time.

    Parameters
    ----------
    tree : Tree
    level : float, default 0.9
        How often the true rate is to be within.

    Returns
    -------
    low, high : float64 arrays of shape (n_nodes, n_classes)
        Around the belief of every node, each class for itself. Without rows: 0 and 1. Of a numeric target, around its
        mean, of shape (n_nodes, 1); without rows infinite.

    Notes
    -----
    A node that believes p and for which s rows speak (`hornbeam.smoothing.interval_calibration.effective_size`) has the
    bounds of a beta distribution (`hornbeam.tree.statistics.bounds.rate_bounds`): of no rows among s the lower bound is 0
    and the upper one about 2 / s.

    The interval of a mean is Student's, of s degrees of freedom, with the variance of `hornbeam.smoothing.node_variance`.

    The true rate is that of all rows that could come to the node, not of those that came. A tree grown on
    other rows would have other nodes: the interval is about this one.

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
    """Give bounds for the class probabilities of each row of a table.

    Parameters
    ----------
    tree : Tree
    table : Table
    level : float, default 0.9
        How often the true rate is to be within.
    factors : float64 array of shape (n_classes,), optional
        How much more common each class is where the rows come from (`hornbeam.tree.decision.base_rate`).
    n_jobs : int, default 1
        Threads.

    Returns
    -------
    low, high : float64 arrays of shape (n_rows, n_classes)
        The interval of the node where the row stops. Where a missing value goes to every child, the bounds of
        the children in proportion to their evidence: as if all of them were off in the same direction, which
        is the widest that the interval of an average can be.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> tree = TreeClassifier(smoothing=None).fit([[0.0]] * 10 + [[1.0]] * 10, [0] * 10 + [1] * 10).tree_
    >>> low, high = predict_interval(tree, Table.read([[0.0]], schema=tree.schema))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([[0.821, 0.0]], [[1.0, 0.179]])
    """
    bounds = np.hstack([*interval(tree, level), tree.belief])
    low, high, belief = np.split(predict_rows(tree, table, n_jobs, said=bounds), 3, axis=1)
    if factors is None:
        return low, high
    return shift_bound(low, belief, factors), shift_bound(high, belief, factors)
