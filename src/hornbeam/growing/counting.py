"""One pass over the rows for a batch of open nodes: their cells summed, their best splits found.

With one block the sum comes home, where cells can be subtracted and splits are found. With several, each
task's cells are cut by features; the splits of each block are found where its sum lies, and come home as small
answers: what every feature offers, and the few splits that may win among all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.units import Unit
from hornbeam.growing.coded import CodedSource
from hornbeam.growing.frontier import Batch
from hornbeam.growing.sprout import Sprout
from hornbeam.kernels import level, subtree
from hornbeam.kernels.level import Offers, Tests
from hornbeam.kernels.subtree import Cells, Rows, Split, Terms
from hornbeam.typing import Counts, Indices

__all__ = ["Found", "find_splits", "read_rows"]


class Found(NamedTuple):
    """A node's best split, and class weights and rows of each child."""

    split: Split
    counts: Counts
    n_rows: Counts


@dataclass(frozen=True, slots=True)
class Order:
    """What a task needs: where the rows are, the tree so far, and which of its nodes are counted where.

    The nodes asked are told only where blocks of features are finished apart from each other.
    """

    source: CodedSource
    terms: Terms
    tests: Tests
    slot_of_node: Indices
    n_slots: int
    wide: bool
    features: tuple[tuple[int, int], ...]
    asked: tuple[Sprout, ...]


def find_splits(
    source: CodedSource, terms: Terms, engine: Engine, tests: Tests, batch: Batch, blocks: int
) -> list[Found | None]:
    """Find the best split of each open node of a batch; with one block their cells stay with them."""
    features = _blocks(terms, blocks)
    asked = tuple(replace(s, cells=None) for s in batch.asked) if len(features) > 1 else ()
    slot_of_node = batch.slot_of_node(len(tests.feature))
    order = Order(source, terms, tests, slot_of_node, len(batch.slots), batch.wide, features, asked)
    if len(features) > 1:
        answers = engine.reduce(
            _count_cells, source.units(), order, blocks=len(features), finish=_make_offers
        )
        return [
            _choose(sprout, list(offers), terms)
            for sprout, *offers in zip(batch.asked, *answers, strict=True)
        ]
    [total] = engine.reduce(_count_cells, source.units(), order)
    batch.share(total)
    return [_best(sprout, terms) for sprout in batch.asked]


def read_rows(source: CodedSource, unit: Unit, *, wide: bool) -> Rows:
    """Read the rows of a unit, each with a weight where cells are pairs of weight and rows."""
    rows = source.read(unit)
    if wide and rows.weight is None:
        return rows._replace(weight=np.ones(len(rows.label), dtype=np.int64))
    return rows


def _blocks(terms: Terms, n: int) -> tuple[tuple[int, int], ...]:
    """Cut the features into at most ``n`` runs with about as many cells each."""
    aims = np.arange(1, n) * terms.n_cells / n
    cuts = np.unique([0, *np.searchsorted(terms.offsets, aims).tolist(), len(terms.nominal)])
    return tuple(pairwise(cuts.tolist()))


# ---- tasks ---------------------------------------------------------------------------------------------


def _count_cells(units: Sequence[Unit], order: Order) -> list[Cells]:
    """Cells of all slots, cut by features; of no units, those of no rows."""
    terms = order.terms
    cells = subtree.zero_cells(terms, order.n_slots, weighted=order.wide)
    for unit in units:
        rows = read_rows(order.source, unit, wide=order.wide)
        level.count_open(rows, terms, order.tests, order.slot_of_node, cells)
    if len(order.features) == 1:
        return [cells]
    table = cells.reshape(order.n_slots, terms.n_cells, -1)
    return [table[:, terms.offsets[first] : terms.offsets[last]] for first, last in order.features]


def _make_offers(block: int, cells: Cells, order: Order) -> list[tuple[Offers, list[Found]]]:
    """Find what the features of a block offer each node, and what the children of likely splits hold."""
    first, last = order.features[block]
    terms = order.terms.some(first, last)
    answers = []
    for sprout, table in zip(order.asked, cells, strict=True):
        mine = np.ascontiguousarray(table).reshape(-1)
        bounds = sprout.block.lower, sprout.block.upper
        offers = level.offers(mine, terms, sprout.counts, sprout.n_rows, *bounds)
        found = [Found(split, *subtree.children_totals(mine, split, terms)) for split in offers.splits]
        shifted = [one._replace(split=one.split._replace(feature=one.split.feature + first)) for one in found]
        answers.append((offers._replace(splits=[]), shifted))
    return answers


# ---- at home -------------------------------------------------------------------------------------------


def _choose(sprout: Sprout, answers: Sequence[tuple[Offers, list[Found]]], terms: Terms) -> Found | None:
    """Let the features of all blocks stand side by side, in their order, and take the one that wins."""
    gain = np.concatenate([offers.gain for offers, _ in answers])
    ratio = np.concatenate([offers.ratio for offers, _ in answers])
    winner = level.choose(gain, ratio, terms, sprout.counts, sprout.n_rows)
    likely: dict[int, Any] = {found.split.feature: found for _, some in answers for found in some}
    return None if winner < 0 else likely[winner]


def _best(sprout: Sprout, terms: Terms) -> Found | None:
    assert sprout.cells is not None
    block = sprout.block
    split = subtree.best_split(sprout.cells, terms, sprout.counts, sprout.n_rows, block.lower, block.upper)
    return None if split is None else Found(split, *subtree.children_totals(sprout.cells, split, terms))
