"""The kernels of the level phase: descent in a tree over codes, histograms of many nodes, splits by feature."""

from typing import NamedTuple

import numpy as np

from hornbeam.kernels import _native
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRules, Rows, Split, cell_kind
from hornbeam.typing import Codes, Counts, Floats, Indices

_NO_RULES = NodeRules()
SQUARE_PARTS = 4  #: numbers of 64 bits in a sum of squares, with 32 bits each, so that none overflows


class CodeTree(NamedTuple):
    """A tree whose splits are on codes, children after their parents, siblings adjacent.

    Codes up to ``left`` go to the first child, higher ones to the second. At a nominal split ``left`` is -1 and
    ``map[map_start + code]`` is the slot. A missing value goes to ``missing_slot``. A slot of -1 means stop.
    """

    feature: Indices
    first_child: Indices
    left: Indices
    missing_slot: Indices
    map_start: Counts
    map: Indices


class FeatureSplits(NamedTuple):
    """Four numbers per feature of a node, and the splits of these features that may win among all features.

    The numbers are the gain after the price (NaN: no split), the score that features are compared by (NaN: not yet
    computed), the bits that the search costs, and whether there are few categories (``native/growing/choice.hpp``).
    """

    numbers: Floats
    splits: list[Split]


def descend(
    codes: Codes, spec: GrowthSpec, tree: CodeTree, node: Indices | None = None, seen: int = 1
) -> Indices:
    """Route each row of codes down a tree; return the node where it stops.

    ``node`` is the node of each row when the tree had ``seen`` nodes; it is overwritten.
    """
    if node is None:
        node = np.zeros(len(codes), dtype=np.int32)
    _native.descend(codes, spec.columns, *tree, node, seen)
    return node


def count_open(
    rows: Rows,
    spec: GrowthSpec,
    tree: CodeTree,
    slot_of_node: Indices,
    cells: Cells,
    node: Indices | None = None,
    seen: int = 1,
    squares: Counts | None = None,
) -> Indices:
    """Count each row into the cells of its node's slot (-1: nowhere); return the nodes as `descend` does.

    ``squares`` are four parts per slot, to which the squares of the counted rows are added as in `add_squares`.
    """
    if node is None:
        node = np.zeros(rows.n_rows, dtype=np.int32)
    given = (*rows, spec.columns, *tree, node, seen, slot_of_node, cells, squares)
    _native.count_open(*given)
    return node


def add_squares(rows: Rows, node: Indices, slot_of_node: Indices, parts: Counts) -> None:
    """Add the squared numerators over weights of the rows of each slot to the four parts of its sum."""
    assert rows.numerator is not None
    _native.add_squares(rows.numerator, rows.weight, node, slot_of_node, parts)


def variance_of_squares(parts: Counts, spec: GrowthSpec, evidence: Counts) -> float:
    """Return the target variance of a node from its sum of squares, weight and sum; see `target_variance`."""
    return _native.variance_of_squares(parts, evidence, spec.rules)


def best_per_feature(
    cells: Cells,
    spec: GrowthSpec,
    evidence: Counts,
    n_rows: int,
    lower: float,
    upper: float,
    variance: float = 0.0,
    here: NodeRules = _NO_RULES,
) -> FeatureSplits:
    """Find the best split per feature of one node, from its cells, evidence, rows and target variance."""
    common = (cell_kind(spec, cells), spec.columns, spec.criterion, spec.rules)
    numbers, splits = _native.best_per_feature(
        cells, *common, evidence, n_rows, lower, upper, variance, *here
    )
    return FeatureSplits(numbers, [Split(*split) for split in splits])


def choose_split(
    numbers: Floats,
    spec: GrowthSpec,
    evidence: Counts,
    n_rows: int,
    variance: float = 0.0,
    here: NodeRules = _NO_RULES,
) -> int:
    """Return the winning feature given the numbers of all features; -1: none."""
    common = (cell_kind(spec), spec.columns, spec.criterion, spec.rules)
    return _native.choose_split(numbers, *common, evidence, n_rows, variance, here.allowed)
