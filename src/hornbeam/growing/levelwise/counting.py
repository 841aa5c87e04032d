"""One pass over the rows that finds the best splits of a batch of open nodes.

With one block the sum of all histograms is sent to this process, which subtracts siblings and finds the splits. With
several blocks each task cuts its histograms by features. The task that sums a block also finds its splits, and sends
back little: the best gain of every feature, and the few splits that may be the best of all.

For regression with corrected splits the histogram of a node is followed by its sum of squares, from which the variance
of the target is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os import cpu_count
from typing import NamedTuple

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition
from hornbeam.growing.levelwise.frontier import Batch
from hornbeam.growing.levelwise.nodes import OpenNode
from hornbeam.growing.levelwise.task_context import OTHER_ROWS, TaskContext
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import Cells, GrowthSpec, Split
from hornbeam.typing import Counts, Floats, Indices

_NODES_PER_THREAD = 32  # a node takes some tenths of a millisecond: for fewer, starting a thread does not pay


class ChosenSplit(NamedTuple):
    """A node's best split, with evidence and number of rows of each child."""

    split: Split
    counts: Counts
    n_rows: Counts


class _Found(NamedTuple):
    """Result of a block of features for a node: numbers of each feature, splits that may win, target variance."""

    numbers: Floats
    likely: list[ChosenSplit]
    variance: float


@dataclass(frozen=True, slots=True)
class CountTask:
    """Arguments of a counting task: the slot of each node, and the blocks of features.

    `open_nodes` is empty if there is one block: then the tasks do not search for splits.
    """

    context: TaskContext
    slot_of_node: Indices
    n_slots: int
    wide: bool
    features: tuple[tuple[int, int], ...]
    open_nodes: tuple[OpenNode, ...]


def find_splits(context: TaskContext, engine: Engine, batch: Batch, blocks: int) -> list[ChosenSplit | None]:
    """Find the best split of each open node of a batch; with one block the nodes keep their histograms."""
    spec, partitions = context.spec, context.source.partitions()
    features = _feature_blocks(spec, blocks)
    open_nodes = tuple(replace(node, cells=None) for node in batch.open_nodes) if len(features) > 1 else ()
    slots = batch.slot_of_node(len(context.code_tree.feature))
    task = CountTask(context, slots, len(batch.slots), batch.wide, features, open_nodes)
    if len(features) == 1:
        [total] = engine.reduce(_count_cells, partitions, task)
        batch.assign_cells(total)
        return _best_of_each(batch.open_nodes, spec, engine.parallelism)
    results = engine.reduce(
        _count_cells, partitions, task, blocks=len(features), finish=_best_splits_of_block
    )
    return [_choose(node, found, spec) for node, *found in zip(batch.open_nodes, *results, strict=True)]


def _feature_blocks(spec: GrowthSpec, n: int) -> tuple[tuple[int, int], ...]:
    """Cut the features into at most ``n`` ranges with about the same number of cells."""
    targets = np.arange(1, n) * spec.n_cells / n
    cuts = np.unique([0, *np.searchsorted(spec.offsets, targets).tolist(), len(spec.nominal)])
    return tuple(pairwise(cuts.tolist()))


# ---- run by the engine ---------------------------------------------------------------------------------


def _count_cells(partitions: Sequence[Partition], task: CountTask) -> list[Cells]:
    """Count the rows of partitions into the cells of all slots, cut by blocks of features."""
    spec = task.context.spec
    cells = subtree.zero_cells(spec, task.n_slots, weighted=task.wide)
    squares = np.zeros(task.n_slots * levelwise.SQUARE_PARTS if spec.needs_variance else 0, dtype=np.int64)
    for partition in partitions:
        rows = task.context.read(partition, weighted=task.wide)
        task.context.count(partition, rows, task.slot_of_node, cells, squares)
    table = cells.reshape(task.n_slots, spec.n_cells, -1)
    blocks = [table[:, spec.offsets[first] : spec.offsets[last]] for first, last in task.features]
    if not spec.needs_variance:
        return blocks
    tail = squares.reshape(task.n_slots, -1)
    return [np.concatenate([block.reshape(task.n_slots, -1), tail], axis=1) for block in blocks]


def _best_splits_of_block(block: int, cells: Cells, task: CountTask) -> list[_Found]:
    """Find for each node the best split of every feature of a block, and the children of likely winners."""
    first, last = task.features[block]
    spec = task.context.spec.some(first, last)
    results = []
    for node, table in zip(task.open_nodes, cells, strict=True):
        counted = np.ascontiguousarray(table).reshape(-1)
        bounds = node.node_range.lower, node.node_range.upper
        here = subtree.NodeRules.of(task.context.spec, node.node_range).some(first, last)
        with subtree.as_data_error(*OTHER_ROWS):
            node_cells, variance = _cells_and_variance(counted, spec, node)
            best = levelwise.best_per_feature(
                node_cells, spec, node.counts, node.n_rows, *bounds, variance, here
            )
        likely = [
            ChosenSplit(split, *subtree.children_totals(node_cells, split, spec)) for split in best.splits
        ]
        shifted = [
            one._replace(split=one.split._replace(feature=one.split.feature + first)) for one in likely
        ]
        results.append(_Found(best.numbers, shifted, variance))
    return results


def _cells_and_variance(counted: Cells, spec: GrowthSpec, node: OpenNode) -> tuple[Cells, float]:
    """Return the histogram of a node and the variance of its target, from what was counted."""
    if not spec.needs_variance:
        return counted, 0.0
    cells, squares = counted[: -levelwise.SQUARE_PARTS], counted[-levelwise.SQUARE_PARTS :]
    return cells, levelwise.variance_of_squares(squares.astype(np.int64, copy=False), spec, node.counts)


# ---- run in this process -------------------------------------------------------------------------------


def _choose(node: OpenNode, results: Sequence[_Found], spec: GrowthSpec) -> ChosenSplit | None:
    """Choose the best split among the features of all blocks, in their order."""
    numbers = np.concatenate([found.numbers for found in results])
    variance, here = results[0].variance, subtree.NodeRules.of(spec, node.node_range)
    winner = levelwise.choose_split(numbers, spec, node.counts, node.n_rows, variance, here)
    likely = {chosen.split.feature: chosen for found in results for chosen in found.likely}
    return None if winner < 0 else likely[winner]


def _best_of_each(nodes: list[OpenNode], spec: GrowthSpec, parallelism: int) -> list[ChosenSplit | None]:
    n_threads = min(parallelism, cpu_count() or 1, len(nodes) // _NODES_PER_THREAD)
    if n_threads < 2:
        return [_best(node, spec) for node in nodes]
    with Pool(n_threads) as pool:
        return list(pool.map(lambda node: _best(node, spec), nodes))


def _best(node: OpenNode, spec: GrowthSpec) -> ChosenSplit | None:
    assert node.cells is not None
    with subtree.as_data_error(*OTHER_ROWS):
        cells, variance = _cells_and_variance(node.cells, spec, node)
        split = subtree.best_split(cells, spec, node.counts, node.n_rows, node.node_range, variance)
    return None if split is None else ChosenSplit(split, *subtree.children_totals(cells, split, spec))
