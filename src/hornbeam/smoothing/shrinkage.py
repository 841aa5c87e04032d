"""Hierarchical shrinkage (Agarwal, Tan, Ronen, Singh, Yu, ICML 2022)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.smoothing.smoother import NamedSmoother, check_rows
from hornbeam.tree.edit import with_belief
from hornbeam.tree.tree import Step, Tree, unsmoothed
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import push_down
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True)
class HierarchicalShrinkage(NamedSmoother):
    """Shrink the difference between the frequencies of a parent and a child, most where the parent is small.

    Parameters
    ----------
    strength : float, default 1.0
        The paper's lambda, in rows: the difference from a parent of n rows is divided by ``1 + strength / n``. 0
        leaves the raw frequencies; a very large value gives every node the prediction of the root.

    Notes
    -----
    The estimator of "Hierarchical Shrinkage: improving the accuracy and interpretability of tree-based
    methods", as implemented in imodels. The frequencies of a node of n rows count ``1 / (1 + strength /
    n_parent)``, so it borrows ``strength * n / n_parent`` rows from its ancestors; unlike in HGS, small nodes do not
    borrow more. A node without rows has the prediction of its parent. There is no uniform prior: a class that the
    root lacks has probability 0. In a regression tree means are shrunk in the same way.

    References
    ----------
    Agarwal, Tan, Ronen, Singh and Yu (2022) :cite:p:`agarwal2022`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> HierarchicalShrinkage()(tree).belief.round(4).tolist()
    [[0.3333, 0.6667], [0.8333, 0.1667], [0.0833, 0.9167]]
    """

    name: ClassVar[str] = "hierarchical-shrinkage"
    for_regression: ClassVar[bool] = True
    needs_only_ancestors: ClassVar[bool] = True

    strength: float = 1.0

    def __post_init__(self) -> None:
        check_rows("strength", self.strength)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        skeleton, raw = tree.skeleton, unsmoothed(tree)
        parent = np.maximum(skeleton.parent, 0)
        total = tree.weight_in_rows
        # Below a node without rows every difference is 0, whatever its factor.
        above = np.maximum(total[parent], np.finfo(float).tiny)
        difference = raw - raw[parent]
        difference *= (above / (above + self.strength))[:, None]
        difference[0] = raw[0]
        belief = push_down(skeleton, difference)
        if not tree.is_regression:
            belief = np.maximum(belief, 0.0)  # rounding may go below 0
            belief /= belief.sum(axis=1, keepdims=True)
        borrowed = self.strength * total / above
        borrowed[0] = 0.0
        return with_belief(tree, belief, borrowed, Step.of(self.name, strength=self.strength))

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> Floats:
        """Each ancestor keeps the part of its frequencies that the next difference on the path loses."""
        weight, tiny = tree.weight_at(list(path)), np.finfo(float).tiny
        lost = np.append(0.0, self.strength / np.maximum(weight[:-1] + self.strength, tiny))
        return np.append(0.0, np.diff(lost) * weight[-1] / max(1 - lost[-1], tiny))
