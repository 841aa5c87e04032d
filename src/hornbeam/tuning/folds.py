"""Assignment of rows to folds, and the trees grown without each fold.

A tree of n nodes and K classes has n K cells. Time and memory of tuning grow with the cells of all fold trees together.
Above a limit fewer fold trees are grown, from fewer rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.row_order import row_hash, target_bits, unit_ranks
from hornbeam.data.table import Table
from hornbeam.growing.samples import Samples, grow_samples
from hornbeam.kernels.pool import pool_map
from hornbeam.recipe import Recipe
from hornbeam.tree.edit import collapse, with_belief
from hornbeam.tree.evidence.count import count_at_nodes, evidence_units
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.several import apart, side_by_side
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import evidence_stopping, push_down
from hornbeam.typing import Bits, Bools, Codes, Counts, Floats, Indices

MOST_CELLS = 40_000_000  # of all trees together: 0.3 GB per array
_STRATA = 20  # parts of a numeric target of nearly equal weight


def max_rows(n_classes: int, cells: int = MOST_CELLS) -> int:
    """Return the maximum number of rows of two trees, if each row is a leaf."""
    return max(cells // (4 * n_classes), 100)


def max_trees(n_nodes: int, n_classes: int, cells: int = MOST_CELLS) -> int:
    """Return the maximum number of trees of this size, at least 2."""
    return max(cells // (n_nodes * n_classes), 2)


def _strata(table: Table) -> Counts | Indices:
    """Return the classes, or parts of a numeric target; equal values are in the same part."""
    if table.numeric_target is None:
        return target_bits(table)
    weight = np.ones(table.n_rows, np.int64) if table.weight is None else table.weight
    return _parts(table.numeric_target.values, weight, _STRATA)


def _parts(values: Floats, weight: Counts, n_parts: int) -> Counts:
    """Cut values into parts of nearly equal weight; equal values are in the same part."""
    distinct, place = np.unique(values, return_inverse=True)
    weight_of_value = np.zeros(len(distinct), np.int64)
    np.add.at(weight_of_value, place, weight)
    below = np.cumsum(weight_of_value) - weight_of_value
    part: Counts = (below * n_parts // max(int(weight_of_value.sum()), 1))[place]
    return part


def _turns_of_groups(table: Table, hashes: Bits, n_folds: int) -> Counts:
    """Return the turn of the group of each row: in turn within strata of groups of a similar mean stratum.

    There are at most as many strata as there are folds' worth of groups, so that another seed gives other folds.
    """
    unit = unit_ranks(hashes, table)
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    rows = np.bincount(unit, weight)
    mean = np.bincount(unit, weight * _strata(table)) / rows
    distinct, stratum = np.unique(mean, return_inverse=True)
    n_strata = max(1, min(_STRATA, len(rows) // n_folds))
    if len(distinct) > n_strata:
        stratum = _parts(mean, np.ones(len(rows), np.int64), n_strata)
    order = np.lexsort((np.arange(len(rows)), stratum))
    turn = np.empty(len(rows), np.int64)
    turn[order] = np.arange(len(rows))
    return turn[unit]


@dataclass(frozen=True, slots=True, eq=False)
class FoldAssignment:
    """Stratified assignment of rows to folds: in turn within each class, copies of a row one after the other.

    A numeric target is cut into twenty parts of nearly equal weight, which are the strata in place of classes. All rows
    of a group, with all their copies, are in one fold. `first` is the turn of the first copy of each row; the copy of
    turn t goes to fold ``t % n_folds``. `copies` is the weight of each row, where weights are whole; None for one each.
    """

    first: Counts
    copies: Counts | None
    n_folds: int

    @classmethod
    def of(cls, table: Table, codes: Codes, n_folds: int, seed: int = 0) -> Self:
        """Assign the rows of a table; their order does not matter, and a row of weight 2 is two rows."""
        hashes = row_hash(codes, target_bits(table), seed)
        if table.group is not None:
            return cls(_turns_of_groups(table, hashes, n_folds), None, n_folds)
        target, weight = _strata(table), table.weight
        order = np.lexsort((hashes, target) if weight is None else (weight, hashes, target))
        copies = weight if table.unit == 1.0 else None
        first = np.empty(len(target), np.int64)
        if copies is None:
            first[order] = np.arange(len(target))
        else:
            ordered = copies[order]
            first[order] = np.cumsum(ordered) - ordered
        return cls(first, copies, n_folds)

    def held(self) -> Counts:
        """Count the copies of each row in each fold, of shape (n_folds, n_rows)."""
        fold = np.arange(self.n_folds)[:, None]
        if self.copies is None:
            single: Counts = (self.first % self.n_folds == fold).astype(np.int64)
            return single
        end = self.first + self.copies
        held: Counts = (end - 1 - fold) // self.n_folds - (self.first - 1 - fold) // self.n_folds
        return held


@dataclass(frozen=True, slots=True, eq=False)
class FoldTrees:
    """Trees that were each grown without one fold, side by side (`hornbeam.tree.several`), and their held-out rows.

    The trees are pruned, if the recipe prunes, and not smoothed. `samples` are the rows that each was grown from, and
    `held_out` those that it was grown without.
    `node` is where each held-out row stops, one tree after the other; None if missing values go to every child.
    `held` is the weight of each class at the node whose prediction it tests: where the rows stop, or the leaves below
    (`_test_leaves`); in regression weight, sum and sum of squares of these rows.
    """

    tree: Tree
    samples: Samples
    held_out: Samples
    node: Indices | None
    held: Floats

    def with_belief(self, belief: Floats) -> Tree:
        """Return the trees with these predictions."""
        return with_belief(self.tree, belief, np.zeros(self.tree.n_nodes), Step.of("borrowing"))

    def stopping(self, cut: Bools) -> Self:
        """Let held-out rows stop where the trees are cut; nodes below stay, without held-out rows."""
        held = np.zeros_like(self.held)
        np.add.at(held, end_nodes(self.tree.skeleton, cut), self.held)
        return replace(self, held=held)

    def collapsed(self, cut: Bools, n_jobs: int = 1) -> Self:
        """Make leaves where the trees are cut, and route the held-out rows again."""
        tree = collapse(self.tree, cut)
        node, held = _route_held_out(tree, self.held_out, n_jobs)
        return replace(self, tree=tree, node=node, held=held)

    def powers(self, standard: StandardisedTarget) -> Floats:
        """Sum the powers 0 to 4 of a standardised target over the held-out rows of each node, of shape (n_nodes, 5)."""
        assert self.node is not None
        z = standard.seen(self.held_out.values)
        terms = [self.held_out.weights]
        for _ in range(4):
            terms.append(terms[-1] * z)
        return np.stack([np.bincount(self.node, term, self.tree.n_nodes) for term in terms], axis=1)

    def deviances(self, standard: StandardisedTarget, loss: str) -> Floats:
        """Sum three numbers over the held-out rows of each node, from which a deviance is computed: shape (n_nodes, 3).

        Weight, relative target, and what makes the loss 0 where the target itself is predicted.
        """
        assert self.node is not None
        x, _, _, own = standard.expected_losses(self.held_out.values, loss)
        terms = [weight := self.held_out.weights, weight * x, -weight * own]
        return np.stack([np.bincount(self.node, term, self.tree.n_nodes) for term in terms], axis=1)

    def apart(self) -> Iterator["FoldTrees"]:
        """Return each tree alone."""
        begin, node = self.held_out.begin.tolist(), self.node
        for at, ((tree, nodes), sample, held_out) in enumerate(
            zip(apart(self.tree), self.samples.apart(), self.held_out.apart(), strict=True)
        ):
            own = (
                None
                if node is None
                else np.searchsorted(nodes, node[begin[at] : begin[at + 1]]).astype(np.int32)
            )
            yield type(self)(tree, sample, held_out, own, self.held[nodes])


def end_nodes(skeleton: Skeleton, cut: Bools) -> Indices:
    """Find the node that predicts for the rows of each node, if some are made leaves: the first cut on the path."""
    own = np.where(cut, np.arange(skeleton.n_nodes, dtype=np.int32), np.int32(-1))
    first = push_down(skeleton, own, lambda above, here: np.where(above >= 0, above, here))
    return np.where(first >= 0, first, np.arange(skeleton.n_nodes, dtype=np.int32))


def grow_without_folds(
    recipe: Recipe,
    table: Table,
    bins: Bins,
    codes: Codes,
    assignments: Sequence[FoldAssignment],
    n_jobs: int = 1,
) -> FoldTrees | None:
    """Grow and prune a tree without the rows of each fold, for each assignment, and route these rows through it.

    Each tree is grown by one thread. None if there is a single fold, without which no rows are left.
    """
    if assignments[0].n_folds < 2:
        return None
    copies = assignments[0].copies
    held = [one.held() for one in assignments]
    others = [(1 if copies is None else copies) - each for each in held]
    samples, held_out = (Samples.of(table, each, as_weight=copies is not None) for each in (others, held))
    tree = grow_samples(recipe.grower, samples, bins, codes, n_jobs)
    if recipe.pruner is not None:
        pairs = list(zip(apart(tree), samples.apart(), strict=True))
        pruned = pool_map(lambda pair: recipe.prune(pair[0][0], pair[1].taken()), pairs, n_jobs)
        tree = side_by_side(pruned)
    return FoldTrees(tree, samples, held_out, *_route_held_out(tree, held_out, n_jobs))


def _route_held_out(tree: Tree, held_out: Samples, n_jobs: int = 1) -> tuple[Indices | None, Floats]:
    """Route held-out rows, and sum their weights by class at the nodes whose predictions they test.

    A row with a category that is new to the tree stops at an inner node. It counts at the leaves below, in proportion
    to their weight, so that it tests the split there like other held-out rows. `node` is None if missing values go to
    every child.
    """
    if tree.skeleton.is_fractional:
        held = np.zeros(tree.evidence.shape)
        for (one, nodes), sample in zip(apart(tree), held_out.apart(), strict=True):
            bits = np.bitwise_or.reduce(one.weight)
            shares = one.weight // max(
                bits & -bits, 1
            )  # the smallest whole numbers with these ratios by powers of two
            [counted] = count_at_nodes([one.skeleton], sample.taken(), shares=[shares])
            held[nodes] = np.multiply(evidence_stopping(one.skeleton, counted.evidence), counted.unit)
        return None, held
    node, sums = held_out.count(tree.skeleton, n_jobs)
    return node, _test_leaves(tree, np.multiply(sums[:, :-1], evidence_units(held_out.table)))


def route_held_out(tree: Tree, table: Table) -> tuple[Indices | None, Floats]:
    """Route held-out rows of one tree, which may be pruned, as for fold trees."""
    return _route_held_out(tree, Samples.all_of(table))


def _test_leaves(tree: Tree, held: Floats) -> Floats:
    """Distribute rows that stop at a nominal split over the leaves below, by weight."""
    skeleton = tree.skeleton
    if not skeleton.slot_of.size:
        return held
    nominal = np.isnan(skeleton.threshold) & (skeleton.n_children > 0)
    if not held[nominal].any():
        return held
    passed = np.where(nominal[:, None], held, 0.0)
    for begin, end in pairwise(skeleton.levels[1:]):
        parent = skeleton.parent[begin:end]
        share = tree.weight[begin:end] / np.maximum(tree.weight[parent], 1)
        passed[begin:end] += share[:, None] * passed[parent]
    at_leaves = np.where(skeleton.is_leaf[:, None], passed, 0.0)
    return np.where(nominal[:, None], 0.0, held) + at_leaves
