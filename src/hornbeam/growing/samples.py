"""Trees grown from several samples of the same encoded rows, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.grower import QUICK_CODES, class_weights_step, forced_top, grow_in_memory, grow_serially
from hornbeam.growing.search import Search, make_spec, search_rows
from hornbeam.growing.settings import GrowthSettings
from hornbeam.growing.tree_builder import build_skeleton, limit_leaves
from hornbeam.growing.watch import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import pool_map
from hornbeam.kernels.subtree import GrowthSpec, Nodes, Rows, join_nodes
from hornbeam.tree.evidence.count import evidence_units, sum_at_nodes
from hornbeam.tree.level_order import level_order
from hornbeam.tree.several import ends, side_by_side
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Codes, Counts, Floats, Indices

_MOST_CODES = 1 << 25  # of the samples that are encoded at the same time


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of the rows of a table, one after the other; a sample may have other weights and another target.

    Parameters
    ----------
    table : Table
        Features, units and class weights.
    row : array
        The row of the table that each entry is.
    begin : array
        Where each sample begins, and the end of the last.
    weight : array or None
        Weight of each entry, in steps of the table's unit; None: one step each.
    target : array or NumericTarget
        Class of each entry, or number in the units of the table.
    """

    table: Table
    row: NDArray[np.intp]
    begin: Counts
    weight: Counts | None
    target: Indices | NumericTarget

    @classmethod
    def of(cls, table: Table, copies: Sequence[Counts], *, as_weight: bool) -> Self:
        """Draw samples of a table: each row of a matrix of `copies` has how often a sample has each row of the table.

        The weight of a row is its number of copies, or that of the table.
        """
        found = [np.nonzero(matrix) for matrix in copies]
        row = np.concatenate([row for _, row in found])
        sizes = [
            np.bincount(sample, minlength=len(each)) for (sample, _), each in zip(found, copies, strict=True)
        ]
        weight = None if table.weight is None else table.weight[row]
        if as_weight:
            weight = np.concatenate([each[at] for at, each in zip(found, copies, strict=True)])
        return cls(table, row, np.cumsum([0, *np.concatenate(sizes)]), weight, _target(table, row))

    @classmethod
    def all_of(cls, *tables: Table) -> Self:
        """Return a sample of all rows of each table; the tables differ in their target alone."""
        table, n = tables[0], tables[0].n_rows
        row = np.tile(np.arange(n), len(tables))
        weight = None if table.weight is None else np.tile(table.weight, len(tables))
        numbers = [one.numeric_target for one in tables]
        target: Indices | NumericTarget
        if numbers[0] is not None:
            values = np.concatenate([one.values for one in numbers if one is not None])
            target = replace(numbers[0], values=values)
        else:
            target = np.concatenate([one.target for one in tables if one.target is not None])
        return cls(table, row, np.arange(len(tables) + 1) * n, weight, target)

    def __len__(self) -> int:
        return len(self.begin) - 1

    @property
    def slices(self) -> list[slice]:
        """The entries of each sample."""
        return [slice(*pair) for pair in pairwise(self.begin.tolist())]

    def some(self, first: int, last: int) -> Self:
        """Return the samples from `first` up to `last`."""
        at, begin = slice(self.begin.item(first), self.begin.item(last)), self.begin[first : last + 1]
        target = self.target.take(at) if isinstance(self.target, NumericTarget) else self.target[at]
        weight = None if self.weight is None else self.weight[at]
        return type(self)(self.table, self.row[at], begin - begin[0], weight, target)

    def apart(self) -> Iterator[Self]:
        """Return each sample alone."""
        return (self.some(number, number + 1) for number in range(len(self)))

    def batches(self, least: int) -> Iterator[Self]:
        """Return as many samples at once as have codes of a few ten megabytes, and at least `least`."""
        most, first = _MOST_CODES // max(len(self.table.columns), 1), 0
        while first < len(self):
            fitting = np.searchsorted(self.begin, self.begin[first] + most, side="right") - 1
            last = min(max(int(fitting), first + least), len(self))
            yield self.some(first, last)
            first = last

    def taken(self) -> Table:
        """Return the rows of all samples as a table."""
        table = replace(self.table.take(self.row), weight=self.weight)
        if isinstance(self.target, NumericTarget):
            return replace(table, numeric_target=self.target)
        return replace(table, target=self.target)

    @property
    def weights(self) -> Floats:
        """Weight of each entry; 1 where no weights were given."""
        if self.weight is None:
            return np.ones(len(self.row))
        return np.multiply(self.weight, self.table.unit)

    @property
    def values(self) -> Floats:
        """The numeric target of each entry."""
        assert isinstance(self.target, NumericTarget)
        return self.target.values

    def encoded(self, codes: Codes) -> Rows:
        """Return the entries with the codes of their rows, as copies, which growing may reorder."""
        label, numerator = np.empty(0, np.uint16), None
        if isinstance(self.target, NumericTarget):
            numerator = self.target.numerators(self.weight, self.table.unit)
        else:
            label = self.target.astype(np.uint16)
        return Rows(codes[self.row], label, None if self.weight is None else self.weight.copy(), numerator)

    def count(self, skeleton: Skeleton, n_jobs: int = 1) -> tuple[Indices, Counts]:
        """Find where each entry stops in the tree of its sample, side by side, and add up the entries there.

        Returns the nodes, and the sums of `hornbeam.tree.evidence.count.table_sums`.
        """
        start = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.begin))
        node, table = ends(skeleton, self.table, self.row, start, n_jobs), self.table
        if isinstance(self.target, NumericTarget):
            numbers = (
                method(self.weight, table.unit) for method in (self.target.numerators, self.target.squares)
            )
            return node, sum_at_nodes(node, skeleton.n_nodes, self.weight, tuple(numbers))
        n_classes = table.schema.n_classes
        return node, sum_at_nodes(node, skeleton.n_nodes, self.weight, label=self.target, n_classes=n_classes)

    def sums(self, skeleton: Skeleton, n_jobs: int) -> tuple[Counts, Counts]:
        """Sum the evidence and the rows of each node of the trees of the samples, side by side."""
        total = pull_up(skeleton, self.count(skeleton, n_jobs)[1])
        return total[:, :-1], total[:, -1]


def _target(table: Table, row: NDArray[np.intp]) -> Indices | NumericTarget:
    if table.numeric_target is not None:
        return table.numeric_target.take(row)
    assert table.target is not None
    return table.target[row]


type Grown = tuple[Nodes, Mapping[int, float]]  # nodes, and the thresholds of forced splits by node


def _grow_nodes(settings: GrowthSettings, samples: Samples, bins: Bins, codes: Codes, n_jobs: int) -> Grown:
    """Grow the nodes of all trees, one after the other."""
    grown, begin = [], 0
    thresholds: dict[int, float] = {}
    spec = make_spec(settings, samples.table.schema, bins)
    for batch in samples.batches(n_jobs):
        for nodes, found in _grow_batch(settings, batch, bins, codes, spec, n_jobs):
            thresholds |= {begin + node: value for node, value in found.items()}
            begin += len(nodes.parent)
            grown.append(nodes)
    return join_nodes(grown), thresholds


def _grow_batch(
    settings: GrowthSettings, samples: Samples, bins: Bins, codes: Codes, spec: GrowthSpec, n_jobs: int
) -> list[Grown]:
    """Grow the nodes of some trees; what it returns is in their order."""
    table, rows = samples.table, samples.encoded(codes)
    # Without weights and nominal columns, the search depends on the number of rows alone.
    alike = rows.weight is None and table.class_weight is None and not spec.nominal.any()
    alike = alike and settings.feature_costs is None  # their unit depends on the target
    found: list[tuple[Rows, Search]] = []
    searches: dict[int, Search] = {}
    for part in (rows.take(at) for at in samples.slices):
        search = searches.get(part.n_rows)
        if search is None or not alike:
            part, search = search_rows(settings, table, part, bins, spec)
            searches[part.n_rows] = search
        found.append((part, search))
    if settings.forced_splits is not None:

        def grow_below(one: tuple[Rows, Search]) -> Grown:
            some, top = forced_top(settings, table.schema, bins, one[1].spec, one[0], 0)
            nodes = grow_serially(some, one[1].spec, top, 0, Watch(), QUICK_CODES)
            return nodes, {} if top is None else top.thresholds

        return pool_map(grow_below, found, n_jobs)

    if table.class_weight is not None:
        rows = rows._replace(
            weight=np.concatenate([one.weight for one, _ in found if one.weight is not None])
        )
    watch, n_parts = Watch(), min(n_jobs, len(samples))
    bounds = [len(samples) * part // n_parts for part in range(n_parts + 1)]

    def grow(part: tuple[int, int]) -> Grown:
        begin = samples.begin[part[0] : part[1] + 1]
        some = rows.take(slice(begin.item(0), begin.item(-1)))
        specs = [search.spec for _, search in found[part[0] : part[1]]]
        return subtree.grow_each(some, specs, begin - begin[0], watch.progress_slot()), {}

    def grow_all() -> list[Grown]:
        return pool_map(grow, list(pairwise(bounds)), n_parts)

    return grow_all() if rows.codes.size < QUICK_CODES else watch.run(grow_all)


def grow_samples(
    settings: GrowthSettings, samples: Samples, bins: Bins, codes: Codes, n_jobs: int = 1
) -> Tree:
    """Grow a tree from each sample, side by side (`hornbeam.tree.several`); each is the tree of `Grower.grow`.

    `codes` are those of the table. Each tree is grown by one thread.
    """
    table = samples.table
    settings.check_target(table.schema)
    if settings.missing is Missing.FRACTIONAL:  # the unit of its evidence depends on the sample

        def grow_alone(sample: Samples) -> Tree:
            return grow_in_memory(settings, sample.taken(), bins, codes[sample.row])

        return side_by_side(pool_map(grow_alone, list(samples.apart()), n_jobs))

    nodes, thresholds = _grow_nodes(settings, samples, bins, codes, n_jobs)
    order = level_order(nodes.parent, nodes.slot)
    at_values = settings.criterion is Criterion.GAIN_RATIO
    skeleton = build_skeleton(nodes, bins, order, at_values=at_values, thresholds=thresholds)
    evidence, of_rows = nodes.evidence[order], nodes.rows[order]
    if table.schema.is_regression:
        evidence, of_rows = samples.sums(skeleton, n_jobs)
    tree = Tree._grown(
        table.schema,
        skeleton,
        evidence,
        unit=evidence_units(table),
        rows=of_rows,
        gain=nodes.gain[order],
        history=(settings.as_step(),),
    )
    tree = limit_leaves(settings, tree)
    return tree if table.class_weight is None else _recount(tree, samples, n_jobs)


def _recount(tree: Tree, samples: Samples, n_jobs: int) -> Tree:
    """Count rows at their own weights, where class weights have chosen the splits."""
    evidence, rows = samples.sums(tree.skeleton, n_jobs)
    history = (*tree.history, class_weights_step(samples.table))
    return Tree._grown(
        tree.schema, tree.skeleton, evidence, unit=tree.unit, rows=rows, gain=tree.gain, history=history
    )
