"""The frontier: unfinished nodes, and how many of them one pass can count.

The children of one node form a family. If the histogram of their parent is known, the largest open child need not be
counted: its histogram is the parent's minus those of the other children, exactly, because all counts are integers.
Children that will not be split are counted together, for this subtraction only.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from math import ceil

import numpy as np

from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.growing.levelwise.nodes import OpenNode, may_split
from hornbeam.kernels.levelwise import SQUARE_PARTS
from hornbeam.kernels.subtree import Cells, GrowthSpec
from hornbeam.typing import Counts, Indices

_MAX_COUNT32 = 2**31 - 1  # largest number of rows of a node that 32 bits can hold
_MESSAGE_PART = 4  # the largest message is the budget divided by this
_LEVELS_TO_MOVE = 4  # for fewer remaining levels, counting is cheaper than moving rows


@dataclass(frozen=True, slots=True)
class PassBudget:
    """Memory limits of a pass.

    `task_bytes` is the largest size of the histograms of one task; a message is at most a quarter of it. A node of at
    most `gather_rows` rows is finished where its rows are gathered; None: a node whose rows fit one message, if it may
    grow four more levels.
    """

    summary: RowSummary
    task_bytes: int
    gather_rows: int | None

    @property
    def message_bytes(self) -> int:
        """Largest message a task may send, in bytes."""
        return max(1, self.task_bytes // _MESSAGE_PART)

    def node_bytes(self, spec: GrowthSpec, *, wide: bool) -> int:
        """Return the bytes of one node's histogram: counts, pairs of weight and rows, or sums of a target."""
        if spec.sums:
            return 8 * (spec.n_cells * (3 if wide else 2) + SQUARE_PARTS * spec.needs_variance)
        return spec.n_cells * spec.n_classes * (16 if wide else 4)

    def is_small(self, node: OpenNode, spec: GrowthSpec) -> bool:
        """Return whether the rows of a node should be gathered."""
        if self.gather_rows is not None:
            return node.n_rows <= self.gather_rows
        fits = node.n_rows * self.summary.row_bytes <= self.message_bytes
        return fits and (node.node == 0 or spec.rules.max_depth - node.node_range.depth >= _LEVELS_TO_MOVE)


@dataclass(slots=True, eq=False)
class Family:
    """The open children of one node, its other children, and the parent's histogram if it is known."""

    opened: list[OpenNode]
    closed: list[OpenNode] = field(default_factory=list)
    cells: Cells | None = None

    @property
    def depth(self) -> int:
        """Depth of the children."""
        return self.opened[0].node_range.depth

    def derived_child(self, dtype: type[np.int32 | np.int64]) -> OpenNode | None:
        """Return the child whose histogram follows by subtraction: the largest, if that saves rows."""
        if self.cells is None or self.cells.dtype != dtype:
            return None
        largest = max(self.opened, key=lambda node: node.n_rows)
        return largest if sum(node.n_rows for node in self.closed) < largest.n_rows else None


@dataclass(slots=True, eq=False)
class Batch:
    """Families whose splits one pass finds. It counts slots: one open node each, or several closed ones.

    With `wide`, cells have weights beside rows: pairs of 64-bit numbers; for regression triples. `derived` is the child
    of each family that is not counted. Nodes of a slot are counted together.
    """

    families: list[Family]
    wide: bool
    derived: list[OpenNode | None]
    slots: list[list[OpenNode]]

    @classmethod
    def of(cls, families: list[Family], summary: RowSummary, *, subtract: bool) -> "Batch":
        """Choose what is counted: every open child, or all but one of each family."""
        largest = max(node.n_rows for family in families for node in family.opened)
        wide = summary.weighted or (largest > _MAX_COUNT32 and not summary.sums)
        dtype = np.int64 if wide or summary.sums else np.int32
        derived = [family.derived_child(dtype) if subtract else None for family in families]
        slots = []
        for family, derived_child in zip(families, derived, strict=True):
            slots += [[node] for node in family.opened if node is not derived_child]
            if derived_child is not None and any(node.n_rows for node in family.closed):
                slots.append(family.closed)
        return cls(families, wide, derived, slots)

    @property
    def open_nodes(self) -> list[OpenNode]:
        """The open nodes, family by family."""
        return [node for family in self.families for node in family.opened]

    @property
    def n_rows(self) -> int:
        """Number of rows that are counted."""
        return sum(node.n_rows for slot in self.slots for node in slot)

    def slot_of_node(self, n_nodes: int) -> Indices:
        """Return the slot in which the rows of each node are counted; -1: not counted."""
        slot_of_node = np.full(n_nodes, -1, dtype=np.int32)
        for slot, nodes in enumerate(self.slots):
            slot_of_node[[node.node for node in nodes]] = slot
        return slot_of_node

    def assign_cells(self, total: Cells) -> None:
        """Give every open node its histogram: the counted one, or the difference to the parent."""
        rows: Iterator[Cells] = iter(total.reshape(len(self.slots), -1))
        for family, derived_child in zip(self.families, self.derived, strict=True):
            rest = None if derived_child is None else family.cells
            for node in family.opened:
                if node is not derived_child:
                    node.cells = next(rows)
                    rest = _subtract(rest, node.cells)
            if derived_child is not None:
                counted_closed = any(node.n_rows for node in family.closed)
                derived_child.cells = _subtract(rest, next(rows)) if counted_closed else rest
            family.cells = None


def _subtract(cells: Cells | None, part: Cells) -> Cells | None:
    return None if cells is None else np.subtract(cells, part)


class Frontier:
    """Families to split, in order of their level, and small nodes whose rows are to be gathered."""

    def __init__(self, spec: GrowthSpec, pass_budget: PassBudget) -> None:
        self.spec = spec
        self.pass_budget = pass_budget
        self.waiting: deque[Family] = deque()
        self.small: list[OpenNode] = []

    def add(self, family: list[OpenNode], cells: Cells | None = None) -> None:
        """Add the children of a node; those that may not be split are leaves."""
        opened: list[OpenNode] = []
        closed: list[OpenNode] = []
        for node in family:
            grows = may_split(node, self.spec)
            small = grows and self.pass_budget.is_small(node, self.spec)
            (opened if grows and not small else closed).append(node)
            if small:
                self.small.append(node)
        if opened:
            self.waiting.append(Family(opened, closed, cells))

    @property
    def open_nodes(self) -> Iterator[OpenNode]:
        """All nodes to split, small ones excluded."""
        return (node for family in self.waiting for node in family.opened)

    @property
    def n_rows(self) -> int:
        """Number of rows that have not reached their leaf."""
        return sum(node.n_rows for node in self.open_nodes) + sum(node.n_rows for node in self.small)

    def next(self) -> tuple[Batch, int]:
        """Take the next batch; return it, and the number of blocks of features that its cells are cut into.

        If the counted cells of a level fit one message, the batch is the whole level, and its sum is sent to this
        process. Otherwise the batch has as many nodes as fit the memory of a task, and each block is finished by the
        task that sums it.
        """
        level = list(takewhile(lambda f: f.depth == self.waiting[0].depth, self.waiting))
        summary = self.pass_budget.summary
        batch, blocks = Batch.of(level, summary, subtract=True), 1
        if len(batch.slots) * self._node_bytes(batch) > self.pass_budget.message_bytes:
            max_nodes = max(1, self.pass_budget.task_bytes // self._node_bytes(batch))
            sizes: Counts = np.cumsum([len(family.opened) for family in level])
            level = level[: max(1, int(np.searchsorted(sizes, max_nodes, side="right")))]
            batch = Batch.of(level, summary, subtract=False)
            blocks = ceil(len(batch.slots) * self._node_bytes(batch) / self.pass_budget.message_bytes)
        for _ in level:
            self.waiting.popleft()
        return batch, max(1, min(blocks, len(self.spec.nominal)))

    def _node_bytes(self, batch: Batch) -> int:
        return self.pass_budget.node_bytes(self.spec, wide=batch.wide)
