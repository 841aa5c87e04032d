"""Estimated variance of the target at every node."""

from itertools import pairwise

import numpy as np

from hornbeam.tree.evidence.means import variances
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["node_variances"]


def node_variances(tree: Tree) -> Floats:
    """Estimate the variance of the rows of every node.

    In a classification tree it is the sum of p (1 - p). In a regression tree it is the variance of the rows, smoothed
    like the means because few rows estimate it badly: a node borrows as many rows from its parent as for its mean, and
    one more.

    Returns
    -------
    float64 array of shape (n_nodes,)

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> tree = TreeRegressor("cart").fit([[0], [1], [2]], [2.0, 6.0, 10.0]).tree_
    >>> node_variances(tree).round(2).tolist()
    [10.67, 5.33, 6.22, 3.11, 3.11]
    """
    if not tree.is_regression:
        of_classes: Floats = (tree.belief * (1 - tree.belief)).sum(axis=1)
        return of_classes
    skeleton, weight = tree.skeleton, tree.weight_in_rows
    own, borrowed, variance = variances(tree.evidence, tree.unit), tree.borrowed + 1.0, np.empty(tree.n_nodes)
    variance[0] = own[0]
    for begin, end in pairwise(skeleton.levels[1:]):
        level = slice(begin, end)
        n, m, above = weight[level], borrowed[level], variance[skeleton.parent[level]]
        variance[level] = (n * own[level] + m * above) / (n + m)
    return variance
