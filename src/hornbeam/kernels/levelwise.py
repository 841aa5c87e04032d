"""The kernels of the level phase: rows down a tree over codes, cells of many nodes, splits by blocks of features."""

from typing import NamedTuple

import numpy as np

from hornbeam import _native
from hornbeam.kernels.subtree import Cells, GrowthSpec, Rows, Split, cell_kind
from hornbeam.typing import Codes, Counts, Floats, Indices

__all__ = ["CodeTree", "FeatureSplits", "best_per_feature", "choose_split", "count_open", "descend"]


class CodeTree(NamedTuple):
    """A tree whose tests are on codes, children after their parents, siblings in a row.

    Codes up to ``left`` go to the first child, higher ones to the second. At a nominal test ``left`` is -1 and
    ``map[map_start + code]`` is the slot. A missing value goes to ``missing_slot``. A slot of -1 means stop.
    """

    feature: Indices
    first_child: Indices
    left: Indices
    missing_slot: Indices
    map_start: Counts
    map: Indices


class FeatureSplits(NamedTuple):
    """What each of some features offers a node, four numbers a feature, and those of their splits that may win.

    The numbers are the gain (NaN: nothing is offered), the score that features are compared by (NaN: not yet known),
    the bits that the search costs, and whether the categories are few (``native/choice.hpp``).
    """

    numbers: Floats
    splits: list[Split]


def descend(
    codes: Codes, terms: GrowthSpec, guide: CodeTree, node: Indices | None = None, seen: int = 1
) -> Indices:
    """Send each row of codes down a tree; return the node where it stops.

    ``node`` is where the rows stood when the tree had ``seen`` nodes; it is written to.
    """
    if node is None:
        node = np.zeros(len(codes), dtype=np.int32)
    _native.descend(codes, terms.columns, *guide, node, seen)
    return node


def count_open(
    rows: Rows,
    terms: GrowthSpec,
    guide: CodeTree,
    slot_of_node: Indices,
    cells: Cells,
    node: Indices | None = None,
    seen: int = 1,
) -> Indices:
    """Count each row into the cells of the slot its node has (-1: nowhere); return the nodes as `descend` does."""
    if node is None:
        node = np.zeros(rows.n_rows, dtype=np.int32)
    _native.count_open(*rows, terms.columns, *guide, node, seen, slot_of_node, cells)
    return node


def best_per_feature(
    cells: Cells,
    terms: GrowthSpec,
    evidence: Counts,
    n_rows: int,
    lower: float,
    upper: float,
    spread: float = 0.0,
) -> FeatureSplits:
    """Find what each feature offers one node, from its cells of these features, evidence, rows and spread."""
    what = (cell_kind(terms, cells), terms.columns, terms.criterion, terms.rules)
    numbers, splits = _native.offers(cells, *what, evidence, n_rows, lower, upper, spread)
    return FeatureSplits(numbers, [Split(*split) for split in splits])


def choose_split(
    numbers: Floats, terms: GrowthSpec, evidence: Counts, n_rows: int, spread: float = 0.0
) -> int:
    """Tell which feature wins by the declared order, given what all of them offer; -1: none does."""
    what = (cell_kind(terms), terms.columns, terms.criterion, terms.rules)
    winner: int = _native.choose(numbers, *what, evidence, n_rows, spread)
    return winner
