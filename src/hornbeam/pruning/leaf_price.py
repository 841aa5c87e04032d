"""Pruning by what leaves gain in squared loss, as the tree itself believes."""

from dataclasses import dataclass

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.kernels.sums import row_dots
from hornbeam.pruning.bottom_up import bottom_up
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import evidence_stopping, pull_up
from hornbeam.typing import Bools

__all__ = ["LeafPrice"]


@dataclass(frozen=True, slots=True)
class LeafPrice:
    """Keep the subtree that loses least, if every leaf costs `price` rows; smooth first.

    Parameters
    ----------
    price : float, default 0.1
        What a leaf must save: rows times the squared distance between what it believes and what would be
        believed without it.

    Notes
    -----
    A row of a leaf that believes p loses, answered with q, ``1 - |p|**2 + |p - q|**2`` on average, by the
    squared loss over all classes, if p is right. So a node is cut where the distances of the leaves below it
    from its own belief, times their rows, add up to less than the price of these leaves. Raw leaves that are
    all 0 or 1 are never alike and nothing is cut: this is a pruner for smoothed trees, and belief need not
    be estimated again after it.

    Of a numeric target distances are measured in standard deviations of all rows, and halved when squared, as of two
    classes that are as common.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier(smoothing="hgs", pruning=None).fit(X, y).tree_
    >>> tree.n_leaves, LeafPrice(0.1)(tree).n_leaves, LeafPrice(1.0)(tree).n_leaves
    (19, 17, 8)
    """

    price: float = 0.1

    def __post_init__(self) -> None:
        if not self.price >= 0:
            raise ParameterError(f"price={self.price}: expected 0 or more.")

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        return collapse(tree, self.cuts(tree), Step.of("leaf-price", price=self.price))

    def cuts(self, tree: Tree) -> Bools:
        """Find the nodes that become leaves."""
        skeleton, belief = tree.skeleton, tree.belief
        if tree.is_regression:
            belief = StandardisedTarget.of(tree).seen(belief)
        stay = evidence_stopping(skeleton, tree.weight) * tree.unit[0]
        length = row_dots(belief, belief)
        below = pull_up(skeleton, stay[:, None] * np.column_stack((belief, np.ones(len(stay)))))
        as_leaf = below[:, -1] * (1 + length) - 2 * row_dots(below[:, :-1], belief)
        return bottom_up(skeleton, as_leaf + self.price, stay * (1 - length))
