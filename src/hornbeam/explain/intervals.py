"""Intervals of class probabilities and means, per node and per row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.rows import read_rows
from hornbeam.data.table import Table
from hornbeam.smoothing.interval_calibration import effective_size, node_variances
from hornbeam.tree.evidence.base_rate import adjust_bound_to_prior
from hornbeam.tree.evidence.fractional import next_slots
from hornbeam.tree.level_order import concat_ranges
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.statistics import mean_bounds, moved_rate_bounds, rate_bounds
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.typing import Floats


def interval(
    tree: Tree | HasTree, level: float = 0.9, nodes: NDArray[np.integer[Any]] | None = None
) -> tuple[Floats, Floats]:
    """Compute intervals of the true class rates, or of the true mean, of every node, or of some nodes.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
    level : float, default 0.9
        Probability that the interval holds the true rate.
    nodes : int array, optional
        Only these nodes are computed. Default: every node.

    Returns
    -------
    low, high : float64 arrays of shape (n_nodes, n_classes)
        Bounds around the belief of every node, per class; 0 and 1 for a node without rows. For a numeric target, bounds
        around the mean, of shape (n_nodes, 1); infinite without rows. With `nodes`, a row for each of them.

    Notes
    -----
    A node of probability p and effective size s (`hornbeam.smoothing.interval_calibration.effective_size`) has the
    bounds of a beta distribution (`hornbeam.tree.statistics.rate_bounds`): for p = 0 the lower bound is 0 and
    the upper one about 2 / s.

    The interval of a mean is that of Student's t with s degrees of freedom, and the variance of
    `hornbeam.smoothing.interval_calibration`.

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
    tree = single_tree(tree)
    nodes = np.arange(tree.n_nodes) if nodes is None else nodes
    belief, size = tree.belief[nodes], effective_size(tree, nodes)[:, None]
    if tree.is_regression:
        return mean_bounds(belief, node_variances(tree, nodes)[:, None], size, level)
    return rate_bounds(belief, size, level)


def predict_interval(
    tree: Tree | HasTree, table: Any, level: float = 0.9, *, factors: Floats | None = None, n_jobs: int = 1
) -> tuple[Floats, Floats]:
    """Compute intervals of the class probabilities, or of the mean, of each row of a table.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
    table : Table, array-like or data frame
    level : float, default 0.9
        Probability that the interval holds the true rate.
    factors : float64 array of shape (n_classes,), optional
        Ratio of new to old base rate of each class (`hornbeam.tree.evidence.base_rate`).
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
    tree = single_tree(tree)
    table = read_rows(table, schema=tree.schema)
    nodes = stops(tree, table, n_jobs)
    bounds = np.empty((tree.n_nodes, 3 * tree.belief.shape[1]))  # of the nodes that are read
    bounds[nodes] = np.hstack([*interval(tree, level, nodes), tree.belief[nodes]])
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


def stops(tree: Tree, table: Table, n_jobs: int = 1) -> NDArray[np.intp]:
    """List the nodes where rows of a table, or parts of rows, can stop, each once."""
    skeleton = tree.skeleton
    node = route(skeleton, table, n_jobs).astype(np.intp)
    if not skeleton.router.fractional:
        return _distinct(node, tree.n_nodes)
    if table.n_rows >= tree.n_nodes:  # then it takes longer to find them than to compute all intervals
        return np.arange(tree.n_nodes)
    row, found = np.arange(table.n_rows), []
    while len(row):
        found.append(node)
        slot, is_split = next_slots(skeleton, table, row, node)
        moves, parent = slot >= 0, node[is_split]
        children = concat_ranges(skeleton.first_child[parent], skeleton.n_children[parent])
        row = np.concatenate((row[moves], np.repeat(row[is_split], skeleton.n_children[parent])))
        node = np.concatenate((skeleton.first_child[node[moves]] + slot[moves], children))
    return _distinct(np.concatenate(found) if found else node, tree.n_nodes)


def _distinct(node: NDArray[np.intp], n_nodes: int) -> NDArray[np.intp]:
    """Return each node once, in order; nothing is sorted."""
    reached = np.zeros(n_nodes, np.bool_)
    reached[node] = True
    return np.flatnonzero(reached)
