"""The growing kernels: a subtree from a block of rows, and its pieces one by one.

Rows are three arrays that move together: ``codes`` [n, F] (``uint8`` or ``uint16``), ``label`` (``uint16``)
and ``weight`` (``int64``, or None where every row counts 1). ``grow`` and ``partition`` reorder them.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam import _native
from hornbeam._native import Columns, Missing, Nominal, Rules
from hornbeam.typing import Codes, Counts, Floats, Indices

__all__ = [
    "CRITERIA",
    "Block",
    "Cells",
    "Columns",
    "Missing",
    "Nodes",
    "Nominal",
    "Rows",
    "Rules",
    "Split",
    "Terms",
    "best_split",
    "check_rows",
    "children_totals",
    "empty_cells",
    "grow",
    "histogram",
    "partition",
    "zero_cells",
]

type Cells = NDArray[np.int32] | NDArray[np.int64]

CRITERIA = {"entropy": 0, "gini": 1, "hellinger": 2}


class Rows(NamedTuple):
    """Coded rows that move together."""

    codes: Codes
    label: NDArray[np.uint16]
    weight: Counts | None


class Terms(NamedTuple):
    """What the columns are, what a split is worth, and which rules it must keep."""

    columns: Columns
    criterion: int
    rules: Rules
    nominal: NDArray[np.uint8]
    monotone: NDArray[np.int8] | None
    offsets: Counts
    n_cells: int
    n_classes: int
    value: Floats | None = None

    @classmethod
    def of(
        cls,
        n_codes: Indices,
        nominal: NDArray[np.uint8],
        monotone: NDArray[np.int8] | None,
        value: Floats | None,
        n_classes: int,
        criterion: int,
        rules: Rules,
    ) -> Self:
        """Check what the columns are; each has a cell for every code, the missing one included."""
        columns = Columns(n_codes, nominal, monotone, value, n_classes)
        offsets = np.concatenate([[0], np.cumsum(n_codes + 1, dtype=np.int64)])
        return cls(columns, criterion, rules, nominal, monotone, offsets, int(offsets[-1]), n_classes, value)

    @property
    def n_codes(self) -> Indices:
        """Codes of each feature, the missing one aside."""
        return (np.diff(self.offsets) - 1).astype(np.int32)

    def some(self, first: int, last: int) -> Self:
        """Return the terms of the features from ``first`` up to ``last`` alone."""
        monotone = None if self.monotone is None else self.monotone[first:last]
        value = None if self.value is None else self.value[self.offsets[first] : self.offsets[last]]
        n_codes, nominal = self.n_codes[first:last], self.nominal[first:last]
        return self.of(n_codes, nominal, monotone, value, self.n_classes, self.criterion, self.rules)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as plain arrays: the columns are checked again where they arrive."""
        plain = (self.n_codes, self.nominal, self.monotone, self.value, self.n_classes)
        return self.of, (*plain, self.criterion, self.rules)


class Block(NamedTuple):
    """A node's rows [begin, end), its depth, and the bounds monotone constraints put on it."""

    begin: int
    end: int
    depth: int = 0
    lower: float = 0.0
    upper: float = 1.0


class Nodes(NamedTuple):
    """Nodes as the kernels make them: parents before children, siblings in slot order."""

    parent: Indices
    slot: Indices
    feature: Indices
    left: Indices
    right: Indices
    missing_slot: Indices
    gain: Floats
    rows: Counts
    evidence: Counts
    map_start: Counts
    map: Indices


class Split(NamedTuple):
    """The best split of a node: each code of one feature has a slot, the missing code's stands last."""

    feature: int
    gain: float
    left: int
    right: int
    missing_slot: int
    n_slots: int
    slot_of: Indices


def check_rows(rows: Rows, terms: Terms) -> None:
    """Refuse codes and labels outside their ranges, once, before any kernel counts them."""
    _native.check_codes(rows.codes, rows.label, terms.columns)


def grow(rows: Rows, terms: Terms, block: Block, watch: Counts, cells: Cells | None = None) -> Nodes:
    """Grow a whole subtree from a block of rows; ``cells`` is its histogram if it is known already."""
    return Nodes(
        *_native.grow(*rows, terms.columns, terms.criterion, terms.rules, *block, watch=watch, cells=cells)
    )


def empty_cells(rows: Rows, terms: Terms, n_slots: int = 1) -> Cells:
    """Zeroed cells [slot, feature x code x class]: counts, or pairs of weight and rows."""
    return zero_cells(terms, n_slots, weighted=rows.weight is not None)


def zero_cells(terms: Terms, n_slots: int, *, weighted: bool) -> Cells:
    """Zeroed cells of rows that have weights, or that count 1 each: then 32 bits a cell do below 2**31 rows."""
    if weighted:
        return np.zeros(n_slots * terms.n_cells * terms.n_classes * 2, dtype=np.int64)
    return np.zeros(n_slots * terms.n_cells * terms.n_classes, dtype=np.int32)


def histogram(
    rows: Rows, terms: Terms, begin: int, end: int, cells: Cells, slots: Indices | None = None
) -> None:
    """Count rows [begin, end) into cells; ``slots`` names each row's block, -1 for none."""
    _native.histogram(*rows, terms.columns, slots, begin, end, cells)


def best_split(
    cells: Cells, terms: Terms, counts: Counts, n_rows: int, lower: float = 0.0, upper: float = 1.0
) -> Split | None:
    """Find the best split of one node from its cells, class weights and rows."""
    weighted = cells.dtype == np.int64
    found = _native.best_split(
        cells, weighted, terms.columns, terms.criterion, terms.rules, counts, n_rows, lower, upper
    )
    return None if found is None else Split(*found)


def children_totals(cells: Cells, split: Split, terms: Terms) -> tuple[Counts, Counts]:
    """Class weights and rows of each child, read off the cells of the split's feature."""
    table = cells.reshape(terms.n_cells, terms.n_classes, -1)
    start = int(terms.offsets[split.feature])
    mine = table[start : start + len(split.slot_of)].astype(np.int64)
    counts = np.zeros((split.n_slots, terms.n_classes), dtype=np.int64)
    n_rows = np.zeros(split.n_slots, dtype=np.int64)
    present = split.slot_of >= 0
    np.add.at(counts, split.slot_of[present], mine[present, :, 0])
    np.add.at(n_rows, split.slot_of[present], mine[present, :, -1].sum(axis=1))
    return counts, n_rows


def partition(rows: Rows, terms: Terms, begin: int, end: int, split: Split) -> Counts:
    """Move rows so that each slot's are contiguous; return where each begins, and the end."""
    starts: Counts = _native.partition(
        *rows, terms.columns, begin, end, split.feature, split.slot_of, split.n_slots
    )
    return starts
