"""M-branch smoothing (Ferri, Flach, Hernández-Orallo, ECML 2003)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hornbeam.smoothing.smoother import check_rows
from hornbeam.tree.edit import believe
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import heights
from hornbeam.typing import Floats

__all__ = ["MBranch"]


@dataclass(frozen=True, slots=True)
class MBranch:
    """Smooth each branch from the root down: every node borrows from the one above, most of all near the root.

    Parameters
    ----------
    m : float, default 1.0
        Rows a leaf borrows from its parent's smoothed estimate. A node of height h on a branch borrows
        ``m (1 + (1 - 1/h) sqrt(N))``, where a leaf has height 1 and N is the weight of the whole training set.

    Notes
    -----
    "Improving the AUC of probabilistic estimation trees" (ECML 2003), section 4, exactly as published: heights are
    counted along each branch, so a node has another value on each branch of another length. The belief of an
    inner node is the one it has as the end of its own branch.

    A node has one value for each number of levels below it, so the work is a node's classes times its height
    in the tree, which is less than a walk from every leaf.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> MBranch()(tree).belief.round(4).tolist()
    [[0.375, 0.625], [0.7011, 0.2989], [0.1341, 0.8659]]
    """

    m: float = 1.0

    def __post_init__(self) -> None:
        check_rows("m", self.m, some=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        borrowed = np.full(tree.n_nodes, float(self.m))
        return believe(tree, self._belief(tree), borrowed, Step.of("m-branch", m=self.m))

    def _belief(self, tree: Tree) -> Floats:
        skeleton, weight = tree.skeleton, tree.evidence * tree.unit
        total = weight.sum(axis=1)
        # The values of a node are a run, one for each number of levels below it: 0, ..., its height.
        run = heights(skeleton) + 1
        lent = self.m * (1 + (1 - 1 / (1 + np.arange(run[0]))) * np.sqrt(total[0]))
        belief = np.empty(weight.shape)
        above, begin_above, parent_begin = np.full((run[0] + 1, tree.n_classes), 1 / tree.n_classes), 0, 0
        begins = np.zeros(1, np.intp)
        for begin, end in pairwise(skeleton.levels):
            parent = np.maximum(skeleton.parent[begin:end], 0) - begin_above
            size = run[begin:end]
            node = np.repeat(np.arange(end - begin), size)
            starts = np.cumsum(size) - size
            levels = np.arange(len(node)) - starts[node]
            prior = above[begins[parent][node] + levels + 1]
            m = lent[levels]
            above = (weight[begin:end][node] + m[:, None] * prior) / (total[begin:end][node] + m)[:, None]
            belief[begin:end] = above[starts]
            begins, begin_above = starts, begin
        return belief
