"""Subtree raising: a node is replaced by its largest branch (Quinlan, C4.5, 1993, section 4.3).

A raised branch gets all rows of its parent, so the rows below it are counted again, and its nodes are pruned again.
Nodes are not moved for that: `node_at` holds, for the place of each node, the node whose split and children are used
there. Raising a branch changes one entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import fsum

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.tree.evidence.count import integer_weights
from hornbeam.tree.evidence.fractional import route_fractional
from hornbeam.tree.level_order import concat_ranges, level_order
from hornbeam.tree.route import follow
from hornbeam.tree.skeleton import EVERY_CHILD, STOP, Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import slots
from hornbeam.typing import Bools, Counts, Floats, Indices

type _Ids = NDArray[np.intp]
type _Rows = tuple[_Ids, Counts]

_TOLERANCE = 1e-6  # rounding error of branch weights
_FEW_ROWS = 500  # with more rows, arrays are faster than a loop over rows


def open_branches(skeleton: Skeleton) -> tuple[Skeleton, _Ids]:
    """Add a leaf for each unseen category to every nominal split, after its siblings.

    Also returns the node of `skeleton` that each node was; its number of nodes or more for new leaves.
    """
    n = skeleton.n_nodes
    unseen = np.flatnonzero(skeleton.slot_of < 0)
    parent = np.repeat(np.arange(n), np.diff(skeleton.slot_start))[unseen]
    n_new = np.bincount(parent, minlength=n)
    rank = skeleton.n_children[parent] + np.arange(len(parent)) - (np.cumsum(n_new) - n_new)[parent]
    slot_of = skeleton.slot_of.astype(np.int32)
    slot_of[unseen] = rank
    origin = level_order(np.concatenate((skeleton.parent, parent)), np.concatenate((slots(skeleton), rank)))

    def with_leaves(values: NDArray[np.generic], leaf: float) -> NDArray[np.generic]:
        return np.concatenate((values, np.full(len(parent), leaf, values.dtype)))[origin]

    run = with_leaves(np.diff(skeleton.slot_start), 0)
    begin = with_leaves(skeleton.slot_start[:-1], 0)
    opened = Skeleton.of(
        n_children=with_leaves(skeleton.n_children + n_new.astype(np.int32), 0),
        feature=with_leaves(skeleton.feature, -1),
        threshold=with_leaves(skeleton.threshold, np.nan),
        missing_slot=with_leaves(skeleton.missing_slot, -1),
        slot_start=np.concatenate(([0], np.cumsum(run))),
        slot_of=slot_of[concat_ranges(begin, run)],
    )
    return opened, origin


def transplant(skeleton: Skeleton, standing: Indices, kept: Bools) -> tuple[Skeleton, _Ids]:
    """Make the skeleton in which some nodes are replaced by the split and the children of another.

    `standing` is the node whose split is used in the place of each node. Nodes that are not `kept` are left out, with
    all below; rows of their categories stop above. Also returns the place of each new node in `skeleton`.
    """
    levels = [np.zeros(1, np.intp)]
    while len(levels[-1]):
        node = standing[levels[-1]]
        below = concat_ranges(skeleton.first_child[node], skeleton.n_children[node])
        levels.append(below[kept[below]])
    places = np.concatenate(levels)
    node = standing[places]

    # The slot of a child among the siblings that are kept; -1 for the others.
    before = np.append(0, np.cumsum(kept))
    first, n_children = skeleton.first_child[node], skeleton.n_children[node]
    new_slot = np.where(kept, before[:-1] - before[np.maximum(skeleton.first_child[skeleton.parent], 0)], -1)

    run = np.diff(skeleton.slot_start)[node]
    slot_of = skeleton.slot_of[concat_ranges(skeleton.slot_start[node], run)]
    child = np.repeat(first, run) + slot_of
    missing = skeleton.missing_slot[node]
    return Skeleton.of(
        n_children=np.where(n_children > 0, before[first + n_children] - before[first], 0),
        feature=skeleton.feature[node],
        threshold=skeleton.threshold[node],
        missing_slot=np.where(missing >= 0, new_slot[np.maximum(first + missing, 0)], missing),
        slot_start=np.concatenate(([0], np.cumsum(run))),
        slot_of=np.where(slot_of >= 0, new_slot[child], -1),
    ), places


def raise_branches(
    tree: Tree,
    table: Table,
    estimate: Callable[[Floats], Floats],
    estimate_one: Callable[[float, float], float],
    slack: float,
    step: Step,
) -> Tree:
    """Prune bottom-up: every node becomes a leaf, is replaced by its largest branch, or stays.

    `table` are the rows the tree was grown from; `DataError` if they are not. `estimate` maps class weights of leaves
    to their expected errors; `estimate_one` does so for one leaf, from the weight of its rows and of those that are not
    of its most frequent class. A simpler tree may have `slack` more expected errors.

    Belief is raw frequencies. Gains are unknown at nodes with new rows. In a tree of fractional rows a missing value
    that is new to a raised split goes to every child, in others it stops there.
    """
    if table.target is None:
        raise DataError("the table has no target, expected the rows the tree was grown from: read it with y")
    skeleton, origin = open_branches(tree.skeleton)
    if tree.skeleton.is_fractional or tree.unit[0] < table.unit:  # fractional rows
        stops = ~skeleton.is_leaf & (skeleton.missing_slot == STOP)
        missing_slot = np.where(stops, np.int32(EVERY_CHILD), skeleton.missing_slot)
        skeleton = replace(skeleton, missing_slot=missing_slot)
    work = _Raising(skeleton, table, table.target, tree, estimate, estimate_one, slack)
    old = origin < tree.n_nodes
    if not np.array_equal(work.evidence[old], tree.evidence[origin[old]]):
        raise DataError(
            "the table's rows are not those of the tree's evidence, expected the rows it was grown from: "
            "pass that table, or prune without raising"
        )
    work.prune(0)
    pruned, places = transplant(skeleton, work.node_at, old | (work.rows > 0))
    splits_rows = np.array([work.splits_rows(place) for place in places.tolist()])
    missing_slot = np.where(splits_rows | (pruned.missing_slot >= 0), pruned.missing_slot, np.int32(STOP))
    evidence, was = work.evidence[places], origin[work.node_at[places]]
    before = np.minimum(was, tree.n_nodes - 1)
    same = (was == before) & (evidence == tree.evidence[before]).all(axis=1)
    return Tree.raw(
        tree.schema,
        replace(pruned, missing_slot=missing_slot),
        evidence,
        unit=float(tree.unit[0]),
        rows=work.rows[places],
        gain=np.where(same & ~pruned.is_leaf, tree.gain[before], np.nan),
        history=(*tree.history, step),
        decision=tree.decision,
    )


class _Raising:
    """State of subtree raising: the node used in each place, and the rows of every place."""

    def __init__(
        self,
        skeleton: Skeleton,
        table: Table,
        target: NDArray[np.int32],
        tree: Tree,
        estimate: Callable[[Floats], Floats],
        estimate_one: Callable[[float, float], float],
        slack: float,
    ) -> None:
        n, self.unit = skeleton.n_nodes, float(tree.unit[0])
        self.skeleton, self.table, self.target = skeleton, table, target
        self.n_classes, self.slack = tree.n_classes, slack
        self.estimate, self.estimate_one = estimate, estimate_one
        self.whole_rows = not _splits_rows(skeleton, table)
        self.marked = np.zeros(table.n_rows, np.bool_)
        self.leaf = int(skeleton.is_leaf.argmax())  # used in every place where a subtree is cut
        self.node_at = np.arange(n, dtype=np.int32)
        self.evidence = np.zeros((n, self.n_classes), np.int64)
        self.rows = np.zeros(n, np.int64)
        self.errors = np.zeros(n)  # expected errors of the subtree in each place
        self.arrived: dict[int, _Rows] = {}  # the rows of places with splits
        weight = integer_weights(table, self.unit)
        self.arrived[0] = (
            np.arange(table.n_rows),
            np.ones(table.n_rows, np.int64) if weight is None else weight,
        )
        self.count(0)

    def prune(self, place: int) -> None:
        """Prune all places of a subtree, the deepest first; a raised branch again."""
        waiting = self.inner_below(place)
        while waiting:
            place = waiting.pop()
            if self.decide(place):
                self.count(place)
                waiting += self.inner_below(place)

    def decide(self, place: int) -> bool:
        """Cut, raise or keep the subtree of a place whose children are decided; True if its branch was raised."""
        children = self.children(place)
        weight = [sum(counts) * self.unit for counts in self.evidence[children].tolist()]
        enough = max(weight) - _TOLERANCE
        largest = max(child for child, size in zip(children.tolist(), weight, strict=True) if size >= enough)
        as_leaf = self.errors_of_leaf(self.evidence[place].tolist())
        as_tree = self.errors_of_leaf(self.stopping(place)) + sum(self.errors[children].tolist())
        as_branch = as_leaf if self.is_leaf(largest) else self.errors_of_branch(place, largest)
        if as_leaf <= min(as_tree, as_branch) + self.slack:
            self.node_at[place] = self.leaf
            self.errors[place] = as_leaf
        elif as_branch <= as_tree + self.slack:
            self.node_at[place] = self.node_at[largest]
            return True
        else:
            self.errors[place] = as_tree
        return False

    def is_leaf(self, place: int) -> bool:
        return self.skeleton.n_children.item(self.node_at.item(place)) == 0

    def stopping(self, place: int) -> list[int]:
        """Count the rows that stop in a place, by class."""
        total: list[int] = self.evidence[place].tolist()
        if self.is_leaf(place):
            return total
        below = zip(*self.evidence[self.children(place)].tolist(), strict=True)
        return [all_rows - sum(moved) for all_rows, moved in zip(total, below, strict=True)]

    def errors_of_leaf(self, counts: list[int]) -> float:
        total = sum(counts)
        return self.estimate_one(total * self.unit, (total - max(counts)) * self.unit)

    def errors_of_branch(self, place: int, branch: int) -> float:
        """Estimate the errors of a branch of a place for all rows of the place.

        A few more rows change a few leaves only.
        """
        row, weight = self.arrived[place]
        inside = self.arrived[branch][0]
        if not self.whole_rows or len(row) - len(inside) > _FEW_ROWS:
            return self.errors_of(branch, self.arrived[place])
        self.marked[inside] = True
        more = ~self.marked[row]
        self.marked[inside] = False
        changed: dict[int, list[int]] = {}
        for one, steps in zip(row[more].tolist(), weight[more].tolist(), strict=True):
            stop = self.stop_of(branch, one)
            if stop not in changed:
                changed[stop] = self.stopping(stop)
            changed[stop][self.target.item(one)] += steps
        # fsum: the order of the leaves is that of the rows, which must not matter.
        before = fsum(self.errors_of_leaf(self.stopping(stop)) for stop in changed)
        return self.errors.item(branch) - before + fsum(map(self.errors_of_leaf, changed.values()))

    def stop_of(self, place: int, row: int) -> int:
        """Find the place below a place where a row stops."""
        skeleton, columns = self.skeleton, self.table.columns
        while True:
            node = self.node_at.item(place)
            feature = skeleton.feature.item(node)
            if feature < 0:
                return place
            slot = follow(skeleton, node, self.table.schema.features[feature], columns[feature].item(row))
            if slot < 0:
                return place
            place = skeleton.first_child.item(node) + slot

    def count(self, place: int) -> None:
        """Count the rows of a place at all places below it."""
        k = self.n_classes
        levels = route_fractional(
            self.skeleton, self.table, *self.arrived[place], place=place, node_at=self.node_at
        )
        for places, at, row, weight, _ in levels:
            size = len(places)
            counts = np.bincount(at * k + self.target[row], weight, minlength=size * k).reshape(size, k)
            self.evidence[places] = counts
            self.errors[places] = self.estimate(counts * self.unit)
            self.rows[places] = arrivals = np.bincount(at, minlength=size)
            order, end = np.argsort(at, kind="stable"), np.cumsum(arrivals)
            for i in np.flatnonzero(self.skeleton.n_children[self.node_at[places]]):
                here = order[end[i] - arrivals[i] : end[i]]
                self.arrived[int(places[i])] = row[here], weight[here]

    def errors_of(self, place: int, rows: _Rows) -> float:
        """Estimate the errors of the subtree in a place for some rows."""
        k, expected = self.n_classes, 0.0
        # Counts of the splits of the last level, and where their children begin.
        above, first = np.zeros((0, k)), np.zeros(0, np.intp)
        for places, at, row, weight, _ in route_fractional(
            self.skeleton, self.table, *rows, place=place, node_at=self.node_at
        ):
            size = len(places)
            counts = np.bincount(at * k + self.target[row], weight, minlength=size * k).reshape(size, k)
            if len(first):  # rows that stop at a split count like a leaf
                expected += float(self.estimate((above - np.add.reduceat(counts, first)) * self.unit).sum())
            n_children = self.skeleton.n_children[self.node_at[places]]
            inner = n_children > 0
            expected += float(self.estimate(counts[~inner] * self.unit).sum())
            above, first = counts[inner], (np.cumsum(n_children) - n_children)[inner]
        return expected

    def splits_rows(self, place: int) -> bool:
        """Whether rows with a missing value go to every child of a place."""
        node = self.node_at[place]
        if self.skeleton.missing_slot[node] != EVERY_CHILD:
            return False
        value = self.table.columns[self.skeleton.feature[node]][self.arrived[place][0]]
        return bool((np.isnan(value) if value.dtype == np.float64 else value == -1).any())

    def children(self, place: int) -> NDArray[np.intp]:
        node = int(self.node_at[place])
        first = self.skeleton.first_child.item(node)
        return np.arange(first, first + self.skeleton.n_children.item(node))

    def inner_below(self, place: int) -> list[int]:
        """List the places with splits in a subtree, in level order."""
        found = [place]
        for place in found:  # grows during the loop
            found += [c for c in self.children(place).tolist() if self.skeleton.n_children[self.node_at[c]]]
        return found if self.skeleton.n_children[self.node_at[found[0]]] else []


def _splits_rows(skeleton: Skeleton, table: Table) -> bool:
    """Whether some split sends a row of the table, which lacks its feature, to every child."""
    tested = np.unique(skeleton.feature[skeleton.missing_slot == EVERY_CHILD]).tolist()
    columns = [table.columns[feature] for feature in tested]
    return any((np.isnan(c) if c.dtype == np.float64 else c == -1).any() for c in columns)
