"""One pass over the rows for a batch of open nodes: their cells summed, their best splits found.

With one block the sum comes home, where cells can be subtracted and splits are found. With several, each
task's cells are cut by features; the splits of each block are found where its sum lies, and come home as small
answers: what every feature offers, and the few splits that may win among all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os import cpu_count
from typing import NamedTuple

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Unit
from hornbeam.growing.levelwise.frontier import Batch
from hornbeam.growing.levelwise.open_node import OpenNode
from hornbeam.growing.levelwise.same_rows import OTHER_ROWS
from hornbeam.growing.levelwise.task_context import TaskContext
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.levelwise import FeatureSplits
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import Cells, GrowthSpec, Split
from hornbeam.typing import Counts, Indices

__all__ = ["ChosenSplit", "find_splits"]

_NODES_A_THREAD = 32  # for fewer a thread is not worth its start: a node takes some tenths of a millisecond


class ChosenSplit(NamedTuple):
    """A node's best split, and class weights and rows of each child."""

    split: Split
    counts: Counts
    n_rows: Counts


@dataclass(frozen=True, slots=True)
class CountTask:
    """What a task needs to know: which nodes are counted where, and how cells are cut by features.

    The nodes asked are told only where blocks of features are finished apart from each other.
    """

    ground: TaskContext
    slot_of_node: Indices
    n_slots: int
    wide: bool
    features: tuple[tuple[int, int], ...]
    asked: tuple[OpenNode, ...]


def find_splits(ground: TaskContext, engine: Engine, batch: Batch, blocks: int) -> list[ChosenSplit | None]:
    """Find the best split of each open node of a batch; with one block their cells stay with them."""
    terms, units = ground.terms, ground.source.units()
    features = _blocks(terms, blocks)
    asked = tuple(replace(s, cells=None) for s in batch.asked) if len(features) > 1 else ()
    slots = batch.slot_of_node(len(ground.guide.feature))
    order = CountTask(ground, slots, len(batch.slots), batch.wide, features, asked)
    if len(features) == 1:
        [total] = engine.reduce(_count_cells, units, order)
        batch.share(total)
        return _best_of_each(batch.asked, terms, engine.parallelism)
    answers = engine.reduce(_count_cells, units, order, blocks=len(features), finish=_best_splits_of_block)
    return [_choose(sprout, offers, terms) for sprout, *offers in zip(batch.asked, *answers, strict=True)]


def _blocks(terms: GrowthSpec, n: int) -> tuple[tuple[int, int], ...]:
    """Cut the features into at most ``n`` runs with about as many cells each."""
    aims = np.arange(1, n) * terms.n_cells / n
    cuts = np.unique([0, *np.searchsorted(terms.offsets, aims).tolist(), len(terms.nominal)])
    return tuple(pairwise(cuts.tolist()))


# ---- tasks ---------------------------------------------------------------------------------------------


def _count_cells(units: Sequence[Unit], order: CountTask) -> list[Cells]:
    """Cells of all slots, cut by features; of no units, those of no rows."""
    terms = order.ground.terms
    cells = subtree.zero_cells(terms, order.n_slots, weighted=order.wide)
    for unit in units:
        rows = order.ground.read(unit, weighted=order.wide)
        order.ground.count(unit, rows, order.slot_of_node, cells)
    if len(order.features) == 1:
        return [cells]
    table = cells.reshape(order.n_slots, terms.n_cells, -1)
    return [table[:, terms.offsets[first] : terms.offsets[last]] for first, last in order.features]


def _best_splits_of_block(
    block: int, cells: Cells, order: CountTask
) -> list[tuple[FeatureSplits, list[ChosenSplit]]]:
    """Find what the features of a block offer each node, and what the children of likely splits hold."""
    first, last = order.features[block]
    terms = order.ground.terms.some(first, last)
    answers = []
    for sprout, table in zip(order.asked, cells, strict=True):
        mine = np.ascontiguousarray(table).reshape(-1)
        bounds = sprout.block.lower, sprout.block.upper
        with subtree.refusing(*OTHER_ROWS):
            offers = levelwise.best_per_feature(mine, terms, sprout.counts, sprout.n_rows, *bounds)
        found = [ChosenSplit(split, *subtree.children_totals(mine, split, terms)) for split in offers.splits]
        shifted = [one._replace(split=one.split._replace(feature=one.split.feature + first)) for one in found]
        answers.append((offers._replace(splits=[]), shifted))
    return answers


# ---- at home -------------------------------------------------------------------------------------------


def _choose(
    sprout: OpenNode, answers: Sequence[tuple[FeatureSplits, list[ChosenSplit]]], terms: GrowthSpec
) -> ChosenSplit | None:
    """Let the features of all blocks stand side by side, in their order, and take the one that wins."""
    numbers = np.concatenate([offers.numbers for offers, _ in answers])
    winner = levelwise.choose_split(numbers, terms, sprout.counts, sprout.n_rows)
    likely = {found.split.feature: found for _, some in answers for found in some}
    return None if winner < 0 else likely[winner]


def _best_of_each(asked: list[OpenNode], terms: GrowthSpec, parallelism: int) -> list[ChosenSplit | None]:
    n_threads = min(parallelism, cpu_count() or 1, len(asked) // _NODES_A_THREAD)
    if n_threads < 2:
        return [_best(sprout, terms) for sprout in asked]
    with Pool(n_threads) as pool:
        return list(pool.map(lambda sprout: _best(sprout, terms), asked))


def _best(sprout: OpenNode, terms: GrowthSpec) -> ChosenSplit | None:
    assert sprout.cells is not None
    with subtree.refusing(*OTHER_ROWS):
        split = subtree.best_split(sprout.cells, terms, sprout.counts, sprout.n_rows, sprout.block)
    return None if split is None else ChosenSplit(split, *subtree.children_totals(sprout.cells, split, terms))
