"""Hierarchical shrinkage (Agarwal, Tan, Ronen, Singh, Yu, ICML 2022)."""

from dataclasses import dataclass

import numpy as np

from hornbeam.smoothing.smoother import check_rows
from hornbeam.tree.edit import with_belief
from hornbeam.tree.tree import Step, Tree, unsmoothed
from hornbeam.tree.walk import push_down

__all__ = ["HierarchicalShrinkage"]


@dataclass(frozen=True, slots=True)
class HierarchicalShrinkage:
    """Shorten every step from a parent's frequencies to a child's, the more so the smaller the parent.

    Parameters
    ----------
    strength : float, default 1.0
        The paper's lambda, in rows: a step out of a parent of n rows is divided by ``1 + strength / n``. 0
        leaves the raw frequencies; as it grows every node believes what the root does.

    Notes
    -----
    The estimator of "Hierarchical Shrinkage: improving the accuracy and interpretability of tree-based
    methods", as implemented in imodels. The frequencies of a node of n rows count ``1 / (1 + strength /
    n_parent)``, so it borrows ``strength * n / n_parent`` rows from above: unlike in HGS, no more if it is
    small. A node without rows believes what its parent does. There is no uniform pseudo-ancestor: a class
    that the root lacks has probability 0. Of a numeric target, means are shrunk alike.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> HierarchicalShrinkage()(tree).belief.round(4).tolist()
    [[0.3333, 0.6667], [0.8333, 0.1667], [0.0833, 0.9167]]
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        check_rows("strength", self.strength)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        skeleton, raw = tree.skeleton, unsmoothed(tree)
        parent = np.maximum(skeleton.parent, 0)
        total = tree.weight * tree.unit[0]
        # Below a node without rows every step is 0, whatever it is multiplied by.
        above = np.maximum(total[parent], np.finfo(float).tiny)
        step = raw - raw[parent]
        step *= (above / (above + self.strength))[:, None]
        step[0] = raw[0]  # there the path begins
        belief = push_down(skeleton, step)
        if not tree.is_regression:
            belief = np.maximum(belief, 0.0)  # rounding may go below 0
            belief /= belief.sum(axis=1, keepdims=True)
        borrowed = self.strength * total / above
        borrowed[0] = 0.0
        return with_belief(tree, belief, borrowed, Step.of("shrinkage", strength=self.strength))
