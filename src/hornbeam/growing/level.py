"""The level phase: the rows are elsewhere, and all we ask of them is sums.

Level by level one ``reduce`` adds up the histograms of the open nodes over all units and finds the best
splits where the total lies. Once a node's rows fit one worker, a last ``reduce`` brings each node's rows
together and the local kernel finishes the subtree. Tasks are pure and know only the tree so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.units import Unit
from hornbeam.errors import ParameterError
from hornbeam.growing.nodes import NodeList, graft
from hornbeam.growing.sprout import Sprout, may_split
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import Cells, Nodes, Rows, Split, Terms
from hornbeam.typing import Counts, Indices

__all__ = ["CodedSource", "MemoryRows", "count_classes", "grow_by_level"]

_OPEN_CELLS = 1 << 25  # cells counted in one pass: 128 MB of counts


class CodedSource(Protocol):
    """Where coded rows come from: units, and the rows behind one."""

    def units(self) -> Sequence[Unit]:
        """Addresses of all rows."""
        ...

    def read(self, unit: Unit) -> Rows:
        """Read the coded rows of a unit."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MemoryRows:
    """Coded rows in memory, read in blocks.

    Parameters
    ----------
    rows : Rows
        All of them.
    block : int
        Rows per unit.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.zeros((3, 1), np.uint8), np.array([0, 1, 1], np.uint16), None)
    >>> source = MemoryRows(rows, block=2)
    >>> source.units()
    [Unit(begin=0, end=2), Unit(begin=2, end=3)]
    >>> source.read(source.units()[1]).label
    array([1], dtype=uint16)
    """

    rows: Rows
    block: int = 65_536

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ParameterError(f"block is {self.block}; a unit holds at least 1 row")

    def units(self) -> list[Unit]:
        """Blocks of rows in order."""
        n_rows = len(self.rows.label)
        return [Unit(begin, min(begin + self.block, n_rows)) for begin in range(0, n_rows, self.block)]

    def read(self, unit: Unit) -> Rows:
        """Read the rows of one unit, as views."""
        mine = slice(unit.begin, unit.end)
        weight = self.rows.weight
        return Rows(self.rows.codes[mine], self.rows.label[mine], None if weight is None else weight[mine])


@dataclass(frozen=True, slots=True)
class Shared:
    """What a task needs: where the rows are, the terms, the tree so far over codes, and the open nodes."""

    source: CodedSource
    terms: Terms
    feature: Indices
    first_child: Indices
    map_start: Counts
    map: Indices
    open_nodes: tuple[Sprout, ...]

    def slots(self, rows: Rows) -> Indices:
        """Tell for each row which open node it is in, or -1."""
        slot_of_node = np.full(len(self.feature), -1, dtype=np.int32)
        for slot, sprout in enumerate(self.open_nodes):
            slot_of_node[sprout.node] = slot
        return slot_of_node[
            subtree.descend(rows.codes, self.feature, self.first_child, self.map_start, self.map)
        ]


def count_classes(source: CodedSource, terms: Terms, engine: Engine) -> tuple[Counts, int]:
    """Add up the weight of each class, and the rows. They are checked here, before a kernel counts them."""
    [total] = engine.reduce(_count_classes, source.units(), (source, terms))
    return total[:-1], int(total[-1])


def grow_by_level(source: CodedSource, terms: Terms, engine: Engine, root: Sprout, home_rows: int) -> Nodes:
    """Grow a tree from summed histograms; the local kernel finishes nodes of at most ``home_rows`` rows."""
    young = _YoungTree(terms)
    sprouts = [young.plant(root)]
    small: list[Sprout] = []
    while sprouts:
        small += [s for s in sprouts if s.n_rows <= home_rows]
        opened = [s for s in sprouts if s.n_rows > home_rows and may_split(s, terms)]
        sprouts = []
        for batch in _batches(opened, terms):
            shared = Shared(source, terms, *young.codes(), tuple(batch))
            [found] = engine.reduce(_count_cells, source.units(), shared, finish=_best_splits)
            for sprout, (split, totals) in zip(batch, found, strict=True):
                if split is not None:
                    sprouts += young.split(sprout, split, totals)
    if not small:
        return young.nodes()
    shared = Shared(source, terms, *young.codes(), tuple(small))
    [subtrees] = engine.reduce(
        _gather_rows, source.units(), shared, combine=_join_rows, finish=_grow_subtrees
    )
    return graft(young.nodes(), list(zip([s.node for s in small], subtrees, strict=True)))


def _batches(sprouts: list[Sprout], terms: Terms) -> list[list[Sprout]]:
    size = max(1, _OPEN_CELLS // (terms.n_cells * terms.n_classes))
    return [sprouts[i : i + size] for i in range(0, len(sprouts), size)]


class _YoungTree:
    """The tree so far, as nodes to come and as tests on codes that tasks can follow."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.made = NodeList()
        self.feature: list[int] = []
        self.first_child: list[int] = []
        self.map_start: list[int] = []
        self.maps: list[Indices] = []
        self.n_map = 0

    def plant(self, root: Sprout) -> Sprout:
        self.made.add(-1, 0, root.n_rows, root.counts)
        self._add_leaves(1)
        return root

    def _add_leaves(self, n: int) -> None:
        for column in (self.feature, self.first_child, self.map_start):
            column += [-1] * n

    def split(self, sprout: Sprout, split: Split, totals: tuple[Counts, Counts]) -> list[Sprout]:
        self.feature[sprout.node] = split.feature
        self.first_child[sprout.node] = len(self.feature)
        self.map_start[sprout.node] = self.n_map
        self.maps.append(split.slot_of)
        self.n_map += len(split.slot_of)
        self._add_leaves(split.n_slots)
        counts, n_rows = totals
        return self.made.split(sprout, split, counts, [(0, n) for n in n_rows.tolist()], self.terms)

    def codes(self) -> tuple[Indices, Indices, Counts, Indices]:
        return (
            np.array(self.feature, dtype=np.int32),
            np.array(self.first_child, dtype=np.int32),
            np.array(self.map_start, dtype=np.int64),
            np.concatenate([np.empty(0, dtype=np.int32), *self.maps]),
        )

    def nodes(self) -> Nodes:
        return self.made.nodes()


# ---- tasks ---------------------------------------------------------------------------------------------


def _count_classes(units: Sequence[Unit], shared: tuple[CodedSource, Terms]) -> list[Counts]:
    """Weight of each class, then the number of rows."""
    source, terms = shared
    total = np.zeros(terms.n_classes + 1, dtype=np.int64)
    for unit in units:
        rows = source.read(unit)
        subtree.check_rows(rows, terms)
        weight = np.ones(len(rows.label), dtype=np.int64) if rows.weight is None else rows.weight
        np.add.at(total, rows.label, weight)
        total[-1] += len(rows.label)
    return [total]


def _count_cells(units: Sequence[Unit], shared: Shared) -> list[Cells]:
    """Cells of all open nodes."""
    cells: Cells | None = None
    for unit in units:
        rows = shared.source.read(unit)
        if cells is None:
            cells = subtree.empty_cells(rows, shared.terms, len(shared.open_nodes))
        subtree.histogram(rows, shared.terms, 0, len(rows.label), cells, shared.slots(rows))
    assert cells is not None
    return [cells]


def _best_splits(_: int, cells: Cells, shared: Shared) -> list[tuple[Split | None, Any]]:
    """Find each open node's best split, and what its children will hold."""
    found: list[tuple[Split | None, Any]] = []
    per_node: list[Cells] = list(cells.reshape(len(shared.open_nodes), -1))
    for sprout, mine in zip(shared.open_nodes, per_node, strict=True):
        block = sprout.block
        split = subtree.best_split(mine, shared.terms, sprout.counts, sprout.n_rows, block.lower, block.upper)
        found.append((split, None if split is None else subtree.children_totals(mine, split, shared.terms)))
    return found


type _Gathered = list[list[Rows]]


def _gather_rows(units: Sequence[Unit], shared: Shared) -> list[_Gathered]:
    """Rows of each small node."""
    gathered: _Gathered = [[] for _ in shared.open_nodes]
    for unit in units:
        rows = shared.source.read(unit)
        slots = shared.slots(rows)
        for slot in np.unique(slots[slots >= 0]).tolist():
            mine = slots == slot
            weight = None if rows.weight is None else rows.weight[mine]
            gathered[slot].append(Rows(rows.codes[mine], rows.label[mine], weight))
    return [gathered]


def _join_rows(one: _Gathered, other: _Gathered) -> _Gathered:
    return [a + b for a, b in zip(one, other, strict=True)]


def _grow_subtrees(_: int, gathered: _Gathered, shared: Shared) -> list[Nodes]:
    """Finish each small node with the local kernel."""
    slip = np.zeros(2, dtype=np.int64)
    grown = []
    for sprout, parts in zip(shared.open_nodes, gathered, strict=True):
        weights = [part.weight for part in parts if part.weight is not None]
        rows = Rows(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.label for part in parts]),
            np.concatenate(weights) if weights else None,
        )
        grown.append(subtree.grow(rows, shared.terms, sprout.block, slip))
    return grown
