"""The choice of the size of a tree by losses on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.pruning.leaf_price import LeafPrice, price_links
from hornbeam.pruning.pruner import Pruner
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.feature_costs import FeatureCosts
from hornbeam.tree.several import apart, root_weights
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import n_roots, push_down
from hornbeam.tuning.candidate_losses import evaluate_alphas, losses
from hornbeam.tuning.folds import FoldTrees
from hornbeam.tuning.size_path import SizePath
from hornbeam.typing import Bools, Counts, Floats

_ENOUGH_ROWS, _LEAST_ROWS = 0.85, 0.5  # rows of a fold tree, as a share of those of the tree
_LOWEST = 0.2  # a price without a noticeable loss of accuracy on any kind of data


@dataclass(frozen=True, slots=True, eq=False)
class SizeChoice:
    """Prunes a smoothed tree to the smallest size within a tolerance, and records all sizes in its history.

    `tolerance` is the share by which the held-out loss may be above that of the size at the lowest price of a leaf. 0:
    that size.
    """

    held_out: HeldOutLoss
    tolerance: float
    max_leaf_nodes: int | None = None

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        pruner, path = self._choose(tree)
        if not np.isnan(path.loss[0]):
            tree = collapse(tree, np.zeros(tree.n_nodes, np.bool_), path.step())
        return pruner(tree)

    def cuts(self, trees: Tree) -> Bools:
        """Find the nodes of several trees that become leaves; at tolerance 0 without a comparison of sizes."""
        if self._at_lowest:
            return self._pruner(self.held_out.lowest).cuts(trees)
        cut = np.zeros(trees.n_nodes, np.bool_)
        for tree, nodes in apart(trees):
            cut[nodes] = self._choose(tree)[0].cuts(tree)
        return cut

    @property
    def _at_lowest(self) -> bool:
        """Whether the size is the one at the lowest price, whatever the sizes are."""
        return self.tolerance == 0 and self.max_leaf_nodes is None

    def _choose(self, tree: Tree) -> tuple[LeafPrice, SizePath]:
        price, n_leaves = self._nested_sizes(tree)
        if self.max_leaf_nodes is not None:
            first = int((n_leaves <= self.max_leaf_nodes).argmax())
            price, n_leaves = price[first:], n_leaves[first:]
        loss = self.held_out.at(price / tree.weight_in_rows[0])
        loss = loss[0] + (loss - loss[0]) * self._learning(tree)
        path = SizePath(n_leaves, loss, price=_mean_prices(tree, price, self.held_out.measure))
        return self._pruner(float(price[path.position(self.tolerance)])), path

    def _pruner(self, price: float) -> LeafPrice:
        return LeafPrice(price, self.held_out.measure)

    def _learning(self, tree: Tree) -> float:
        """Return the factor of the losses of smaller sizes, above 1 where the fold trees had far fewer rows.

        More rows help a large tree more than a small one, so that its lead on new rows is larger than on held-out rows.
        """
        share = self.held_out.rows / float(tree.weight_in_rows[0])
        share = max(share, _LEAST_ROWS)
        return 1.0 if share >= _ENOUGH_ROWS else 1 / (share * share)

    def for_simulations(self, chosen: int) -> Pruner:
        """Return the pruner for trees of simulated targets, beside a tree of `chosen` leaves.

        Where the size was chosen, they have that size; else the same price of a leaf.
        """

        def prune(tree: Tree) -> Tree:
            price, n_leaves = self._nested_sizes(tree)
            return self._pruner(float(price[(n_leaves <= chosen).argmax()]))(tree)

        return self._pruner(self.held_out.lowest) if self._at_lowest else prune

    def _nested_sizes(self, tree: Tree) -> tuple[Floats, Counts]:
        """Return a price for every size of a smoothed tree from the one at the lowest price to one leaf.

        A size is best from its own price up to that of the next; their geometric mean represents it.
        """
        lowest, links = self.held_out.lowest, price_links(tree, self.held_out.measure)
        cuts = np.flatnonzero(links.happens)
        cuts = cuts[np.argsort(links.alpha[cuts], kind="stable")]
        price = np.append(lowest, np.maximum(links.alpha[cuts], lowest))
        n_leaves = tree.n_leaves - np.append(0, np.cumsum(links.fewer[cuts])).astype(np.int64)
        last = np.append(price[1:] > price[:-1], True)  # after all cuts of the same price
        price, n_leaves = price[last], n_leaves[last]
        middle = np.append(np.sqrt(price[:-1] * price[1:]), 2 * price[-1])
        middle[0] = lowest
        return middle, n_leaves


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutLoss:
    """Loss of held-out rows against the price of a leaf, from trees that were grown without them.

    Increasing prices of a leaf are divided by the rows of its tree, so that they mean the same in a tree of more rows;
    `lowest` is not divided. The loss is the mean log loss of the held-out rows at each price; in regression their mean
    squared error, or their mean deviance. `rows` is the mean number of rows of the trees; `measure` names the loss of
    `LeafPrice`.
    """

    price: Floats
    loss: Floats
    lowest: float
    rows: float
    measure: str = "squared_error"

    @classmethod
    def of(cls, fold_trees: FoldTrees | None, smoothed: Tree | None, measure: str = "squared_error") -> Self:
        """Evaluate all subtrees of the fold trees, which are given smoothed too.

        In regression the lowest price is a share of the squared error or deviance that trees still have on held-out
        rows, not of the total: where little noise is left, small differences justify a leaf.
        """
        if fold_trees is None or smoothed is None:
            return cls(np.zeros(1), np.full(1, np.nan), _LOWEST, 1.0, measure)
        cut = price_links(smoothed, measure).alpha / root_weights(smoothed)
        price = np.unique(np.append(cut, 0.0))
        price = price[(price >= 0) & (price < np.inf)]
        rows = float(smoothed.weight_in_rows[: n_roots(smoothed.skeleton)].mean())
        if not smoothed.is_regression:
            loss = evaluate_alphas(price, smoothed, cut, fold_trees.held, losses(smoothed.belief, "log")).mean
            return cls(price, loss, _LOWEST, rows)
        standard = StandardisedTarget.of_all(smoothed)
        if measure != "squared_error":
            _, level, slope, _ = standard.expected_losses(smoothed.belief[:, 0], measure)
            each = np.stack([level, slope, np.ones_like(level)], axis=1)
            held = fold_trees.deviances(standard, measure)
            half = np.maximum(evaluate_alphas(price, smoothed, cut, held, each, square=each).mean, 0.0)
            unexplained = min(float(half[0]) / float(half[-1]), 1.0) if half[-1] > 0 else 1.0
            deviance: Floats = half * 2 * standard.dispersion(measure)
            return cls(price, deviance, round(_LOWEST * unexplained, 4), rows, measure)
        mean = standard.seen(smoothed.belief[:, 0])
        each = np.stack([mean * mean, -2 * mean, np.ones_like(mean)], axis=1)
        held = fold_trees.powers(standard)[:, :3]
        loss = evaluate_alphas(price, smoothed, cut, held, each, square=each).mean
        unexplained = float(np.clip(2 * loss[0], 0.0, 1.0))
        error = loss * 2 * standard.deviation * standard.deviation
        return cls(price, error, round(_LOWEST * unexplained, 4), rows)

    def at(self, price: Floats) -> Floats:
        """Return the loss at prices that are divided by rows."""
        at: Floats = self.loss[np.searchsorted(self.price, price, side="right") - 1]
        return at


def _mean_prices(tree: Tree, price: Floats, measure: str) -> Floats | None:
    """Return the mean price of a prediction at each price of a leaf; None if columns have no prices."""
    costs = FeatureCosts.of(tree)
    if costs is None:
        return None
    paid = costs.paid(tree) * tree.weight_in_rows / tree.weight_in_rows[0]
    alpha = price_links(tree, measure).alpha
    until = push_down(tree.skeleton, alpha, np.minimum)  # a node is a leaf from here on
    return np.array([paid[until > one].sum() for one in price.tolist()])
