"""Cost-complexity pruning (Breiman, Friedman, Olshen and Stone, CART, 1984, chapter 3)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.checks import check_choice, check_number
from hornbeam.data.fixed_point import unit_scaled
from hornbeam.grid import Result
from hornbeam.kernels.elementary import log2, row_dots, row_sums
from hornbeam.kernels.sweep import WeakestLinks, weakest_links
from hornbeam.pruning.bottom_up import stopping_at_inner
from hornbeam.pruning.pruner import NamedPruner
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.typing import Counts, Floats

_IMPURITIES = ("gini", "entropy", "error")
_TOLERANCE = 1e-12  # of the root's impurity: rounding error between two links that are equally weak


@dataclass(frozen=True, slots=True)
class CostComplexity(NamedPruner):
    """Keep the subtree whose impurity plus `alpha` per leaf is least; the smallest of equals.

    Parameters
    ----------
    alpha : float, default 0.0
        Penalty per leaf, as a share of all rows times their impurity: scikit-learn's ``ccp_alpha``.
    impurity : {"gini", "entropy", "error"}, default "gini"
        Cost per row of a leaf. In a regression tree "gini" is the squared error, which it also is of classes as columns
        of 0 and 1; the others are for classification alone.

    See Also
    --------
    hornbeam.TreeClassifier.cost_complexity_path : every alpha at which the tree changes.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), chapter 3 :cite:p:`breiman1984`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit(*load_breast_cancer(return_X_y=True)).tree_
    >>> tree.n_leaves, CostComplexity(0.01)(tree).n_leaves
    (22, 6)
    """

    name: ClassVar[str] = "cost-complexity"
    for_regression: ClassVar[bool] = True

    alpha: float = 0.0
    impurity: str = "gini"

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0)
        check_choice("impurity", self.impurity, _IMPURITIES)

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        tree = single_tree(tree)
        links, scale = _links(tree, self.impurity)
        cut = links.alpha <= self.alpha + _TOLERANCE * scale
        return collapse(tree, cut, Step.of(self.name, alpha=self.alpha, impurity=self.impurity))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostComplexityPath(Result[dict[str, float]]):
    """The nested subtrees of a tree, from the full tree to its root; printed, a line per subtree.

    Parameters
    ----------
    alphas : float64 array
        ``CostComplexity(alphas[i])`` makes the i-th subtree, which is the best one up to ``alphas[i + 1]``.
        Increasing.
    impurities : float64 array
        Impurity of its leaves, weighted by their share of the rows.
    n_leaves : int64 array
        Its number of leaves.

    Examples
    --------
    >>> import numpy as np
    >>> CostComplexityPath(np.array([0.0, 0.16]), np.array([0.32, 0.48]), np.array([2, 1]))
    alphas  impurities  n_leaves
         0        0.32         2
      0.16        0.48         1
    """

    _COLUMNS: ClassVar = ("alphas", "impurities", "n_leaves")

    alphas: Floats
    impurities: Floats
    n_leaves: Counts


def cost_complexity_path(tree: Tree, impurity: str = "gini") -> CostComplexityPath:
    """Find every alpha at which the best subtree changes; see `TreeClassifier.cost_complexity_path`."""
    check_choice("impurity", impurity, _IMPURITIES)
    links, scale = _links(tree, impurity)
    cuts = np.flatnonzero(links.happens)
    cuts = cuts[np.argsort(links.alpha[cuts], kind="stable")]
    alphas = np.maximum(links.alpha[cuts], 0.0)
    added, fewer = np.cumsum(links.added[cuts]), np.cumsum(links.fewer[cuts])
    # Of cuts at the same alpha the last has the sums of all; the first subtree is that of alpha 0.
    last = np.append(np.diff(alphas) > _TOLERANCE * scale, True)[: len(cuts)]
    alphas, added, fewer = alphas[last], added[last], fewer[last]
    if not len(alphas) or alphas[0] > _TOLERANCE * scale:
        alphas, added, fewer = (np.append(0, array) for array in (alphas, added, fewer))
    else:
        alphas[0] = 0.0
    impurities = scale - links.added[links.happens].sum() + added
    return CostComplexityPath(alphas, impurities, tree.n_leaves - fewer.astype(np.int64))


def cost_complexity_pruners(tree: Tree, impurity: str = "gini") -> tuple[CostComplexity, ...]:
    """List a pruner for every subtree on the path of a tree, the largest first.

    As in CART, alphas are the geometric means of the bounds of the intervals in which the subtrees are best: they
    represent an interval when alphas are compared on other trees (`hornbeam.tuning.CrossValidated`).
    """
    alphas = cost_complexity_path(tree, impurity).alphas
    scaled, scale = unit_scaled(alphas)  # products of huge alphas would overflow
    middles = np.append(np.sqrt(scaled[:-1] * scaled[1:]) * scale, alphas[-1])
    return tuple(CostComplexity(alpha, impurity) for alpha in middles.tolist())


def cut_alphas(tree: Tree, impurity: str = "gini") -> Floats:
    """Find for every node the smallest alpha at which it is cut; infinite on a leaf.

    A node is a leaf of ``CostComplexity(alpha)(tree)`` from its own value on, and removed from the smallest value of
    its ancestors on.
    """
    check_choice("impurity", impurity, _IMPURITIES)
    links, scale = _links(tree, impurity)
    return links.alpha - _TOLERANCE * scale


def _links(tree: Tree, impurity: str) -> tuple[WeakestLinks, float]:
    """Return the alpha at which each node is cut, and the impurity of the root."""
    total = tree.weight_in_rows
    each = _impurities(tree, impurity) / max(total[0], 1.0)
    as_leaf = total * each
    skeleton = tree.skeleton
    staying = stopping_at_inner(skeleton, total) * each
    links = weakest_links(skeleton.first_child, skeleton.n_children, as_leaf, staying)
    return links, float(as_leaf[0])


def _impurities(tree: Tree, impurity: str) -> Floats:
    if tree.is_regression:
        if impurity != "gini":
            expect_classes(tree, f"impurity={impurity!r}")
        return variances(tree.evidence, tree.unit)
    weight = tree.evidence * tree.unit
    total = row_sums(weight)
    share = np.divide(weight, total[:, None], out=np.zeros_like(weight), where=total[:, None] > 0)
    if impurity == "gini":
        each: Floats = 1 - row_dots(share, share)
    elif impurity == "entropy":
        each = -np.where(share > 0, share * log2(np.where(share > 0, share, 1.0)), 0.0).sum(axis=1)
    else:
        each = 1 - share.max(axis=1)
    return each
