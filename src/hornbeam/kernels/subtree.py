"""The growing kernels: a subtree from a block of rows, and its pieces one by one.

Rows are arrays that move together: ``codes`` [n, F] (``uint8`` or ``uint16``), ``label`` (``uint16``) and
``weight`` (``int64``, or None where every row counts 1). Where rows measure instead of naming a class, ``label`` is
empty and ``numerator`` (``int64``) is what is added up; the weight is the denominator. ``grow`` and ``partition``
reorder them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam import _native
from hornbeam._native import Columns, Missing, Nominal, Rules, child_key
from hornbeam.errors import DataError
from hornbeam.kernels.slots import Slots, narrow_slots
from hornbeam.typing import Codes, Counts, Floats, Indices

__all__ = [
    "CRITERIA",
    "Cells",
    "Columns",
    "GrowthSpec",
    "Missing",
    "NodeRange",
    "Nodes",
    "Nominal",
    "Rows",
    "Rules",
    "Split",
    "best_split",
    "cell_kind",
    "channels",
    "check_rows",
    "child_key",
    "children_totals",
    "empty_cells",
    "grow",
    "histogram",
    "partition",
    "refusing",
    "spread",
    "zero_cells",
]

type Cells = NDArray[np.int32] | NDArray[np.int64]

_MOST = 2**50  # steps a row may weigh
_WRONG_ROWS = "the coded rows do not fit the bins"
_DELETE = "If they come from a cache, delete it: it was changed."
CRITERIA = {"entropy": 0, "gini": 1, "hellinger": 2, "squared_error": 3}
_COUNTS, _WEIGHTS, _SUMS, _RATIOS = range(4)  # what cells hold


class Rows(NamedTuple):
    """Coded rows that move together."""

    codes: Codes
    label: NDArray[np.uint16]
    weight: Counts | None
    numerator: Counts | None = None

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.codes)


class GrowthSpec(NamedTuple):
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
    def sums(self) -> bool:
        """Whether rows carry numerators instead of classes."""
        return self.criterion == CRITERIA["squared_error"]

    @property
    def n_channels(self) -> int:
        """Columns of a node's evidence: the classes; or weight and sum."""
        return 2 if self.sums else self.n_classes

    @property
    def bounds(self) -> tuple[float, float]:
        """What a share of the second class, or a mean, keeps to without constraints."""
        return (-inf, inf) if self.sums else (0.0, 1.0)

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


class NodeRange(NamedTuple):
    """A node's rows [begin, end), its depth, the bounds monotone constraints put on it, the key of its draws."""

    begin: int
    end: int
    depth: int = 0
    lower: float = 0.0
    upper: float = 1.0
    key: int = 0

    @classmethod
    def root(cls, n_rows: int, terms: GrowthSpec, key: int = 0) -> Self:
        """Return the block of all rows."""
        return cls(0, n_rows, 0, *terms.bounds, key)


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
    map: Slots


class Split(NamedTuple):
    """The best split of a node: each code of one feature has a slot, the missing code's stands last."""

    feature: int
    gain: float
    left: int
    right: int
    missing_slot: int
    n_slots: int
    slot_of: Indices


@contextmanager
def refusing(what: str = _WRONG_ROWS, remedy: str = _DELETE) -> Iterator[None]:
    """Raise `DataError` where a kernel refuses its arguments: what is wrong, the kernel's reason, what to do."""
    try:
        yield
    except ValueError as error:
        raise DataError(f"{what}: {error}. {remedy}") from error


def check_rows(rows: Rows, terms: GrowthSpec) -> None:
    """Refuse codes and labels outside their ranges, once, before any kernel counts them.

    Raises
    ------
    DataError
        If a code, a label or a weight is outside its range.
    """
    with refusing():
        _native.check_codes(*rows, terms.columns)
    if rows.weight is not None and rows.n_rows and not 0 <= rows.weight.min() <= rows.weight.max() < _MOST:
        raise DataError(
            "a coded row has a weight out of range; expected 0 to 2**50. If it comes from a cache, delete that: it was "
            "changed."
        )


def grow(rows: Rows, terms: GrowthSpec, block: NodeRange, watch: Counts) -> Nodes:
    """Grow a whole subtree from a block of rows."""
    made = Nodes(*_native.grow(*rows, terms.columns, terms.criterion, terms.rules, *block, watch=watch))
    return made._replace(map=narrow_slots(made.map))


def empty_cells(rows: Rows, terms: GrowthSpec, n_slots: int = 1) -> Cells:
    """Zeroed cells [slot, feature x code x class]: counts, or pairs of weight and rows.

    Of sums [slot, feature x code]: sum and rows; with weights sum, weight and rows.
    """
    return zero_cells(terms, n_slots, weighted=rows.weight is not None)


def zero_cells(terms: GrowthSpec, n_slots: int, *, weighted: bool) -> Cells:
    """Zeroed cells of rows that have weights, or that count 1 each: then 32 bits a cell do below 2**31 rows."""
    if terms.sums:
        return np.zeros(n_slots * terms.n_cells * (3 if weighted else 2), dtype=np.int64)
    if weighted:
        return np.zeros(n_slots * terms.n_cells * terms.n_classes * 2, dtype=np.int64)
    return np.zeros(n_slots * terms.n_cells * terms.n_classes, dtype=np.int32)


def histogram(
    rows: Rows, terms: GrowthSpec, begin: int, end: int, cells: Cells, slots: Indices | None = None
) -> None:
    """Count rows [begin, end) into cells; ``slots`` names each row's block, -1 for none."""
    _native.histogram(*rows, terms.columns, slots, begin, end, cells)


def spread(rows: Rows, terms: GrowthSpec, block: NodeRange) -> float:
    """Variance of the numerators of a block, which corrected splits of sums are measured by; 0 where nobody asks."""
    if not (terms.sums and terms.rules.corrected):
        return 0.0
    variance: float = _native.spread(rows.numerator, rows.weight, block.begin, block.end, terms.rules)
    return variance


def best_split(
    cells: Cells,
    terms: GrowthSpec,
    evidence: Counts,
    n_rows: int,
    block: NodeRange | None = None,
    spread: float = 0.0,
) -> Split | None:
    """Find the best split of one node from its cells, evidence, rows and spread, within the bounds of its block."""
    block = NodeRange.root(n_rows, terms) if block is None else block
    bounds = (block.lower, block.upper, block.key)
    what = (cell_kind(terms, cells), terms.columns, terms.criterion, terms.rules)
    found = _native.best_split(cells, *what, evidence, n_rows, *bounds, spread)
    return None if found is None else Split(*found)


def cell_kind(terms: GrowthSpec, cells: Cells | None = None) -> int:
    """Tell the kernels what the cells of one node hold; without cells, what those of rows without weights would."""
    if terms.sums:
        return _RATIOS if cells is not None and cells.size == 3 * terms.n_cells else _SUMS
    return _WEIGHTS if cells is not None and cells.dtype == np.int64 else _COUNTS


def channels(cells: Cells, terms: GrowthSpec) -> tuple[Counts, Counts]:
    """Read the evidence and the rows of every code of every feature off the cells of one node."""
    if terms.sums:
        sums = cells.reshape(terms.n_cells, -1)
        return sums[:, [1, 0]].astype(np.int64), sums[:, -1].astype(np.int64)
    counts = cells.reshape(terms.n_cells, terms.n_classes, -1)
    return counts[:, :, 0].astype(np.int64), counts[:, :, -1].sum(axis=1, dtype=np.int64)


def children_totals(cells: Cells, split: Split, terms: GrowthSpec) -> tuple[Counts, Counts]:
    """Evidence and rows of each child, read off the cells of the split's feature."""
    start = int(terms.offsets[split.feature])
    mine = slice(start, start + len(split.slot_of))
    evidence = np.zeros((split.n_slots, terms.n_channels), dtype=np.int64)
    n_rows = np.zeros(split.n_slots, dtype=np.int64)
    present = split.slot_of >= 0
    for total, part in zip((evidence, n_rows), channels(cells, terms), strict=True):
        np.add.at(total, split.slot_of[present], part[mine][present])
    return evidence, n_rows


def partition(rows: Rows, terms: GrowthSpec, begin: int, end: int, split: Split) -> Counts:
    """Move rows so that each slot's are contiguous; return where each begins, and the end."""
    starts: Counts = _native.partition(
        *rows, terms.columns, begin, end, split.feature, split.slot_of, split.n_slots
    )
    return starts
