"""One pass that brings the rows of small nodes together and finishes their subtrees.

Nodes are assigned to blocks of about the same number of rows. Each task sends the rows of each block, sorted by node;
where all rows of a block meet, the local kernel grows its subtrees. No process holds more than the rows of one block.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.growing.levelwise.frontier import PassBudget
from hornbeam.growing.levelwise.nodes import OpenNode
from hornbeam.growing.levelwise.task_context import TaskContext, check_same_rows
from hornbeam.growing.watch import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import Nodes, Rows
from hornbeam.typing import Counts, Indices

type _Chunk = tuple[Indices, Rows]  # rows sorted by node, and the position of each row's node in its block


@dataclass(frozen=True, slots=True)
class GatherTask:
    """Arguments of a gathering task: the format of the rows, and the blocks of nodes."""

    context: TaskContext
    summary: RowSummary
    blocks: tuple[tuple[OpenNode, ...], ...]


def next_round(small: list[OpenNode], pass_budget: PassBudget, parallelism: int) -> list[list[OpenNode]]:
    """Take as many nodes off the list as fit the memory of all parallel tasks, and assign them to blocks.

    A block fits one message, unless it is a single node. There is at least one block per parallel task.
    """
    small.sort(key=lambda node: (-node.n_rows, node.node))
    row_bytes, message_bytes = pass_budget.summary.row_bytes, pass_budget.message_bytes
    sizes = np.cumsum([node.n_rows for node in small]) * row_bytes
    n = max(1, int(np.searchsorted(sizes, pass_budget.task_bytes * parallelism, side="right")))
    chosen = small[:n]
    del small[:n]
    max_rows = max(message_bytes // row_bytes, chosen[0].n_rows)
    n_blocks = max(ceil(int(sizes[n - 1]) / message_bytes), parallelism)
    while True:
        blocks = _assign(chosen, n_blocks)
        if max(sum(node.n_rows for node in block) for block in blocks) <= max_rows:
            return blocks
        n_blocks += ceil(n_blocks / 8)


def _assign(nodes: list[OpenNode], n_blocks: int) -> list[list[OpenNode]]:
    """Assign each node, the largest first, to the block that has fewest rows."""
    blocks: list[list[OpenNode]] = [[] for _ in range(min(n_blocks, len(nodes)))]
    loads = [(0, block) for block in range(len(blocks))]
    for node in nodes:
        n_rows, block = loads[0]
        blocks[block].append(node)
        heapq.heapreplace(loads, (n_rows + node.n_rows, block))
    return blocks


def grow_subtrees(
    context: TaskContext, engine: Engine, blocks: list[list[OpenNode]], summary: RowSummary
) -> list[tuple[int, Nodes]]:
    """Gather the rows of small nodes, block by block, and grow their subtrees."""
    task = GatherTask(context, summary, tuple(map(tuple, blocks)))
    partitions, n = context.source.partitions(), len(blocks)
    grown = engine.reduce(_gather_rows, partitions, task, combine=_concatenate, blocks=n, finish=_grow_block)
    return [
        (node.node, nodes)
        for block, subtrees in zip(blocks, grown, strict=True)
        for node, nodes in zip(block, subtrees, strict=True)
    ]


# ---- run by the engine ---------------------------------------------------------------------------------


def _gather_rows(partitions: Sequence[Partition], task: GatherTask) -> list[list[_Chunk]]:
    """Select the rows of each block, sorted by node."""
    sizes = [len(block) for block in task.blocks]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    place_of_node = np.full(len(task.context.code_tree.feature), starts[-1], dtype=np.int32)
    place_of_node[[node.node for block in task.blocks for node in block]] = np.arange(starts[-1])
    gathered: list[list[_Chunk]] = [[] for _ in task.blocks]
    for partition in partitions:
        rows = task.context.read(partition, weighted=task.summary.weighted)
        place = place_of_node[task.context.nodes(partition, rows)]
        sorted_rows = np.argsort(place, kind="stable")
        bounds = np.searchsorted(place, starts, sorter=sorted_rows).tolist()
        for chunks, start, (begin, end) in zip(gathered, starts[:-1], pairwise(bounds), strict=True):
            selected = sorted_rows[begin:end]
            if len(selected):
                chunks.append(((place[selected] - start).astype(np.int32), rows.take(selected)))
    return gathered


def _concatenate(one: list[_Chunk], other: list[_Chunk]) -> list[_Chunk]:
    return one + other


def _grow_block(block: int, chunks: list[_Chunk], task: GatherTask) -> list[Nodes]:
    """Grow the subtrees of one block from its rows, sorted by node."""
    nodes = task.blocks[block]
    starts: Counts = np.concatenate([[0], np.cumsum([node.n_rows for node in nodes])])
    rows = _merge_chunks(chunks, starts, task)
    watch = Watch()

    def grow() -> list[Nodes]:
        spec = task.context.spec
        return [
            subtree.grow(rows, spec, node.node_range._replace(begin=begin, end=end), watch.progress_slot())
            for node, (begin, end) in zip(nodes, pairwise(starts.tolist()), strict=True)
        ]

    return watch.run(grow)


def _merge_chunks(chunks: list[_Chunk], starts: Counts, task: GatherTask) -> Rows:
    """Merge the chunks of all tasks into rows sorted by node."""
    n_rows, summary = int(starts[-1]), task.summary
    _check_gathered(chunks, starts)
    rows = Rows(
        np.empty((n_rows, summary.n_features), dtype=summary.code_dtype),
        np.empty(0 if summary.sums else n_rows, dtype=np.uint16),
        np.empty(n_rows, dtype=np.int64) if summary.weighted else None,
        np.empty(n_rows, dtype=np.int64) if summary.sums else None,
    )
    free = starts[:-1].copy()
    for place, part in chunks:
        n_of_place = np.bincount(place, minlength=len(free))
        before = np.cumsum(n_of_place) - n_of_place  # rows of the chunk that belong to earlier nodes
        at = np.arange(len(place)) + np.repeat(free - before, n_of_place)
        for whole, some in zip(rows, part, strict=True):
            if whole is not None and some is not None and len(some):
                whole[at] = some
        free += n_of_place
    return rows


def _check_gathered(chunks: list[_Chunk], starts: Counts) -> None:
    """Refuse nodes with another number of rows than was counted before: arrays have the size of that count."""
    found = np.zeros(len(starts) - 1, dtype=np.int64)
    for place, _ in chunks:
        found += np.bincount(place, minlength=len(found))
    check_same_rows((found == np.diff(starts)).all())
