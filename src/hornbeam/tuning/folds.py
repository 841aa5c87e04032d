"""Assignment of rows to folds, and the trees grown without each fold.

A tree of n nodes and K classes has n K cells. Time and memory of tuning grow with the cells of all fold trees together.
Above a limit fewer fold trees are grown, from fewer rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.row_order import row_hash, target_bits, unit_ranks
from hornbeam.data.table import Table
from hornbeam.kernels.pool import Pool
from hornbeam.recipe import Recipe
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.count import count_at_nodes, evidence_units, table_sums
from hornbeam.tree.route import route
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

    def held(self, fold: int) -> Counts:
        """Count the copies of each row in a fold."""
        if self.copies is None:
            single: Counts = (self.first % self.n_folds == fold).astype(np.int64)
            return single
        end = self.first + self.copies
        held: Counts = (end - 1 - fold) // self.n_folds - (self.first - 1 - fold) // self.n_folds
        return held


@dataclass(frozen=True, slots=True, eq=False)
class FoldTree:
    """A tree grown without one fold, and the nodes where the held-out rows stop.

    The tree is pruned, if the recipe prunes, and not smoothed. `rows` are the held-out rows as indices, `table` these
    rows with their held-out weight. `node` is where each of them stops; None if missing values go to every child.
    `held` is the weight of each class at the node whose prediction it tests: where the rows stop, or the leaves below
    (`route_held_out`); in regression weight, sum and sum of squares of these rows. `grown_from` returns the rows that
    the tree was grown from, as a new table.
    """

    tree: Tree
    rows: NDArray[np.intp]
    table: Table
    weight: Floats
    node: Indices | None
    held: Floats
    grown_from: Callable[[], Table]

    def with_belief(self, belief: Floats) -> Tree:
        """Return the tree with these predictions."""
        return with_belief(self.tree, belief, np.zeros(self.tree.n_nodes), Step.of("borrowing"))

    def stopping(self, cut: Bools) -> Self:
        """Let held-out rows stop where the tree is cut; nodes below stay, without held-out rows."""
        held = np.zeros_like(self.held)
        np.add.at(held, end_nodes(self.tree.skeleton, cut), self.held)
        return replace(self, held=held)


def end_nodes(skeleton: Skeleton, cut: Bools) -> Indices:
    """Find the node that predicts for the rows of each node, if some are made leaves: the first cut on the path."""
    own = np.where(cut, np.arange(skeleton.n_nodes, dtype=np.int32), np.int32(-1))
    first = push_down(skeleton, own, lambda above, here: np.where(above >= 0, above, here))
    return np.where(first >= 0, first, np.arange(skeleton.n_nodes, dtype=np.int32))


def grow_without_fold(
    recipe: Recipe, table: Table, bins: Bins, codes: Codes, assignment: FoldAssignment, n_jobs: int = 1
) -> Sequence[FoldTree]:
    """Grow and prune a tree without the rows of each fold, and route these rows through it.

    Each tree is grown by one thread. The result is empty if there is a single fold, without which no rows are left.
    """
    if assignment.n_folds < 2:
        return []

    def without(fold: int) -> FoldTree:
        held = assignment.held(fold)
        others = (1 if assignment.copies is None else assignment.copies) - held
        kept = np.flatnonzero(others)
        grown_from = partial(_take, table, kept, others, assignment)
        kept_table = grown_from()
        tree = recipe.prune(recipe.grower.grow(kept_table, bins, codes[kept]), kept_table)
        rows = np.flatnonzero(held)
        held_table = _take(table, rows, held, assignment)
        node, weight_at = route_held_out(tree, held_table)
        return FoldTree(tree, rows, held_table, held_table.row_weights, node, weight_at, grown_from)

    if n_jobs == 1:
        return list(map(without, range(assignment.n_folds)))
    with Pool(n_jobs) as pool:
        return list(pool.map(without, range(assignment.n_folds)))


def route_held_out(tree: Tree, table: Table) -> tuple[Indices | None, Floats]:
    """Route held-out rows, and sum their weights by class at the nodes whose predictions they test.

    A row with a category that is new to the tree stops at an inner node. It counts at the leaves below, in proportion
    to their weight, so that it tests the split there like other held-out rows. `node` is None if missing values go to
    every child.
    """
    skeleton = tree.skeleton
    if skeleton.is_fractional:
        [counted] = count_at_nodes([skeleton], table, shares=[tree.weight])
        return None, np.multiply(evidence_stopping(skeleton, counted.evidence), counted.unit)
    node = route(skeleton, table)
    sums = table_sums(node, table, table.unit, tree.n_nodes)[:, :-1]
    return node, _test_leaves(tree, np.multiply(sums, evidence_units(table)))


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


def _take(table: Table, rows: NDArray[np.intp], copies: Counts, assignment: FoldAssignment) -> Table:
    """Return some rows of a table, with the number of their copies as weight."""
    taken = table.take(rows)
    return taken if assignment.copies is None else replace(taken, weight=copies[rows])
