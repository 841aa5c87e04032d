"""M-branch smoothing (Ferri, Flach, Hernández-Orallo, ECML 2003)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from hornbeam.smoothing.smoother import NamedSmoother, all_from_one, check_rows
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import heights
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True)
class MBranch(NamedSmoother):
    """Smooth each branch from the root down: every node borrows from its parent, most near the root.

    Parameters
    ----------
    m : float, default 1.0
        Rows a leaf borrows from its parent's smoothed estimate. A node of height h on a branch borrows
        ``m (1 + (1 - 1/h) sqrt(N))``, where a leaf has height 1 and N is the weight of all training rows.

    Notes
    -----
    "Improving the AUC of probabilistic estimation trees" (ECML 2003, pp. 121-132), with the formulas as the
    authors of the HGS paper programmed them; the default m = 1 is theirs. Heights are counted along each branch, so
    a node has one value per length of the branches through it. The prediction of an inner node is its value at the
    end of its own branch. In a regression tree the root borrows rows of its own mean.

    The work per node is its classes times its height in the tree, which is less than a walk from every leaf.

    References
    ----------
    Ferri, Flach and Hernández-Orallo (2003) :cite:p:`ferri2003`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> MBranch()(tree).belief.round(4).tolist()
    [[0.375, 0.625], [0.6986, 0.3014], [0.1324, 0.8676]]
    """

    name: ClassVar[str] = "m-branch"
    for_regression: ClassVar[bool] = True

    m: float = 1.0

    def __post_init__(self) -> None:
        check_rows("m", self.m, some=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        borrowed = np.full(tree.n_nodes, float(self.m))
        if tree.is_regression:
            standard = StandardisedTarget.of(tree)
            belief = standard.means(self._belief(tree, standard.of_tree(tree))[:, 1:])
        else:
            belief = self._belief(tree, tree.evidence * tree.unit)
        return with_belief(tree, belief, borrowed, Step.of(self.name, m=self.m))

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> Floats:
        """All pseudo-counts are from the parent; they have its smoothed distribution."""
        return all_from_one(tree, path, -1)

    def _belief(self, tree: Tree, weight: Floats) -> Floats:
        skeleton, k = tree.skeleton, weight.shape[1]
        total = weight.sum(axis=1)
        # The values of a node are a run, one per number of levels below it: 0, ..., its height.
        run = heights(skeleton) + 1
        pseudo_count = self.m * (1 + (1 - 1 / (1 + np.arange(run[0]))) * np.sqrt(total[0]))
        belief = np.empty(weight.shape)
        # Above the root is the uniform distribution, for branches of any length.
        values = np.full((run[0] + 1, k), 1 / k)
        start = np.zeros(tree.n_nodes, np.intp)  # where the run of each node begins, within its level
        for begin, end in pairwise(skeleton.levels):
            size = run[begin:end]
            start[begin:end] = np.cumsum(size) - size
            node = np.repeat(np.arange(begin, end), size)
            below = np.arange(len(node)) - start[node]
            prior = values[start[skeleton.parent[node]] * (begin > 0) + below + 1]
            m = pseudo_count[below]
            values = (weight[node] + m[:, None] * prior) / (total[node] + m)[:, None]
            belief[begin:end] = values[start[begin:end]]
        return belief
