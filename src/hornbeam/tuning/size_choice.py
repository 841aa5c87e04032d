"""Sizes of a tree with their losses on held-out rows, and the choice of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from hornbeam.checks import check_number
from hornbeam.errors import TreeError
from hornbeam.grid import Grid, Result
from hornbeam.pruning.leaf_price import LeafPrice, price_links
from hornbeam.pruning.pruner import Pruner
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.several import apart, root_weights
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import n_roots
from hornbeam.tuning.candidate_losses import evaluate_alphas, losses
from hornbeam.tuning.folds import FoldTrees
from hornbeam.typing import Bools, Counts, Floats

_ENOUGH_ROWS, _LEAST_ROWS = 0.85, 0.5  # rows of a fold tree, as a share of those of the tree
_LOWEST = 0.2  # a price without a noticeable loss of accuracy on any kind of data
STEP = "size-path"  # in the history of a tree
_SMALL = 50  # every size up to this is listed in a history; of larger ones,
_RATIO = 0.95  # those that are smaller by this factor
_DECIMALS = 6  # of a loss there; below 0.001, which has too few of them, as many digits
_TOLERANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizePath(Result[dict[str, float]]):
    """Sizes of a tree down to one leaf, each with its loss on held-out rows.

    Parameters
    ----------
    n_leaves : int64 array
        Decreasing to 1; the first is the size at tolerance 0.
    loss : float64 array
        Mean log loss of held-out rows; in regression their mean squared error.
    measure : str, default "log loss"
        Name of the loss.

    Examples
    --------
    >>> path = SizePath(np.array([12, 5, 2, 1]), np.array([0.20, 0.21, 0.35, 0.60]))
    >>> path
    leaves  log loss  increase
        12    0.2000     0.0 %
         5    0.2100     5.0 %
         2    0.3500    75.0 %
         1    0.6000   200.0 %
    >>> path.smallest(tolerance=0.1)
    5
    """

    _COLUMNS: ClassVar = ("n_leaves", "loss", "increase")

    n_leaves: Counts
    loss: Floats
    measure: str = "log loss"

    @property
    def increase(self) -> Floats:
        """Share by which each loss is above the first."""
        first = float(self.loss[0])
        return self.loss / first - 1 if first > 0 else np.where(self.loss > first, np.inf, 0.0)

    def position(self, tolerance: float) -> int:
        """Find the smallest size whose loss is at most the share `tolerance` above the first; at 0, the first."""
        check_number("tolerance", tolerance, 0)
        return 0 if tolerance == 0 else int(np.flatnonzero(self.increase <= tolerance)[-1])

    def smallest(self, tolerance: float) -> int:
        """Return the number of leaves at this tolerance."""
        return int(self.n_leaves[self.position(tolerance)])

    def milestones(self) -> dict[float, int]:
        """Return the least number of leaves for tolerances of 0, 1, 2, 5, 10, 20 and 50 %; equal sizes once.

        Examples
        --------
        >>> SizePath(np.array([12, 5, 1]), np.array([0.20, 0.21, 0.60])).milestones()
        {0.0: 12, 0.05: 5}
        """
        found = {0.0: int(self.n_leaves[0])}
        for tolerance in _TOLERANCES:
            size = self.smallest(tolerance)
            if size < min(found.values()):
                found[tolerance] = size
        return found

    def step(self) -> Step:
        """Return the path as a step of a tree's history: all small sizes, and some of the large ones."""
        kept = [0]
        for at, size in enumerate(self.n_leaves.tolist()):
            if at and (size <= _SMALL or size <= _RATIO * self.n_leaves[kept[-1]]):
                kept.append(at)
        loss = tuple(map(_rounded, self.loss[kept].tolist()))
        return Step.of(STEP, n_leaves=tuple(self.n_leaves[kept].tolist()), loss=loss)

    def _grid(self) -> Grid:
        """Return a table with a row per size."""
        rows = [
            (
                f"{leaves:,}",
                f"{loss:.4f}" if 0.001 <= loss < 1000 else f"{loss:.4g}",
                f"{100 * increase:.1f} %",
            )
            for leaves, loss, increase in zip(*self.to_dict().values(), strict=True)
        ]
        return Grid("Sizes of the tree", ["leaves", self.measure, "increase"], rows, ">")


def _rounded(loss: float) -> float:
    return float(f"{loss:.{_DECIMALS}g}") if loss < 0.001 else round(loss, _DECIMALS)


def size_path(tree: Tree) -> SizePath | None:
    """Return the sizes that were compared when a tree was fitted; None if they were not."""
    for step in reversed(tree.history):
        if step.name == STEP:
            measure = "squared error" if tree.is_regression else "log loss"
            return SizePath(*_columns(step), measure)
    return None


def _columns(step: Step) -> tuple[Counts, Floats]:
    """Return sizes and losses of a step, which may come from a file."""
    match dict(step.parameters):
        case {"n_leaves": tuple(sizes), "loss": tuple(loss), **rest} if (
            not rest and len(sizes) == len(loss) > 0
        ):
            numbers = {*map(type, sizes)} == {int} and {*map(type, loss)} <= {int, float}
            if numbers and all(0 <= each < np.inf for each in loss):
                n_leaves = np.array(sizes)
                if n_leaves.dtype == np.int64 and n_leaves[-1] >= 1 and (np.diff(n_leaves) < 0).all():
                    return n_leaves, np.array(loss, np.float64)
    raise TreeError(
        f"the history has the step {step!s:.200}; expected decreasing numbers of leaves, and a loss of each"
    )


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
            return LeafPrice(self.held_out.lowest).cuts(trees)
        cut = np.zeros(trees.n_nodes, np.bool_)
        for tree, nodes in apart(trees):
            cut[nodes] = self._choose(tree)[0].cuts(tree)
        return cut

    @property
    def _at_lowest(self) -> bool:
        """Whether the size is the one at the lowest price, whatever the sizes are."""
        return self.tolerance == 0 and self.max_leaf_nodes is None

    def _choose(self, tree: Tree) -> tuple[LeafPrice, SizePath]:
        price, n_leaves = _nested_sizes(tree, self.held_out.lowest)
        if self.max_leaf_nodes is not None:
            first = int((n_leaves <= self.max_leaf_nodes).argmax())
            price, n_leaves = price[first:], n_leaves[first:]
        loss = self.held_out.at(price / tree.weight_in_rows[0])
        path = SizePath(n_leaves, loss[0] + (loss - loss[0]) * self._learning(tree))
        return LeafPrice(float(price[path.position(self.tolerance)])), path

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
        lowest = self.held_out.lowest

        def prune(tree: Tree) -> Tree:
            price, n_leaves = _nested_sizes(tree, lowest)
            return LeafPrice(float(price[(n_leaves <= chosen).argmax()]))(tree)

        return LeafPrice(lowest) if self._at_lowest else prune


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutLoss:
    """Loss of held-out rows against the price of a leaf, from trees that were grown without them.

    Increasing prices of a leaf are divided by the rows of its tree, so that they mean the same in a tree of more rows;
    `lowest` is not divided. The loss is the mean log loss of the held-out rows at each price; in regression their mean
    squared error. `rows` is the mean number of rows of the trees.
    """

    price: Floats
    loss: Floats
    lowest: float
    rows: float

    @classmethod
    def of(cls, fold_trees: FoldTrees | None, smoothed: Tree | None) -> Self:
        """Evaluate all subtrees of the fold trees, which are given smoothed too.

        In regression the lowest price is a share of the squared error that trees still have on held-out rows, not of
        the total variance: where little noise is left, small differences justify a leaf.
        """
        if fold_trees is None or smoothed is None:
            return cls(np.zeros(1), np.full(1, np.nan), _LOWEST, 1.0)
        cut = price_links(smoothed).alpha / root_weights(smoothed)
        price = np.unique(np.append(cut, 0.0))
        price = price[(price >= 0) & (price < np.inf)]
        rows = float(smoothed.weight_in_rows[: n_roots(smoothed.skeleton)].mean())
        if not smoothed.is_regression:
            loss = evaluate_alphas(price, smoothed, cut, fold_trees.held, losses(smoothed.belief, "log")).mean
            return cls(price, loss, _LOWEST, rows)
        standard = StandardisedTarget.of_all(smoothed)
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


def _nested_sizes(tree: Tree, lowest: float) -> tuple[Floats, Counts]:
    """Return a price for every size of a smoothed tree from the one at the lowest price to one leaf.

    A size is best from its own price up to that of the next; their geometric mean represents it.
    """
    links = price_links(tree)
    cuts = np.flatnonzero(links.happens)
    cuts = cuts[np.argsort(links.alpha[cuts], kind="stable")]
    price = np.append(lowest, np.maximum(links.alpha[cuts], lowest))
    n_leaves = tree.n_leaves - np.append(0, np.cumsum(links.fewer[cuts])).astype(np.int64)
    last = np.append(price[1:] > price[:-1], True)  # after all cuts of the same price
    price, n_leaves = price[last], n_leaves[last]
    middle = np.append(np.sqrt(price[:-1] * price[1:]), 2 * price[-1])
    middle[0] = lowest
    return middle, n_leaves
