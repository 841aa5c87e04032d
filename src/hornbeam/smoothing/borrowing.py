"""Borrowing with six strengths: the smoother that `hornbeam.tuning.CrossFitted` fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from hornbeam.checks import check_number
from hornbeam.kernels.smoothing import STRENGTH_NAMES, StackedTrees
from hornbeam.smoothing.smoother import NamedSmoother
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import StandardisedTarget, impurities
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.typing import Floats

_MOST = 1e100  # far beyond where the kernel cuts a strength off


@dataclass(frozen=True, slots=True)
class Borrowing(NamedSmoother):
    r"""Add rows with the frequencies of each ancestor; six strengths give their number.

    Parameters
    ----------
    scale : float, default 1.0
        Logarithm of the rows borrowed from an ancestor, if all other strengths are 0.
    size, depth, impurity : float, default 0.0
        How this logarithm grows with the logarithm of the ancestor's rows, with the logarithm of its depth
        (1 at the root), and with its entropy (1 if all classes are equally frequent).
    prior : float, default 0.0
        Logarithm of the rows of the uniform distribution added to every node.
    own : float, default 0.0
        A node of n rows counts each of them :math:`n^{own}` times. Below 0, rows of a large leaf count less than
        those of a small one.

    Notes
    -----
    With ancestors p of n_p rows, frequencies f_p, depth d_p and entropy H_p (divided by log K),

    .. math::

        \theta_{v,k} = \frac{n_v^{own} n_{v,k} + \sum_p \alpha_p f_{p,k} + \alpha_0 / K}
                            {n_v^{1 + own} + \sum_p \alpha_p + \alpha_0}, \qquad
        \log \alpha_p = scale + size \log n_p + depth \log(1 + d_p) + impurity\, H_p, \qquad
        \log \alpha_0 = prior

    With all strengths 0 this is `HGS`. ``smoothing="cross-fitted"`` finds the strengths on held-out rows; set by
    hand they are rarely better than `HGS`.

    In a regression tree rows with the mean of each ancestor are added, those of the prior have the mean of all rows,
    and the impurity of a node is its variance divided by that of all rows (`hornbeam.tree.evidence.standardised`).

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Borrowing(scale=0.0)(tree).belief[1].round(3).tolist()
    [0.611, 0.389]
    >>> Borrowing(scale=2.0)(tree).belief[1].round(3).tolist()
    [0.422, 0.578]
    """

    name: ClassVar[str] = "borrowing"
    for_regression: ClassVar[bool] = True
    needs_only_ancestors: ClassVar[bool] = True
    _for_several: ClassVar[bool] = True  # works for trees side by side (`hornbeam.tree.several`)

    scale: float = 1.0
    size: float = 0.0
    depth: float = 0.0
    impurity: float = 0.0
    prior: float = 0.0
    own: float = 0.0

    def __post_init__(self) -> None:
        for name in STRENGTH_NAMES:
            check_number(name, getattr(self, name), -_MOST, _MOST)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        belief, borrowed = BorrowingTree.of(tree).predict(self)
        strengths = dict(zip(STRENGTH_NAMES, self._strengths, strict=True))
        return with_belief(tree, belief, borrowed, Step.of(self.name, **strengths))

    @property
    def _strengths(self) -> tuple[float, ...]:
        return self.scale, self.size, self.depth, self.impurity, self.prior, self.own

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> Floats:
        """Each step down the path adds the pseudo-counts from the parent, in units of the node's own rows."""
        nodes = list(path)
        size = np.log(np.maximum(tree.weight_at(nodes), 1.0))
        factor = np.exp(np.clip(self.own * size, -10.0, 12.0))  # with the bounds of the kernel
        counts: Floats = np.diff(tree.borrowed[nodes] * factor, prepend=0.0) / factor[-1]
        return counts


class BorrowingTree(NamedTuple):
    """A tree that is smoothed with several strengths: the logarithms of its counts are computed once."""

    stacked: StackedTrees
    standard: StandardisedTarget | None

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """Prepare a tree, or trees side by side."""
        parent = tree.skeleton.parent
        if not tree.is_regression:
            return cls(StackedTrees(parent, tree.evidence * tree.unit), None)
        standard = StandardisedTarget.of(tree)
        return cls(
            StackedTrees(parent, standard.of_tree(tree), impurity=impurities(tree, standard)), standard
        )

    def predict(self, borrowing: Borrowing) -> tuple[Floats, Floats]:
        """Return the belief of every node, and the rows that it borrows."""
        belief, borrowed = self.stacked.predict(np.array(borrowing._strengths, np.float64))
        return (belief if self.standard is None else self.standard.means(belief[:, 1:])), borrowed
