"""Estimates that look at one node alone."""

from dataclasses import dataclass

import numpy as np

from hornbeam.tree.edit import believe
from hornbeam.tree.tree import Step, Tree

__all__ = ["Laplace"]


@dataclass(frozen=True, slots=True)
class Laplace:
    """Add one row of each class to every node: (n_k + 1) / (n + K).

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Laplace()(tree).belief.round(4).tolist()
    [[0.4, 0.6], [0.6667, 0.3333], [0.25, 0.75]]
    """

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        weight = tree.evidence * tree.unit + 1.0
        belief = weight / weight.sum(axis=1, keepdims=True)
        borrowed = np.full(tree.n_nodes, float(tree.n_classes))
        return believe(tree, belief, borrowed, Step.of("laplace"))
