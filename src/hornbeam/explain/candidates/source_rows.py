"""The rows that a tree was grown from, in memory or in files, counted at a node without keeping them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import iadd
from typing import Any, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodingSource
from hornbeam.data.engine import Engine, resolve_engine
from hornbeam.data.rows import open_rows
from hornbeam.data.sources import MemorySource, Partition, Source
from hornbeam.data.table import Table
from hornbeam.explain.candidates.counted_node import CountedNode
from hornbeam.explain.candidates.node_histogram import NodePlace
from hornbeam.explain.candidates.training_rows import class_weight_of, refuse_unseen, tree_and_recipe
from hornbeam.growing.grower import Grower
from hornbeam.growing.levelwise.first_pass import SourceSearch, search_source
from hornbeam.growing.search import Search
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.evidence.count import evidence_units
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

_MOST_NARROW = 2**31  # rows that may be counted in 32 bits
_MOST_CELLS = 1 << 25  # of the histograms of one pass: 512 MB with weights


@dataclass(frozen=True, slots=True, eq=False)
class SourceRows:
    """Rows of a source with their target, and how growing searches them for splits.

    `encoding` has the rows and the bins of the search, `search` rules and weights, `units` the value of one step of
    evidence. No count depends on the engine.
    """

    encoding: _KnownRows
    grower: Grower
    search: SourceSearch
    units: Floats
    engine: Engine

    @classmethod
    def of(
        cls, model: Any, X: Any, y: Any, sample_weight: Any, grower: Grower | None, engine: Engine | None
    ) -> tuple[Tree, Self]:
        """Open the rows of a model, choose their bins, and count them; return its tree with them."""
        engine = resolve_engine(engine)
        tree, recipe = tree_and_recipe(model, grower)
        recipe.grower.check_target(tree.schema)
        weight, kind = class_weight_of(tree), tree.schema.target_kind
        source = open_rows(
            X, y, sample_weight, schema=tree.schema, class_weight=weight, target_kind=kind, engine=engine
        )
        encoding = _KnownRows.of(source, recipe.bin_source(source, engine))
        units = np.atleast_1d(np.asarray(evidence_units(source), np.float64))
        search = search_source(
            recipe.grower,
            encoding,
            encoding.bins,
            tree.schema,
            engine,
            units=units,
            class_weight=source.class_weight,
        )
        return tree, cls(encoding, recipe.grower, search, units, engine)

    def count(self, tree: Tree, nodes: Sequence[int]) -> list[CountedNode]:
        """Count the rows of some nodes by feature and code.

        One pass for as many nodes as have histograms of 512 MB together; and one more for each split above them that
        sends a part of missing values to every child. `DataError` if no row reaches one of the nodes.
        """
        fractional = tree.skeleton.is_fractional
        search, _, summary = self.search
        weighted = summary.weighted or search.changes_weights or fractional or summary.n_rows >= _MOST_NARROW
        places = [NodePlace(tree.skeleton, node, search.spec, weighted) for node in nodes]
        if fractional:
            shares = self._shares(places)
            places = [replace(place, shares=shares) for place in places]
        counts: list[list[Any]] = []
        for batch in _batches(places):
            task = _Task(self.encoding, search, batch)
            found = self.engine.reduce(_count, self.encoding.partitions(), task, blocks=4 * len(batch))
            counts += [found[at : at + 4] for at in range(0, len(found), 4)]
        steps, bins, n_all = search.row_steps, self.encoding.bins, self.encoding.n_rows
        return [
            CountedNode.of(tree, bins, self.grower, place, of_one, steps, self.units, n_all)
            for place, of_one in zip(places, counts, strict=True)
        ]

    def _shares(self, places: Sequence[NodePlace]) -> Counts:
        """Add up the weights that missing values are divided by at each split above some nodes, the highest first."""
        skeleton = places[0].skeleton
        shares = np.zeros(skeleton.n_nodes, np.int64)
        for parent in sorted({node for place in places for node in place.path[:-1]}):
            if skeleton.missing_slot[parent] == EVERY_CHILD:
                above = replace(places[0], node=parent, shares=shares)
                task = _Task(self.encoding, self.search.search, [above])
                [known] = self.engine.reduce(_known_below, self.encoding.partitions(), task)
                first = skeleton.first_child.item(parent)
                shares[first : first + len(known)] = known
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class _KnownRows(EncodingSource):
    """The rows of a source, encoded on each read, or once if they are in memory; unseen categories are refused."""

    kept: Rows | None = None

    @classmethod
    def of(cls, source: Source, bins: Bins) -> Self:
        """Encode the rows, if they are in memory."""
        each = cls(source, bins)
        return cls(source, bins, each.encode(source.table)) if isinstance(source, MemorySource) else each

    def encode(self, table: Table) -> Rows:
        refuse_unseen(table)
        return EncodingSource.encode(self, table)

    def read(self, partition: Partition) -> Rows:
        return self.read_with_values(partition)[1]

    def read_with_values(self, partition: Partition) -> tuple[Table, Rows]:
        """Read the rows of a partition, as values and as codes."""
        table = self.source.read(partition)
        if self.kept is None:
            return table, self.encode(table)
        return table, self.kept.take(slice(partition.begin, partition.end))


def _batches(places: Sequence[NodePlace]) -> Iterator[list[NodePlace]]:
    """Cut a list of nodes into batches whose histograms are not too large together."""
    batch: list[NodePlace] = []
    n_cells = 0
    for place in places:
        size = place.n_slots * place.spec.n_cells * place.spec.n_classes
        if batch and n_cells + size > _MOST_CELLS:
            yield batch
            batch, n_cells = [], 0
        batch.append(place)
        n_cells += size
    if batch:
        yield batch


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What every task needs."""

    encoding: _KnownRows
    search: Search
    places: Sequence[NodePlace]

    def read(self, partition: Partition) -> tuple[Table, Rows]:
        """Read the rows of a partition, as values and as codes in the weights of the search."""
        table, rows = self.encoding.read_with_values(partition)
        return table, self.search.weigh(rows)


def _count(partitions: Sequence[Partition], task: _Task) -> list[Any]:
    """Task: count the rows of the nodes, four arrays for each."""
    total = [array for place in task.places for array in place.empty()]
    for partition in partitions:
        table, rows = task.read(partition)
        counts = [
            array
            for place in task.places
            for array in place.count(table, rows, *place.rows_here(table, rows.weight))
        ]
        total = list(map(iadd, total, counts))
    return total


def _known_below(partitions: Sequence[Partition], task: _Task) -> list[Counts]:
    """Task: add up the rows with a known value that go from a node to each of its children."""
    [place] = task.places
    total = np.zeros(place.skeleton.n_children.item(place.node), np.int64)
    for partition in partitions:
        table, rows = task.read(partition)
        total += place.known_below(table, rows.weight)
    return [total]
