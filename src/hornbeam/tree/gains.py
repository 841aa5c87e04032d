"""Total gain of the splits on each feature."""

import numpy as np

from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["gains"]


def gains(tree: Tree) -> Floats:
    """Add up the gains of the splits on each feature, weighted by the rows of the node.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0, 1], [1, 0], [1, 1], [1, 1]], ["a", "a", "b", "b"]).tree_
    >>> (3 * gains(tree)).round(3).tolist()
    [2.0, 4.0]
    """
    inner = np.flatnonzero(tree.skeleton.n_children)
    weighted = tree.gain[inner] * tree.weight[inner]
    return np.bincount(tree.skeleton.feature[inner], weighted, minlength=tree.schema.n_features)
