"""Cells: intervals of keys with exact row counts, divided until each is light or a single value.

A census tells cells apart by the leading bits of their keys. Where one holds too many rows, further passes
over the data divide it by its next bits. All that is added up is integers and bits, so the rows may come in
any order and grouping.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Source, Unit
from hornbeam.kernels.census import CELL_SHIFT, MOST_DIGITS, ZERO, Entries, Keys, tally
from hornbeam.typing import Counts

__all__ = ["LIGHT_CELL", "Cells", "cells_of", "divide"]

# A cell is light when it holds at most this part of an equal bin.
LIGHT_CELL = 4
# Parts of cells one pass may count (24 bytes each).
PARTS_AT_ONCE = 1 << 22

ONE = np.uint64(1)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Disjoint intervals of keys of one feature, in order: first and last possible key, and rows."""

    low: Keys
    high: Keys
    count: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """Cells to divide, of several features one after the other, as `kernels.cuts.tally` wants them."""

    features: tuple[int, ...]
    starts: Counts
    low: Keys
    high: Keys
    digit_shift: Counts
    digits: Counts


@dataclass(slots=True, eq=False)
class DigitCounts:
    """How the rows of divided cells spread over the parts; tallies of different rows add exactly."""

    counts: Counts
    ones: Keys
    some: Keys

    def absorb(self, other: "DigitCounts") -> "DigitCounts":
        """Add another tally to this one."""
        self.counts += other.counts
        self.ones &= other.ones
        self.some |= other.some
        return self


def cells_of(entries: Entries, at: int) -> Cells:
    """The cells of a full feature. Bits that never vary are known, which narrows the bounds."""
    run = slice(*entries.starts[at : at + 2])
    below = np.uint64((1 << CELL_SHIFT) - 1)
    low, high = entries.keys[run] | entries.ones[at] & below, entries.keys[run] | entries.some[at] & below
    # Zero is the value that repeats most often: a cell of nothing else needs no further pass.
    zero = (entries.keys[run] == ZERO) & (entries.counts[run] == entries.zeros[at])
    return Cells(np.where(zero, ZERO, low), np.where(zero, ZERO, high), entries.counts[run])


def divide(source: Source, engine: Engine, crowded: dict[int, Cells], max_bins: int) -> list[Cells]:
    """Divide the cells of some features until each is light or a single value."""
    settled = dict(crowded)
    while plans := {
        f: plan for f, cells in settled.items() if (plan := division_of(f, cells, max_bins)) is not None
    }:
        for division in batches(list(plans.values())):
            [tally] = engine.reduce(
                count_parts, source.units(), (source, division), combine=DigitCounts.absorb
            )
            for at, feature in enumerate(division.features):
                settled[feature] = split_cells(settled[feature], division, tally, at)
    return list(settled.values())


def division_of(feature: int, cells: Cells, max_bins: int) -> Division | None:
    """Which cells of a feature to divide, by how many bits; None if all are light or single values."""
    light = max(1, int(cells.count.sum()) // (LIGHT_CELL * max_bins))
    heavy = np.flatnonzero((cells.count > light) & (cells.low != cells.high))
    if not len(heavy):
        return None
    low, high = cells.low[heavy], cells.high[heavy]
    width = bit_length(low ^ high)
    # Parts of a quarter of the light mass, so that uneven cells are seldom divided again.
    digits = np.minimum(bit_length((cells.count[heavy] // light).astype(np.uint64)) + 2, MOST_DIGITS)
    digits = np.minimum(digits, width)
    return Division((feature,), np.array([0, len(low)]), low, high, width - digits, digits)


def batches(divisions: list[Division]) -> Iterator[Division]:
    """Join divisions for one pass as long as their parts fit."""
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
    """Several divisions as one."""
    lengths = [len(division.low) for division in batch]
    return Division(
        tuple(feature for division in batch for feature in division.features),
        np.concatenate([[0], np.cumsum(lengths)]),
        *(
            np.concatenate([getattr(division, name) for division in batch])
            for name in ("low", "high", "digit_shift", "digits")
        ),
    )


def count_parts(units: Sequence[Unit], shared: tuple[Source, Division]) -> list[DigitCounts]:
    """The tally of some units: a task of the engine."""
    source, division = shared
    n_parts = int((1 << division.digits).sum())
    found = DigitCounts(
        np.zeros(n_parts, np.int64), np.full(n_parts, ~np.uint64(0)), np.zeros(n_parts, np.uint64)
    )
    for unit in units:
        tally(
            source.read(unit, division.features).columns,
            division.starts,
            division.low,
            division.high,
            division.digit_shift,
            division.digits,
            found.counts,
            found.ones,
            found.some,
        )
    return [found]


def split_cells(cells: Cells, division: Division, tally: DigitCounts, at: int) -> Cells:
    """The cells of one feature with the divided ones replaced by their parts that are not empty."""
    run = slice(*division.starts[at : at + 2])
    ends = np.cumsum(1 << division.digits)
    begins = ends - (1 << division.digits)
    part = begins[run][0] + np.flatnonzero(tally.counts[begins[run][0] : ends[run][-1]])
    cell = np.searchsorted(ends, part, side="right")

    shift = division.digit_shift[cell].astype(np.uint64)
    below = (ONE << shift) - ONE
    above = ~((ONE << (shift + division.digits[cell].astype(np.uint64))) - ONE)
    first = division.low[cell] & above | (part - begins[cell]).astype(np.uint64) << shift

    kept = np.ones(len(cells.low), np.bool_)
    kept[np.searchsorted(cells.low, division.low[run])] = False
    low = np.concatenate([cells.low[kept], first | tally.ones[part] & below])
    high = np.concatenate([cells.high[kept], first | tally.some[part] & below])
    count = np.concatenate([cells.count[kept], tally.counts[part]])
    order = np.argsort(low, kind="stable")  # which merges two runs that are in order
    return Cells(low[order], high[order], count[order])


def bit_length(numbers: Keys) -> Counts:
    """Bits needed to write each number."""
    # Halves of 32 bits are exact as floats.
    upper = (numbers >> np.uint64(32)).astype(np.float64)
    lower = (numbers & np.uint64(0xFFFFFFFF)).astype(np.float64)
    lengths: Counts = np.where(upper > 0, np.frexp(upper)[1] + 32, np.frexp(lower)[1]).astype(np.int64)
    return lengths
