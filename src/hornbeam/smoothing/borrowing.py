"""Borrowing by a few strengths: the smoother that cross-fitting fits."""

from dataclasses import astuple, dataclass

import numpy as np

from hornbeam.kernels.stacked_trees import N_STRENGTHS, StackedTrees
from hornbeam.smoothing.smoother import check_number
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import StandardisedTarget, impurities
from hornbeam.tree.tree import Step, Tree

__all__ = ["Borrowing"]

_MOST = 1e100  # far beyond where the kernel cuts a strength off


@dataclass(frozen=True, slots=True)
class Borrowing:
    r"""Every ancestor lends rows of its frequencies, as many as six strengths say of a node like it.

    Parameters
    ----------
    scale : float, default 1.0
        Logarithm of the rows an ancestor lends, all else being 0.
    size, depth, impurity : float, default 0.0
        How this logarithm grows with the logarithm of the ancestor's rows, with the logarithm of its depth
        (1 at the root), and with its entropy (1 if all classes are alike).
    prior : float, default 0.0
        Logarithm of the rows of the uniform distribution lent to every node.
    own : float, default 0.0
        A node of n rows counts each of them :math:`n^{own}` times: below 0, a large leaf is not trusted as
        much as its rows say.

    Notes
    -----
    With ancestors p of n_p rows, frequencies f_p, depth d_p and entropy H_p (divided by log K),

    .. math::

        \theta_{v,k} = \frac{n_v^{own} n_{v,k} + \sum_p \alpha_p f_{p,k} + \alpha_0 / K}
                            {n_v^{1 + own} + \sum_p \alpha_p + \alpha_0}, \qquad
        \log \alpha_p = scale + size \log n_p + depth \log(1 + d_p) + impurity\, H_p, \qquad
        \log \alpha_0 = prior

    All strengths 0 are `HGS`. `hornbeam.tuning.CrossFitted` finds the strengths on rows that were held out of
    regrown trees; by hand they are rarely better than `HGS`.

    Of a numeric target, ancestors lend rows of their mean, nobody in particular those of the mean of all rows, and the
    impurity of a node is its variance as a part of that of all rows (`hornbeam.tree.evidence.standardised`).

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Borrowing(scale=0.0)(tree).belief[1].round(3).tolist()
    [0.611, 0.389]
    >>> Borrowing(scale=2.0)(tree).belief[1].round(3).tolist()
    [0.422, 0.578]
    """

    scale: float = 1.0
    size: float = 0.0
    depth: float = 0.0
    impurity: float = 0.0
    prior: float = 0.0
    own: float = 0.0

    def __post_init__(self) -> None:
        for name in N_STRENGTHS:
            check_number(name, getattr(self, name), -_MOST, _MOST)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        strengths = dict(zip(N_STRENGTHS, astuple(self), strict=True))
        values = np.array(list(strengths.values()), np.float64)
        if tree.is_regression:
            standard = StandardisedTarget.of(tree)
            shares, impurity = standard.of_tree(tree), impurities(tree, standard)
            share, borrowed = StackedTrees(tree.skeleton.parent, shares, impurity=impurity).believe(values)
            belief = standard.means(share[:, 1:])
        else:
            belief, borrowed = StackedTrees(tree.skeleton.parent, tree.evidence * tree.unit).believe(values)
        return with_belief(tree, belief, borrowed, Step.of("borrowing", **strengths))
