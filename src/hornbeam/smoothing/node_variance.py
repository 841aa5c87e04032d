"""How far the rows of a node lie apart, as the tree believes."""

from itertools import pairwise

import numpy as np

from hornbeam.tree.evidence.means import variances
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["node_variances"]


def node_variances(tree: Tree) -> Floats:
    """Estimate the variance of the rows of every node.

    Of classes that is the sum of p (1 - p). Of a numeric target the rows themselves tell; where they are few they tell
    little, and a single row nothing, so variance is borrowed as means are: from the node above, as many rows as the
    node borrows and one more.

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
        uncertain: Floats = (tree.belief * (1 - tree.belief)).sum(axis=1)
        return uncertain
    skeleton, weight = tree.skeleton, tree.weight * tree.unit[0]
    own, lent, spread = variances(tree.evidence, tree.unit), tree.borrowed + 1.0, np.empty(tree.n_nodes)
    spread[0] = own[0]
    for begin, end in pairwise(skeleton.levels[1:]):
        level = slice(begin, end)
        above = spread[skeleton.parent[level]]
        spread[level] = (weight[level] * own[level] + lent[level] * above) / (weight[level] + lent[level])
    return spread
