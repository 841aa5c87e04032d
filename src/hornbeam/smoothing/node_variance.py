"""Estimated variance of the target at every node."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree.evidence.means import variances
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import with_ancestors
from hornbeam.typing import Floats

__all__ = ["node_variances"]


def node_variances(tree: Tree, nodes: NDArray[np.integer[Any]] | None = None) -> Floats:
    """Estimate the variance of the rows of every node, or of some nodes.

    In a classification tree it is the sum of p (1 - p). In a regression tree it is the variance of the rows, smoothed
    like the means because few rows estimate it badly: a node borrows as many rows from its parent as for its mean, and
    one more.
    """
    skeleton = tree.skeleton
    nodes = np.arange(tree.n_nodes) if nodes is None else nodes
    if not tree.is_regression:
        belief = tree.belief[nodes]
        of_classes: Floats = (belief * (1 - belief)).sum(axis=1)
        return of_classes
    needed = with_ancestors(skeleton, nodes)
    parent = np.searchsorted(needed, skeleton.parent[needed])
    weight, borrowed = tree.weight_at(needed), tree.borrowed[needed] + 1.0
    own = variances(tree.evidence[needed], tree.unit)
    variance = own.copy()  # of the root; the others follow level by level
    for begin, end in pairwise(np.searchsorted(needed, skeleton.levels[1:])):
        level = slice(begin, end)
        n, m, above = weight[level], borrowed[level], variance[parent[level]]
        variance[level] = (n * own[level] + m * above) / (n + m)
    return variance[np.searchsorted(needed, nodes)]
