"""Small nodes finished where their rows are brought together.

Nodes are dealt into blocks of about as many rows. A task hands on the rows of each block, sorted by node;
where all parts of a block meet, the local kernel grows its subtrees. No place holds more than a block's rows.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Unit
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.growing.levelwise.frontier import PassBudget
from hornbeam.growing.levelwise.open_node import OpenNode
from hornbeam.growing.levelwise.same_rows import check_same_rows
from hornbeam.growing.levelwise.task_context import TaskContext
from hornbeam.growing.progress import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import Nodes, Rows
from hornbeam.typing import Counts, Indices

__all__ = ["grow_subtrees", "next_round"]

type _Chunk = tuple[Indices, Rows]  # rows sorted by node, and the place of each row's node in its block


@dataclass(frozen=True, slots=True)
class GatherTask:
    """What a task needs to know: how rows are coded, and the blocks of nodes whose rows are wanted."""

    ground: TaskContext
    survey: RowSummary
    blocks: tuple[tuple[OpenNode, ...], ...]


def next_round(small: list[OpenNode], means: PassBudget, parallelism: int) -> list[list[OpenNode]]:
    """Take nodes off the list, as many as all places together have room for, and deal them into blocks.

    A block takes as many bytes as travel as one, at most, unless it is a single node. There are blocks enough
    for every place.
    """
    small.sort(key=lambda s: (-s.n_rows, s.node))
    sizes = np.cumsum([s.n_rows for s in small]) * means.survey.row_bytes
    n = max(1, int(np.searchsorted(sizes, means.budget * parallelism, side="right")))
    chosen = small[:n]
    del small[:n]
    most_rows = max(means.part_bytes // means.survey.row_bytes, chosen[0].n_rows)
    n_blocks = max(ceil(int(sizes[n - 1]) / means.part_bytes), parallelism)
    while True:
        blocks = _assign(chosen, n_blocks)
        if max(sum(s.n_rows for s in block) for block in blocks) <= most_rows:
            return blocks
        n_blocks += ceil(n_blocks / 8)


def _assign(sprouts: list[OpenNode], n_blocks: int) -> list[list[OpenNode]]:
    """Give each node, the biggest first, to the block that has fewest rows."""
    blocks: list[list[OpenNode]] = [[] for _ in range(min(n_blocks, len(sprouts)))]
    loads = [(0, block) for block in range(len(blocks))]
    for sprout in sprouts:
        n_rows, block = loads[0]
        blocks[block].append(sprout)
        heapq.heapreplace(loads, (n_rows + sprout.n_rows, block))
    return blocks


def grow_subtrees(
    ground: TaskContext, engine: Engine, blocks: list[list[OpenNode]], survey: RowSummary
) -> list[tuple[int, Nodes]]:
    """Bring the rows of small nodes together, block by block, and grow their subtrees."""
    order = GatherTask(ground, survey, tuple(map(tuple, blocks)))
    units, n = ground.source.units(), len(blocks)
    grown = engine.reduce(_gather_rows, units, order, combine=_join, blocks=n, finish=_grow_block)
    return [
        (sprout.node, nodes)
        for block, subtrees in zip(blocks, grown, strict=True)
        for sprout, nodes in zip(block, subtrees, strict=True)
    ]


# ---- tasks ---------------------------------------------------------------------------------------------


def _gather_rows(units: Sequence[Unit], order: GatherTask) -> list[list[_Chunk]]:
    """Rows of each block, sorted by node; of no units, none."""
    sizes = [len(block) for block in order.blocks]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    place_of_node = np.full(len(order.ground.guide.feature), starts[-1], dtype=np.int32)
    place_of_node[[s.node for block in order.blocks for s in block]] = np.arange(starts[-1])
    gathered: list[list[_Chunk]] = [[] for _ in order.blocks]
    for unit in units:
        rows = order.ground.read(unit, weighted=order.survey.weighted)
        place = place_of_node[order.ground.nodes(unit, rows)]
        sorted_rows = np.argsort(place, kind="stable")
        bounds = np.searchsorted(place, starts, sorter=sorted_rows).tolist()
        for parts, start, (begin, end) in zip(gathered, starts[:-1], pairwise(bounds), strict=True):
            mine = sorted_rows[begin:end]
            if len(mine):
                parts.append(((place[mine] - start).astype(np.int32), _take(rows, mine)))
    return gathered


def _take(rows: Rows, mine: np.ndarray) -> Rows:
    return Rows(rows.codes[mine], rows.label[mine], None if rows.weight is None else rows.weight[mine])


def _join(one: list[_Chunk], other: list[_Chunk]) -> list[_Chunk]:
    return one + other


def _grow_block(block: int, chunks: list[_Chunk], order: GatherTask) -> list[Nodes]:
    """Grow the subtrees of one block: each node's rows are laid side by side, the kernel does the rest."""
    sprouts = order.blocks[block]
    starts: Counts = np.concatenate([[0], np.cumsum([s.n_rows for s in sprouts])])
    rows = _lay_out(chunks, starts, order)
    watch = Watch()

    def grow() -> list[Nodes]:
        return [
            subtree.grow(rows, order.ground.terms, s.block._replace(begin=begin, end=end), watch.slip())
            for s, (begin, end) in zip(sprouts, pairwise(starts.tolist()), strict=True)
        ]

    return watch.run(grow)


def _lay_out(chunks: list[_Chunk], starts: Counts, order: GatherTask) -> Rows:
    n_rows, survey = int(starts[-1]), order.survey
    _check_gathered(chunks, starts)
    rows = Rows(
        np.empty((n_rows, survey.n_features), dtype=survey.code),
        np.empty(n_rows, dtype=np.uint16),
        np.empty(n_rows, dtype=np.int64) if survey.weighted else None,
    )
    free = starts[:-1].copy()
    for place, part in chunks:
        n_of_place = np.bincount(place, minlength=len(free))
        before = np.cumsum(n_of_place) - n_of_place  # rows of the chunk that belong to earlier nodes
        at = np.arange(len(place)) + np.repeat(free - before, n_of_place)
        rows.codes[at], rows.label[at] = part.codes, part.label
        if rows.weight is not None and part.weight is not None:
            rows.weight[at] = part.weight
        free += n_of_place
    return rows


def _check_gathered(chunks: list[_Chunk], starts: Counts) -> None:
    """Refuse other rows than were counted: room is made for those, and a kernel would read what is not there."""
    found = np.zeros(len(starts) - 1, dtype=np.int64)
    for place, _ in chunks:
        found += np.bincount(place, minlength=len(found))
    check_same_rows((found == np.diff(starts)).all())
