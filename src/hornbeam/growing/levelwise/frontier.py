"""The frontier: nodes that wait to be asked for a split, and how many of them one pass can count.

Children of one node are a family. While the cells of their parent are at hand, the largest open child need
not be counted: it is the parent less the others, exactly, for all counts are integers. Children that will not
be split are counted together, for the sake of that subtraction alone.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from math import ceil

import numpy as np

from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.growing.levelwise.open_node import OpenNode, may_split
from hornbeam.kernels.subtree import Cells, GrowthSpec
from hornbeam.typing import Counts, Indices

__all__ = ["Batch", "Family", "Frontier", "PassBudget"]

_MOST_COUNTED = 2**31 - 1  # rows of a node that 32 bits can count
_MESSAGE_BYTES = 4  # the largest part that travels as one is this part of the budget
_LEVELS_TO_MOVE = 4  # rows are not moved for fewer levels than this


@dataclass(frozen=True, slots=True)
class PassBudget:
    """What a pass may take.

    Parameters
    ----------
    survey : RowSummary
        How many rows there are, and what each takes.
    budget : int
        Bytes of cells a task may hold. What travels as one is at most a quarter of it.
    home_rows : int or None
        Nodes of at most this many rows are finished where their rows are brought together. None: of as many as
        travel as one, if they may still grow four levels.
    """

    survey: RowSummary
    budget: int
    home_rows: int | None

    @property
    def part_bytes(self) -> int:
        """Bytes that travel as one."""
        return max(1, self.budget // _MESSAGE_BYTES)

    def node_bytes(self, terms: GrowthSpec, *, wide: bool) -> int:
        """Bytes of one node's cells: counts, or pairs of weight and rows."""
        return terms.n_cells * terms.n_classes * (16 if wide else 4)

    def is_small(self, sprout: OpenNode, terms: GrowthSpec) -> bool:
        """Whether a node's rows should be brought together."""
        if self.home_rows is not None:
            return sprout.n_rows <= self.home_rows
        fits = sprout.n_rows * self.survey.row_bytes <= self.part_bytes
        return fits and (sprout.node == 0 or terms.rules.max_depth - sprout.block.depth >= _LEVELS_TO_MOVE)


@dataclass(slots=True, eq=False)
class Family:
    """The open children of one node, the others, and the parent's cells if they are at hand."""

    opened: list[OpenNode]
    closed: list[OpenNode] = field(default_factory=list)
    cells: Cells | None = None

    @property
    def depth(self) -> int:
        """Number of tests above each child."""
        return self.opened[0].block.depth

    def heir(self, *, wide: bool) -> OpenNode | None:
        """Return the child that need not be counted: the largest, if that saves rows."""
        if self.cells is None or (self.cells.dtype == np.int64) != wide:
            return None
        largest = max(self.opened, key=lambda s: s.n_rows)
        return largest if sum(s.n_rows for s in self.closed) < largest.n_rows else None


@dataclass(slots=True, eq=False)
class Batch:
    """Families asked in one pass: cells are counted for slots, each of one node or of several closed ones.

    Attributes
    ----------
    families : list of Family
    wide : bool
        Whether cells are pairs of 64 bits.
    slots : list of lists of OpenNode
        What is counted together.
    """

    families: list[Family]
    wide: bool
    heirs: list[OpenNode | None]
    slots: list[list[OpenNode]]

    @classmethod
    def of(cls, families: list[Family], *, weighted: bool, subtract: bool) -> "Batch":
        """Choose what is counted: every open child, or all but the largest."""
        asked = [s for family in families for s in family.opened]
        wide = weighted or max(s.n_rows for s in asked) > _MOST_COUNTED
        heirs = [family.heir(wide=wide) if subtract else None for family in families]
        slots = []
        for family, heir in zip(families, heirs, strict=True):
            slots += [[s] for s in family.opened if s is not heir]
            if heir is not None and any(s.n_rows for s in family.closed):
                slots.append(family.closed)
        return cls(families, wide, heirs, slots)

    @property
    def asked(self) -> list[OpenNode]:
        """The open nodes, family by family."""
        return [s for family in self.families for s in family.opened]

    @property
    def n_rows(self) -> int:
        """Rows that are counted."""
        return sum(s.n_rows for slot in self.slots for s in slot)

    def slot_of_node(self, n_nodes: int) -> Indices:
        """Tell for each node where its rows are counted; -1: nowhere."""
        slot_of_node = np.full(n_nodes, -1, dtype=np.int32)
        for slot, sprouts in enumerate(self.slots):
            slot_of_node[[s.node for s in sprouts]] = slot
        return slot_of_node

    def share(self, total: Cells) -> None:
        """Give every open node its cells: those counted, or what they leave of the parent's."""
        rows: Iterator[Cells] = iter(total.reshape(len(self.slots), -1))
        for family, heir in zip(self.families, self.heirs, strict=True):
            rest = None if heir is None else family.cells
            for sprout in family.opened:
                if sprout is not heir:
                    sprout.cells = next(rows)
                    rest = _less(rest, sprout.cells)
            if heir is not None:
                heir.cells = _less(rest, next(rows)) if any(s.n_rows for s in family.closed) else rest
            family.cells = None


def _less(cells: Cells | None, part: Cells) -> Cells | None:
    return None if cells is None else np.subtract(cells, part)


class Frontier:
    """Families that wait, level by level, and small nodes that wait for their rows."""

    def __init__(self, terms: GrowthSpec, means: PassBudget) -> None:
        self.terms = terms
        self.means = means
        self.waiting: deque[Family] = deque()
        self.small: list[OpenNode] = []

    def add(self, family: list[OpenNode], cells: Cells | None = None) -> None:
        """Take in the children of a node; those that are finished already are leaves."""
        opened: list[OpenNode] = []
        closed: list[OpenNode] = []
        for sprout in family:
            grows = may_split(sprout, self.terms)
            small = grows and self.means.is_small(sprout, self.terms)
            (opened if grows and not small else closed).append(sprout)
            if small:
                self.small.append(sprout)
        if opened:
            self.waiting.append(Family(opened, closed, cells))

    @property
    def opened(self) -> Iterator[OpenNode]:
        """All nodes that wait to be asked."""
        return (s for family in self.waiting for s in family.opened)

    @property
    def n_rows(self) -> int:
        """Rows that have not reached their leaf."""
        return sum(s.n_rows for s in self.opened) + sum(s.n_rows for s in self.small)

    def next(self) -> tuple[Batch, int]:
        """Take the next batch, and into how many blocks of features its cells are cut.

        A level whose counted cells travel as one is asked at once, and their sum comes home. Else as many nodes
        are asked as a task can hold cells for; their sums stay where they are added up.
        """
        level = list(takewhile(lambda f: f.depth == self.waiting[0].depth, self.waiting))
        weighted, budget = self.means.survey.weighted, self.means.budget
        batch, blocks = Batch.of(level, weighted=weighted, subtract=True), 1
        if len(batch.slots) * self._node_bytes(batch) > self.means.part_bytes:
            room = max(1, budget // self._node_bytes(batch))
            sizes: Counts = np.cumsum([len(family.opened) for family in level])
            level = level[: max(1, int(np.searchsorted(sizes, room, side="right")))]
            batch = Batch.of(level, weighted=weighted, subtract=False)
            blocks = ceil(len(batch.slots) * self._node_bytes(batch) / self.means.part_bytes)
        for _ in level:
            self.waiting.popleft()
        return batch, max(1, min(blocks, len(self.terms.nominal)))

    def _node_bytes(self, batch: Batch) -> int:
        return self.means.node_bytes(self.terms, wide=batch.wide)
