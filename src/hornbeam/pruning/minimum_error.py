"""Minimum-error pruning (Niblett and Bratko, 1986; Cestnik and Bratko, EWSL 1991)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.checks import check_number
from hornbeam.kernels.elementary import row_sums
from hornbeam.pruning.bottom_up import bottom_up, stopping_at_inner
from hornbeam.pruning.pruner import NamedPruner
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree


@dataclass(frozen=True, slots=True)
class MinimumError(NamedPruner):
    """Replace a subtree by a leaf where the expected number of errors is no higher.

    Parameters
    ----------
    m : float, optional
        A node that has n rows, n_k of them of class k, expects ``n * min_k (1 - (n_k + m * p_k) / (n +
        m))`` errors, where p are the class frequencies of the root: m pseudo-rows of the base rate.
        The larger m, the more a split must show, and usually the smaller the tree. Default: Laplace's
        estimate, K imaginary rows, one of each class.

    Notes
    -----
    The default is `BayesRisk` with equal costs on a tree smoothed by Laplace's estimate; m came with Cestnik
    and Bratko.

    References
    ----------
    Niblett and Bratko (1986) :cite:p:`niblett1986`; Cestnik and Bratko (1991) :cite:p:`cestnik1991`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("c4.4").fit(*load_breast_cancer(return_X_y=True)).tree_
    >>> tree.n_leaves, MinimumError()(tree).n_leaves, MinimumError(m=50)(tree).n_leaves
    (17, 13, 5)
    """

    name: ClassVar[str] = "minimum-error"

    m: float | None = None

    def __post_init__(self) -> None:
        if self.m is not None:
            check_number("m", self.m, 0, 1e100, what="None or a number of pseudo-rows")

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        tree = single_tree(tree)
        expect_classes(tree, "Minimum-error pruning")
        weight = tree.evidence * tree.unit
        total = row_sums(weight)
        k = tree.n_classes
        pseudo = np.ones(k) if self.m is None else self.m * weight[0] / max(total[0], 1.0)
        most, n = (weight + pseudo).max(axis=1), total + pseudo.sum()
        # A node without rows has no expected errors; with m = 0 its rate would be 0 / 0.
        rate = 1 - np.divide(most, n, out=np.ones_like(most), where=n > 0)
        cut = bottom_up(
            tree.skeleton, total * rate, stopping_at_inner(tree.skeleton, total) * rate, relative=1e-12
        )
        return collapse(tree, cut, Step.of(self.name, m=self.m))
