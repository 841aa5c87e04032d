"""Where numeric features are cut: exact counts of key cells, the same for any order and grouping of the rows.

One pass (a *census*) finds a feature's distinct values if they are few; then each has a bin of its own. Otherwise it counts
*cells*: intervals of keys that share their leading bits. Cells that hold too many rows are divided in further passes until
every cell is light or a single value, and neighbouring cells are joined to bins of nearly equal size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.units import Source, Unit
from hornbeam.kernels.cuts import CELL_SHIFT, MOST_DIGITS, TOP, Census, Entries, Keys, floats_of, share, tally
from hornbeam.typing import Counts, Floats

__all__ = ["Cut", "cut", "midpoint", "readable"]

# A cell is light when it holds at most this part of an equal bin.
LIGHT = 4
# What one pass may hold: features of a census, parts of cells (8 bytes each).
FEATURES_AT_ONCE = 64
PARTS_AT_ONCE = 1 << 23

LARGEST = np.finfo(np.float64).max
# Powers of ten beyond 10**22 are not exact as floats.
FINEST = 22
POWERS_OF_TEN = np.array([float(f"1e{exponent}") for exponent in range(-FINEST, FINEST + 1)])


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The edges of one numeric feature, and its distinct values if every one has its own bin."""

    edges: Floats
    values: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Disjoint intervals of keys of one feature, in order, each with its first and last possible key and its rows."""

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
class Tally:
    """How the rows of the cells of a division spread over their parts; tallies of different rows add exactly."""

    counts: Counts
    ones: Keys
    any: Keys

    def absorb(self, other: "Tally") -> "Tally":
        self.counts += other.counts
        self.ones &= other.ones
        self.any |= other.any
        return self


def cut(source: Source, engine: Engine, features: Sequence[int], max_bins: int, *, exact: bool) -> list[Cut]:
    """Cut numeric features into at most `max_bins` bins each.

    Parameters
    ----------
    source, engine
        The rows, and where they are counted. Row counts alone decide; weights do not enter.
    features : sequence of int
        Positions of numeric or ordinal columns.
    max_bins : int
        A feature with no more distinct values gets a bin for each.
    exact : bool
        Put an edge between two values at their very midpoint; else at the shortest decimal near it.

    Returns
    -------
    list of Cut
        One per feature, in the order of `features`.

    Examples
    --------
    >>> from hornbeam.data.engine import LocalEngine
    >>> from hornbeam.data.table import Table
    >>> from hornbeam.data.units import MemorySource
    >>> source = MemorySource(Table.read([[0.1], [0.2], [0.7]]))
    >>> [found] = cut(source, LocalEngine(), [0], 255, exact=False)
    >>> found.edges, found.values
    (array([0.15, 0.4 ]), array([0.1, 0.2, 0.7]))
    """
    cuts: list[Cut] = []
    for begin in range(0, len(features), FEATURES_AT_ONCE):
        some = tuple(features[begin : begin + FEATURES_AT_ONCE])
        [census] = engine.reduce(survey, source.units(), (source, some, max_bins), combine=Census.absorb)
        entries = census.entries()
        known = cuts_between_values(entries, exact=exact)
        crowded = {feature: cells_of(entries, at) for at, feature in enumerate(some) if entries.full[at]}
        if crowded:
            crowded = divide(source, engine, crowded, max_bins)
        cuts += [
            Cut(cuts_between_cells(crowded[feature], max_bins), None) if feature in crowded else found
            for feature, found in zip(some, known, strict=True)
        ]
    return cuts


def survey(units: Sequence[Unit], shared: tuple[Source, tuple[int, ...], int]) -> list[Census]:
    """The census of some units: a task of the engine."""
    source, features, limit = shared
    census = Census(len(features), limit)
    for unit in units:
        columns = source.read(unit).columns
        census.add(tuple(columns[feature] for feature in features))
    return [census]


def cuts_between_values(entries: Entries, *, exact: bool) -> list[Cut]:
    """An edge between any two neighbouring values of a feature; nothing where a feature is full."""
    keys, starts = entries.keys, entries.starts
    if entries.full.any():
        lengths = np.diff(starts)
        keys = keys[np.repeat(~entries.full, lengths)]
        starts = np.cumsum([0, *np.where(entries.full, 0, lengths)])
    values = floats_of(keys)
    # All features at once; what comes out between the last value of one and the first of the next is left out.
    edges = (midpoint if exact else readable)(values[:-1], values[1:])
    return [Cut(edges[begin : max(begin, end - 1)], values[begin:end]) for begin, end in pairwise(starts.tolist())]


def cells_of(entries: Entries, at: int) -> Cells:
    """The cells of a full feature. Bits that never vary are known, so the bounds are as narrow as the census can tell."""
    run = slice(*entries.starts[at : at + 2])
    below = np.uint64((1 << CELL_SHIFT) - 1)
    first = entries.keys[run]
    # Zero is the value that repeats most often, and with it lie only numbers below 2**-1032: take them for zero, which
    # saves a pass and moves no edge.
    last = np.where(first == TOP, TOP, first | entries.any[at] & below)
    return Cells(np.minimum(first | entries.ones[at] & below, last), last, entries.counts[run])


def divide(source: Source, engine: Engine, crowded: dict[int, Cells], max_bins: int) -> dict[int, Cells]:
    """Divide the cells of some features until each is light or a single value."""
    settled = dict(crowded)
    while plans := {f: plan for f, cells in settled.items() if (plan := division_of(f, cells, max_bins)) is not None}:
        for division in together(list(plans.values())):
            [tally] = engine.reduce(count_parts, source.units(), (source, division), combine=Tally.absorb)
            for at, feature in enumerate(division.features):
                settled[feature] = divided(settled[feature], division, tally, at)
    return settled


def division_of(feature: int, cells: Cells, max_bins: int) -> Division | None:
    """Which cells of a feature to divide, and by how many of their bits; None if all are light or single values."""
    light = max(1, int(cells.count.sum()) // (LIGHT * max_bins))
    heavy = np.flatnonzero((cells.count > light) & (cells.low != cells.high))
    if not len(heavy):
        return None
    low, high = cells.low[heavy], cells.high[heavy]
    width = bit_length(low ^ high)
    # Parts of a quarter of the light mass, so that uneven cells are seldom divided again.
    digits = np.minimum(bit_length((cells.count[heavy] // light).astype(np.uint64)) + 2, MOST_DIGITS)
    digits = np.minimum(digits, width)
    return Division((feature,), np.array([0, len(low)]), low, high, width - digits, digits)


def together(divisions: list[Division]) -> Iterator[Division]:
    """Join divisions for one pass as long as their parts fit."""
    batch: list[Division] = []
    parts = 0
    for division in divisions:
        size = int((1 << division.digits).sum())
        if batch and parts + size > PARTS_AT_ONCE:
            yield joined(batch)
            batch, parts = [], 0
        batch.append(division)
        parts += size
    yield joined(batch)


def joined(batch: list[Division]) -> Division:
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


def count_parts(units: Sequence[Unit], shared: tuple[Source, Division]) -> list[Tally]:
    """The tally of some units: a task of the engine."""
    source, division = shared
    n_cells = len(division.low)
    found = Tally(
        np.zeros(int((1 << division.digits).sum()), np.int64),
        np.full(n_cells, ~np.uint64(0)),
        np.zeros(n_cells, np.uint64),
    )
    for unit in units:
        columns = source.read(unit).columns
        tally(
            tuple(columns[feature] for feature in division.features),
            division.starts,
            division.low,
            division.high,
            division.digit_shift,
            division.digits,
            found.counts,
            found.ones,
            found.any,
        )
    return [found]


def divided(cells: Cells, division: Division, tally: Tally, at: int) -> Cells:
    """The cells of one feature with the divided ones replaced by their parts that are not empty."""
    run = slice(*division.starts[at : at + 2])
    sizes = 1 << division.digits
    ends = np.cumsum(sizes)
    begin = int((ends - sizes)[run][0])
    counts = tally.counts[begin : int(ends[run][-1])]
    cell_of_part = np.repeat(np.arange(run.start, run.stop), sizes[run])
    digit = np.arange(begin, begin + len(counts)) - (ends - sizes)[cell_of_part]
    filled = np.flatnonzero(counts)
    cell, digit, counts = cell_of_part[filled], digit[filled].astype(np.uint64), counts[filled]

    shift = division.digit_shift[cell].astype(np.uint64)
    below = (np.uint64(1) << shift) - np.uint64(1)
    above = ~((np.uint64(1) << (shift + division.digits[cell].astype(np.uint64))) - np.uint64(1))
    first = division.low[cell] & above | digit << shift
    low, high = first | tally.ones[cell] & below, first | tally.any[cell] & below

    kept = ~np.isin(cells.low, division.low[run])
    low, high = np.concatenate([cells.low[kept], low]), np.concatenate([cells.high[kept], high])
    order = np.argsort(low)
    return Cells(low[order], high[order], np.concatenate([cells.count[kept], counts])[order])


def cuts_between_cells(cells: Cells, max_bins: int) -> Floats:
    """The edges that join cells to bins of nearly equal size.

    The edge after a cell may lie anywhere between its last key and the next cell's first one. A cell that is but a small
    part of its bin may itself be cut, for the sake of a shorter number, unless a value with a bin of its own follows.
    """
    last = share(cells.count, max_bins)
    rows = np.cumsum(cells.count)
    bins = np.diff(rows[last], prepend=0)
    slides = (LIGHT * cells.count[last] <= bins) & (cells.count[last + 1] <= rows[-1] // max_bins)
    low = np.where(slides, cells.low[last], cells.high[last])
    return readable(floats_of(low), floats_of(cells.low[last + 1]))


def midpoint(left: Floats, right: Floats) -> Floats:
    """The middle of each pair ``left < right``: finite, at least `left` and below `right`.

    Examples
    --------
    >>> import numpy as np
    >>> midpoint(np.array([1.0, 0.0, 5e-324]), np.array([2.0, np.inf, 1e-323]))
    array([1.50000000e+000, 8.98846567e+307, 4.94065646e-324])
    """
    left = np.maximum(left, -LARGEST)
    with np.errstate(invalid="ignore"):
        middle = left / 2 + np.minimum(right, LARGEST) / 2
    return np.where((left <= middle) & (middle < right), middle, left)


def readable(left: Floats, right: Floats) -> Floats:
    """The shortest decimal in the middle half between each pair ``left < right``: finite, at least `left`, below `right`.

    Where two floats lie too close for one, their midpoint.

    Examples
    --------
    >>> import numpy as np
    >>> readable(np.array([0.1, 1.0, 1.0, 1234.5]), np.array([0.2, 2.0, np.pi, 1301.0]))
    array([1.50e-01, 1.50e+00, 2.00e+00, 1.27e+03])
    """
    found = middle = midpoint(left, right)
    low, high = midpoint(left, middle), midpoint(middle, right)
    with np.errstate(over="ignore", invalid="ignore"):  # of floats too close for a decimal
        exponent = np.searchsorted(POWERS_OF_TEN, high - low, side="right") - 1 - FINEST
        # Of the power of ten above the width there is one multiple inside at most, of the one below it one to ten.
        for step, toward in ((-1, middle), (0, middle), (1, high)):
            power = np.clip(exponent + step, -FINEST, FINEST)
            # Multiplied or divided by a power that is exact, a decimal is rounded once and prints as short as it is.
            up, down = POWERS_OF_TEN[FINEST + np.maximum(power, 0)], POWERS_OF_TEN[FINEST - np.minimum(power, 0)]
            multiple = toward / up * down
            number = (np.floor(multiple) if step > 0 else np.rint(multiple)) * up / down
            found = np.where((low <= number) & (number <= high) & (number < right), number, found)
    return found + 0.0


def bit_length(numbers: Any) -> Counts:
    """Bits needed to write each number."""
    # Halves of 32 bits are exact as floats.
    upper = (numbers >> np.uint64(32)).astype(np.float64)
    lower = (numbers & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return np.where(upper > 0, np.frexp(upper)[1] + 32, np.frexp(lower)[1]).astype(np.int64)
