"""Pruning by a price per leaf, in units of the squared loss that the leaf saves, or to a number of leaves."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.checks import check_choice, check_number, check_whole
from hornbeam.kernels.elementary import row_dots
from hornbeam.kernels.sweep import WeakestLinks, weakest_links
from hornbeam.pruning.bottom_up import bottom_up
from hornbeam.tree.edit import collapse, keep_best_leaves
from hornbeam.tree.evidence.standardised import LOSSES, StandardisedTarget
from hornbeam.tree.feature_costs import PER_CENT, FeatureCosts
from hornbeam.tree.several import roots
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import evidence_stopping, pull_up
from hornbeam.typing import Bools, Floats

_HALF = 0.5  # squared loss over two classes of equal frequency, which a numeric target is scaled to
_LEAST = 1e-300  # no division by zero rows


@dataclass(frozen=True, slots=True)
class LeafPrice:
    """Keep the subtree of least expected squared loss plus `price` per leaf; smooth first.

    Parameters
    ----------
    price : float, default 0.1
        Least saving of a leaf: its rows times the squared distance between its prediction and the one without it.
    loss : {"squared_error", "poisson", "gamma"}, default "squared_error"
        For a numeric target, the loss that a leaf saves.

    Notes
    -----
    A row of a leaf with the probabilities p has the expected squared loss ``1 - |p|**2 + |p - q|**2`` over all
    classes if q is predicted and p is right. So a node is cut where the squared distances between its prediction and
    those of the leaves below it, times their rows, add up to less than the price of these leaves. Raw leaves with
    probabilities of 0 and 1 all differ, and nothing is cut: this is a pruner for smoothed trees. They need not be
    smoothed again.

    A tree with prices of columns (`feature_costs`) has the loss and price of its rows in place of the loss.

    In a regression tree distances are in standard deviations of all rows, and their squares are halved, as for two
    classes of equal frequency. A deviance is halved and divided by the dispersion of all rows, which is the same for
    small distances.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier(smoothing="hgs", pruning=None).fit(X, y).tree_
    >>> tree.n_leaves, LeafPrice(0.1)(tree).n_leaves, LeafPrice(1.0)(tree).n_leaves
    (19, 17, 8)
    """

    _for_several: ClassVar[bool] = True  # works for trees side by side (`hornbeam.tree.several`)

    price: float = 0.1
    loss: str = "squared_error"

    def __post_init__(self) -> None:
        check_number("price", self.price, 0)
        check_choice("loss", self.loss, LOSSES)

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        tree = single_tree(tree)
        loss = {} if self.loss == "squared_error" else {"loss": self.loss}
        return collapse(tree, self.cuts(tree), Step.of("leaf-price", price=self.price, **loss))

    def cuts(self, tree: Tree) -> Bools:
        """Find the nodes that become leaves."""
        as_leaf, staying = _expected_losses(tree, self.loss)
        return bottom_up(tree.skeleton, as_leaf + self.price, staying)


def price_links(tree: Tree, loss: str = "squared_error") -> WeakestLinks:
    """Find for every node the price from which on `LeafPrice` makes it a leaf.

    Subtrees of increasing prices are nested, so all of them are known from one sweep.
    """
    as_leaf, staying = _expected_losses(tree, loss)
    skeleton = tree.skeleton
    staying = np.where(skeleton.is_leaf, 0.0, staying)
    return weakest_links(skeleton.first_child, skeleton.n_children, as_leaf, staying)


def _expected_losses(tree: Tree, loss: str) -> tuple[Floats, Floats]:
    """Return the expected loss of each node's rows if it is a leaf, and of those that stop there."""
    skeleton, belief = tree.skeleton, tree.belief
    if tree.is_regression:
        mean, level, slope, own = StandardisedTarget.of(tree).expected_losses(belief[:, 0], loss)
        belief, slope = mean[:, None], slope[:, None]
    else:
        length = row_dots(belief, belief)
        level, slope, own = 1 + length, -2 * belief, 1 - length
    stay = evidence_stopping(skeleton, tree.weight) * tree.unit[0]
    below = pull_up(skeleton, stay[:, None] * np.column_stack((belief, np.ones(len(stay)))))
    as_leaf = below[:, -1] * level + row_dots(below[:, :-1], slope)
    staying = stay * own
    costs = FeatureCosts.of(tree)
    return as_leaf, staying if costs is None else staying + _prices(costs, tree, as_leaf)


def _prices(costs: FeatureCosts, tree: Tree, as_leaf: Floats) -> Floats:
    """Return what the rows of each node pay for its split, as squared loss.

    One unit of price is a share of the loss of predicting the same for every row, as in growing.
    """
    root, rows = roots(tree.skeleton), tree.weight_in_rows
    most = np.full(tree.n_nodes, _HALF) if tree.is_regression else (as_leaf / np.maximum(rows, _LEAST))[root]
    return PER_CENT * costs.weight * costs.paid(tree) * rows * most


@dataclass(frozen=True, slots=True)
class LeafBudget:
    """Keep the splits that a best-first grower would have made with this many leaves.

    Parameters
    ----------
    n_leaves : int
        Maximum number of leaves.

    Notes
    -----
    A split depends on its own rows alone, so best-first growth makes the splits of the full tree, from the root on in
    the order of gain times weight (Friedman, Hastie and Tibshirani, Annals of Statistics 28, 2000). Splits
    of unknown gain come last.

    References
    ----------
    Friedman, Hastie and Tibshirani (2000) :cite:p:`friedman2000`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TreeClassifier("cart").fit(X, y).tree_
    >>> small = LeafBudget(3)(tree)
    >>> tree.n_leaves, small.n_leaves
    (9, 3)
    >>> small.digest == TreeClassifier("cart", max_leaf_nodes=3).fit(X, y).tree_.digest
    True
    """

    n_leaves: int

    def __post_init__(self) -> None:
        check_whole("n_leaves", self.n_leaves, 1)

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        tree = single_tree(tree)
        return keep_best_leaves(tree, self.n_leaves)
