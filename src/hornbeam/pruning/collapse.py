"""C4.5's collapse of subtrees that save no training errors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.pruning.pruner import NamedPruner
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import pull_up

__all__ = ["Collapse"]


@dataclass(frozen=True, slots=True)
class Collapse(NamedPruner):
    """Replace a subtree by a leaf where it makes no fewer training errors.

    C4.5 and J48 always do this after growing, even with pruning switched off; C4.4 does not.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import TreeClassifier
    >>> X, y = np.array([[0], [1], [2], [3], [4], [5]]), [0, 0, 1, 0, 0, 0]
    >>> tree = TreeClassifier(preset="id3", max_depth=1).fit(X, y).tree_
    >>> tree.n_leaves, Collapse()(tree).n_leaves
    (2, 1)
    """

    name: ClassVar[str] = "collapse"

    tolerance: float = 1e-3

    def __call__(self, tree: Tree) -> Tree:
        """Return the collapsed tree."""
        expect_classes(tree, "Collapsing")
        weight = tree.evidence * tree.unit
        errors = weight.sum(axis=1) - weight.max(axis=1)
        below = pull_up(tree.skeleton, np.where(tree.skeleton.is_leaf, errors, 0.0))
        useless = ~tree.skeleton.is_leaf & (below >= errors - self.tolerance)
        return collapse(tree, useless, Step.of(self.name, tolerance=self.tolerance))
