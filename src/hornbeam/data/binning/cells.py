"""Cells: intervals of keys with exact row counts, divided until each has few rows or a single value.

A key is an unsigned 64-bit integer that sorts like its float (`kernels.census`). The census groups keys into cells by
their leading bits. Further passes divide cells with too many rows by their next bits. Only integers and bits are
combined, so the result does not depend on the order and grouping of rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition, Source
from hornbeam.kernels.census import CELL_SHIFT, MOST_DIGITS, ZERO, Entries, Keys, count_cell_parts
from hornbeam.typing import Counts

LIGHT_CELL = 4  # a cell is light if it has at most one in this number of the rows of an equal bin
PARTS_AT_ONCE = 1 << 22  # parts of cells that one pass may count, 24 bytes each

ONE = np.uint64(1)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Disjoint intervals of keys of one feature, in order: first and last possible key, and number of rows."""

    low: Keys
    high: Keys
    count: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """Cells to divide, of several features in sequence, in the layout of `kernels.census.tally`."""

    features: tuple[int, ...]
    starts: Counts
    low: Keys
    high: Keys
    digit_shift: Counts
    digits: Counts


@dataclass(slots=True, eq=False)
class DigitCounts:
    """Row counts of the parts of divided cells, and the bits that all (`ones`) and some (`some`) of their keys have."""

    counts: Counts
    ones: Keys
    some: Keys

    def merge(self, other: "DigitCounts") -> "DigitCounts":
        """Add the counts of other rows in place."""
        self.counts += other.counts
        self.ones &= other.ones
        self.some |= other.some
        return self


def census_cells(entries: Entries, at: int) -> Cells:
    """Return the cells of a full feature, with bounds narrowed by the bits that are the same in all its keys."""
    run = slice(*entries.starts[at : at + 2])
    below = np.uint64((1 << CELL_SHIFT) - 1)
    low, high = entries.keys[run] | entries.ones[at] & below, entries.keys[run] | entries.some[at] & below
    # Zero is the most frequent value of many features: a cell of zeros alone needs no further pass.
    zero = (entries.keys[run] == ZERO) & (entries.counts[run] == entries.zeros[at])
    return Cells(np.where(zero, ZERO, low), np.where(zero, ZERO, high), entries.counts[run])


def divide(source: Source, engine: Engine, crowded: dict[int, Cells], max_bins: int) -> list[Cells]:
    """Divide the cells of some features until each is light or a single value."""
    refined = dict(crowded)
    while plans := {
        f: plan for f, cells in refined.items() if (plan := plan_division(f, cells, max_bins)) is not None
    }:
        for division in batches(list(plans.values())):
            [counts] = engine.reduce(
                count_parts, source.partitions(), (source, division), combine=DigitCounts.merge
            )
            for at, feature in enumerate(division.features):
                refined[feature] = split_cells(refined[feature], division, counts, at)
    return list(refined.values())


def plan_division(feature: int, cells: Cells, max_bins: int) -> Division | None:
    """Choose the cells of a feature to divide, and by how many bits; None if all are light or single values."""
    light = max(1, int(cells.count.sum()) // (LIGHT_CELL * max_bins))
    heavy = np.flatnonzero((cells.count > light) & (cells.low != cells.high))
    if not len(heavy):
        return None
    low, high = cells.low[heavy], cells.high[heavy]
    width = bit_length(low ^ high)
    # A part gets about a quarter of the rows of a light cell, so that uneven cells are seldom divided again.
    digits = np.minimum(bit_length((cells.count[heavy] // light).astype(np.uint64)) + 2, MOST_DIGITS)
    digits = np.minimum(digits, width)
    return Division((feature,), np.array([0, len(low)]), low, high, width - digits, digits)


def batches(divisions: list[Division]) -> Iterator[Division]:
    """Concatenate divisions for one pass, up to `PARTS_AT_ONCE` parts."""
    batch: list[Division] = []
    parts = 0
    for division in divisions:
        size = int((1 << division.digits).sum())
        if batch and parts + size > PARTS_AT_ONCE:
            yield concat_divisions(batch)
            batch, parts = [], 0
        batch.append(division)
        parts += size
    yield concat_divisions(batch)


def concat_divisions(batch: list[Division]) -> Division:
    """Concatenate several divisions."""
    lengths = [len(division.low) for division in batch]
    return Division(
        tuple(feature for division in batch for feature in division.features),
        np.concatenate([[0], np.cumsum(lengths)]),
        *(
            np.concatenate([getattr(division, name) for division in batch])
            for name in ("low", "high", "digit_shift", "digits")
        ),
    )


def count_parts(partitions: Sequence[Partition], shared: tuple[Source, Division]) -> list[DigitCounts]:
    """Task: count the rows of some partitions in each part."""
    source, division = shared
    n_parts = int((1 << division.digits).sum())
    totals = DigitCounts(
        np.zeros(n_parts, np.int64), np.full(n_parts, ~np.uint64(0)), np.zeros(n_parts, np.uint64)
    )
    for partition in partitions:
        count_cell_parts(
            source.read(partition, division.features).columns,
            division.starts,
            division.low,
            division.high,
            division.digit_shift,
            division.digits,
            totals.counts,
            totals.ones,
            totals.some,
        )
    return [totals]


def split_cells(cells: Cells, division: Division, totals: DigitCounts, at: int) -> Cells:
    """Replace the divided cells of one feature by their parts that are not empty."""
    run = slice(*division.starts[at : at + 2])
    ends = np.cumsum(1 << division.digits)
    begins = ends - (1 << division.digits)
    part = begins[run][0] + np.flatnonzero(totals.counts[begins[run][0] : ends[run][-1]])
    cell = np.searchsorted(ends, part, side="right")

    shift = division.digit_shift[cell].astype(np.uint64)
    below = (ONE << shift) - ONE
    above = ~((ONE << (shift + division.digits[cell].astype(np.uint64))) - ONE)
    first = division.low[cell] & above | (part - begins[cell]).astype(np.uint64) << shift

    kept = np.ones(len(cells.low), np.bool_)
    kept[np.searchsorted(cells.low, division.low[run])] = False
    low = np.concatenate([cells.low[kept], first | totals.ones[part] & below])
    high = np.concatenate([cells.high[kept], first | totals.some[part] & below])
    count = np.concatenate([cells.count[kept], totals.counts[part]])
    order = np.argsort(low, kind="stable")  # fast: both runs are sorted already
    return Cells(low[order], high[order], count[order])


def bit_length(numbers: Keys) -> Counts:
    """Return the number of bits of each integer."""
    # Halves of 32 bits are exact as floats, and frexp gives their length.
    upper = (numbers >> np.uint64(32)).astype(np.float64)
    lower = (numbers & np.uint64(0xFFFFFFFF)).astype(np.float64)
    lengths: Counts = np.where(upper > 0, np.frexp(upper)[1] + 32, np.frexp(lower)[1]).astype(np.int64)
    return lengths
