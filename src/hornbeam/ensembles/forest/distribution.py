"""The distribution of a numeric target by a forest: rows out of the bag choose its nodes and the levels of ranges."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.target_bins import TargetBins
from hornbeam.data.row_order import n_units
from hornbeam.data.table import Table
from hornbeam.ensembles.forest.growth import ForestGrowth
from hornbeam.ensembles.prediction import parallel_map
from hornbeam.kernels.elementary import dot, row_dots
from hornbeam.smoothing.distribution import RangeLevels, TargetDistribution
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up, push_down
from hornbeam.tuning.distribution import deciles
from hornbeam.typing import Bools, Counts, Floats, Indices

type _Own = Callable[[Indices], Floats]

_LEAST_ROWS = (1, 2, 4, 8, 16, 32, 64)  # of a node that has a distribution
_ENOUGH = 10_000  # rows that nodes and levels are chosen by
_BLOCK = 512  # rows at a time


@dataclass(frozen=True, slots=True, eq=False)
class BinCounts:
    """Rows that stop at each node of a tree, by bin of the target, without zeros.

    Counts of a node and of all nodes below it follow each other, from `begin` to `end`, so that those of any node are
    one sum. `stop` is for each node the nearest one, itself or above it, with rows.
    """

    skeleton: Skeleton
    node: Indices
    bin: Indices
    count: Counts
    begin: Counts
    end: Counts
    stop: Indices

    @classmethod
    def of(cls, skeleton: Skeleton, cells: Counts, count: Counts, n_bins: int) -> Self:
        """Sort counts; `cells` is the node times the number of bins, plus the bin, each once and in order."""
        node, code = np.divmod(cells, n_bins)
        own = np.bincount(node, minlength=skeleton.n_nodes)
        below, parent = pull_up(skeleton, own), skeleton.parent[1:]
        before = np.cumsum(below) - below  # in level order, in which siblings follow each other
        offset = np.zeros(skeleton.n_nodes, np.int64)
        offset[1:] = own[parent] + before[1:] - before[skeleton.first_child[parent]]
        begin = push_down(skeleton, offset)
        order = np.argsort(begin[node], kind="stable")
        return cls(
            *(skeleton, node[order].astype(np.int32), code[order].astype(np.int32), count[order]),
            *(begin, begin + below, _nearest(skeleton, below > 0)),
        )

    @classmethod
    def count_rows(
        cls, skeleton: Skeleton, node: Indices, code: Indices, weight: Counts, n_bins: int
    ) -> Self:
        """Count rows that stop at nodes."""
        return cls.of(skeleton, *_sums(node.astype(np.int64) * n_bins + code, weight), n_bins)

    def moved(self, stop: Indices, n_bins: int) -> Self:
        """Count the rows of each node at the node `stop` instead."""
        cells = stop[self.node].astype(np.int64) * n_bins + self.bin
        return self.of(self.skeleton, *_sums(cells, self.count), n_bins)

    @property
    def cells(self) -> tuple[Indices, Indices, Counts]:
        """The node, the bin and the count of each cell, in the order of `of`."""
        order = np.lexsort((self.bin, self.node))
        return self.node[order], self.bin[order], self.count[order]

    def below(self, node: Indices, n_bins: int) -> Floats:
        """Add up the counts of some nodes, each with all nodes below it, of shape (n, n_bins)."""
        distinct, which = np.unique(node, return_inverse=True)
        return _range_sums(self.begin[distinct], self.end[distinct], self.bin, self.count, n_bins)[which]


def _sums(cells: Counts, count: Counts) -> tuple[Counts, Counts]:
    """Add up counts of the same cell."""
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    begin = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return ordered[begin], np.add.reduceat(count[order], begin)


def _range_sums(begin: Counts, end: Counts, code: Indices, count: Counts, n_bins: int) -> Floats:
    """Add up the counts of each range of cells by bin."""
    size = end - begin
    which = np.repeat(np.arange(len(size)), size)
    cell = np.arange(len(which)) + np.repeat(begin - np.cumsum(size) + size, size)
    sums = np.bincount(which * n_bins + code[cell], count[cell], minlength=len(size) * n_bins)
    return sums.reshape(len(size), n_bins).astype(np.float64, copy=False)  # without any cells they are whole


@dataclass(frozen=True, slots=True, eq=False)
class ForestDistribution(TargetDistribution):
    """Distribution of a numeric target: the mean over the trees of the rows in the node where a row stops.

    Parameters
    ----------
    bins : TargetBins
        The bins of the target.
    counts : tuple of BinCounts
        The rows of each tree. Rows of small nodes count at a node above.
    levels : RangeLevels
        The levels of ranges for single rows.
    """

    bins: TargetBins
    counts: tuple[BinCounts, ...]
    levels: RangeLevels

    @property
    def digest(self) -> str:
        """Content hash of the counts, the bins and the levels."""
        sha = hashlib.sha256()
        for each in self.counts:
            for array in each.cells:
                sha.update(array.astype("<i8").data)
        return self._hash(sha.digest())

    def stops(self, table: Table, n_jobs: int = 1) -> Indices:
        """Find the node of each tree where each row stops, of shape (n_rows, n_trees)."""
        return np.stack([route(each.skeleton, table, n_jobs) for each in self.counts], axis=1)

    def _cumulated(self, node: Indices) -> Iterator[tuple[Floats, NDArray[np.intp]]]:
        for begin in range(0, len(node), _BLOCK):
            block = node[begin : begin + _BLOCK]
            total = np.zeros((len(block), self.bins.n_bins))
            for each, at in zip(self.counts, block.T, strict=True):
                counts = each.below(each.stop[at], self.bins.n_bins)
                total += counts / counts.sum(axis=1, keepdims=True)
            up_to = np.cumsum(total, axis=1)
            up_to /= up_to[:, -1:]
            for row, one in enumerate(up_to, begin):
                yield one, np.array([row])


class _Votes(NamedTuple):
    """The rows of a tree, and sums over the copies of rows out of its bag.

    `stops` has the nodes where rows stop, for each least number of rows. `sums` is of shape (n_rows, n_least,
    n_columns).
    """

    counts: BinCounts
    stops: list[Indices]
    rows: NDArray[np.intp]
    copies: Counts
    sums: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _HeldOut:
    """Rows to predict out of the bag, each as if it, or its group, was not counted.

    Equal rows without groups share a prediction, as in `hornbeam.ensembles.forest.out_of_bag`; `begin` is the first of
    each. For each row the columns are the probabilities up to some bins, below its own bin and up to that.
    """

    growth: ForestGrowth
    bins: TargetBins
    values: Floats
    code: Indices
    weight: Counts
    begin: NDArray[np.intp]
    n_rows: int
    thresholds: NDArray[np.intp]
    unit: Counts | None  # the group of each row

    @classmethod
    def of(cls, growth: ForestGrowth) -> Self:
        """Take the first rows: canonical order is random."""
        rows, table = growth.rows, growth.rows.table
        assert table.numeric_target is not None
        values = table.numeric_target.values
        bins = TargetBins.cut(values, table.weight)
        code = bins.codes(values)
        weight = np.ones(rows.n_rows, np.int64) if table.weight is None else table.weight
        total = np.zeros(bins.n_bins, np.int64)
        np.add.at(total, code, weight)
        first = np.append(True, (rows.row_hash[1:] != rows.row_hash[:-1]) | (table.group is not None))
        begin = np.flatnonzero(first)
        n_rows = int(np.append(begin, rows.n_rows)[: _ENOUGH + 1][-1])
        return cls(growth, bins, values, code, weight, begin[:_ENOUGH], n_rows, deciles(total), rows.unit)

    def votes(self, tree: Tree, number: int) -> _Votes:
        """Count all rows in a tree, and predict those out of its bag."""
        table, skeleton, bootstrap = self.growth.rows.table, tree.skeleton, self.growth.bootstrap
        assert bootstrap is not None
        node = route(skeleton, table)
        counts = BinCounts.count_rows(skeleton, node, self.code, self.weight, self.bins.n_bins)
        mean = 1.0 if table.unit == 1.0 else int(self.weight.sum()) * table.unit / len(self.weight)
        stops = [_nearest(skeleton, tree.weight_in_rows >= least * mean) for least in _LEAST_ROWS]
        copies = np.add.reduceat(bootstrap.sample(number).n_left[: self.n_rows], self.begin)
        distinct = np.flatnonzero(copies)
        rows, copies = self.begin[distinct], copies[distinct]
        own = self._own(counts, node, rows)
        sums = [copies[:, None] * self._columns(counts, stop[node[rows]], rows, own) for stop in stops]
        return _Votes(counts, stops, distinct, copies, np.stack(sums, axis=1))

    def _columns(self, counts: BinCounts, stop: Indices, rows: NDArray[np.intp], own: _Own) -> Floats:
        up_to = np.cumsum(counts.below(stop, self.bins.n_bins) - own(stop), axis=1)
        up_to /= up_to[:, -1:]
        code, place = self.code[rows], np.arange(len(rows))
        below = np.where(code > 0, up_to[place, code - 1], 0.0)
        return np.column_stack([up_to[:, self.thresholds], below, up_to[place, code]])

    def _own(self, counts: BinCounts, node: Indices, rows: NDArray[np.intp]) -> _Own:
        """Return what to leave out at some nodes: a copy of each row, or all rows of its group."""
        n_bins = self.bins.n_bins
        if self.unit is None:
            bootstrap = self.growth.bootstrap
            assert bootstrap is not None
            copy = np.ones(len(rows)) if bootstrap.factor is None else self.weight[rows].astype(np.float64)
            alone = np.zeros((len(rows), n_bins))
            alone[np.arange(len(rows)), self.code[rows]] = copy
            return lambda _: alone
        base = np.int64(len(counts.node) + 1)
        key = self.unit * base + counts.begin[node]
        order = np.argsort(key, kind="stable")
        key, code, weight = key[order], self.code[order], self.weight[order]
        group = self.unit[rows] * base

        def of_group(stop: Indices) -> Floats:
            begin = np.searchsorted(key, group + counts.begin[stop])
            end = np.searchsorted(key, group + counts.end[stop])
            return _range_sums(begin, end, code, weight, n_bins)

        return of_group


def fit_forest_distribution(
    growth: ForestGrowth, trees: Sequence[Tree], n_jobs: int = 1
) -> ForestDistribution:
    """Count the rows that a forest was grown on, at nodes of enough rows, and find the levels of ranges.

    How many rows are enough is chosen out of the bag: the number with the least continuous ranked probability score
    over the deciles of the target. The distribution of a node has all rows that pass it, also those out of the bag of
    its tree, as in :cite:t:`meinshausen2006`; each row is predicted without itself, or without its group.
    """
    held = _HeldOut.of(growth)
    n_thresholds = len(held.thresholds)
    total = np.zeros((len(held.begin), len(_LEAST_ROWS), n_thresholds + 2))
    n_votes = np.zeros(len(held.begin), np.int64)
    counts, stops = [], []
    for votes in parallel_map(lambda number: held.votes(trees[number], number), len(trees), n_jobs):
        total[votes.rows] += votes.sums
        n_votes[votes.rows] += votes.copies
        counts.append(votes.counts)
        stops.append(votes.stops)
    voted = np.flatnonzero(n_votes)
    probability = total[voted] / n_votes[voted, None, None]
    weight = np.add.reduceat(held.weight[: held.n_rows], held.begin)[voted]
    rows = held.begin[voted]
    reached = (held.code[rows, None] <= held.thresholds).astype(np.float64)
    errors = [each - reached for each in np.moveaxis(probability[:, :, :n_thresholds], 1, 0)]
    best = int(np.argmin([dot(weight.astype(np.float64), row_dots(each, each)) for each in errors]))
    below, up_to = held.bins.within(held.values[rows], *probability[:, best, n_thresholds:].T)
    of_row = np.repeat(n_votes > 0, np.diff(held.begin, append=held.n_rows))
    units = n_units(growth.rows.table.take(np.flatnonzero(of_row)))
    levels = RangeLevels.of(below, up_to, weight, units)
    counted = [one.moved(each[best], held.bins.n_bins) for one, each in zip(counts, stops, strict=True)]
    return ForestDistribution(held.bins, tuple(counted), levels)


def _nearest(skeleton: Skeleton, known: Bools) -> Indices:
    """Return for each node the nearest one that is known, itself or above it; else the root."""
    own = np.where(known, np.arange(skeleton.n_nodes, dtype=np.int32), np.int32(-1))
    own[0] = 0
    return push_down(skeleton, own, lambda above, here: np.where(here < 0, above, here))
