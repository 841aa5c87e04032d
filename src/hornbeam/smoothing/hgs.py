"""Hierarchical gradient smoothing (Zhang, Petitjean, Buntine, PAKDD 2020)."""

from dataclasses import dataclass

from hornbeam.tree.edit import believe
from hornbeam.tree.tree import Step, Tree, raw_belief
from hornbeam.tree.walk import push_down

__all__ = ["HGS"]


@dataclass(frozen=True, slots=True)
class HGS:
    """Every ancestor lends a leaf ``alpha`` rows of its own mixture of classes, nobody ``prior`` even ones.

    Parameters
    ----------
    alpha : float
        Rows lent by each ancestor. The published optimiser starts at 1 and, on data sets of more than a few
        dozen rows, stops there after one step.
    prior : float
        Rows of the uniform distribution lent to every node, so that no probability is ever 0.

    Notes
    -----
    Equation 4 of the paper, with a uniform pseudo-ancestor above the root. Inner nodes are smoothed as if
    they were leaves.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> HGS()(tree).belief[1].round(3).tolist()
    [0.611, 0.389]
    """

    alpha: float = 1.0
    prior: float = 1.0

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        skeleton = tree.skeleton
        weight = tree.evidence * tree.unit
        own = self.alpha * raw_belief(skeleton, tree.evidence)[skeleton.parent]
        own[0] = self.prior / tree.n_classes
        lent = push_down(skeleton, own)
        total = weight + lent
        borrowed = lent.sum(axis=1)
        belief = total / total.sum(axis=1, keepdims=True)
        return believe(tree, belief, borrowed, Step.of("hgs", alpha=self.alpha, prior=self.prior))
