"""The census of numeric columns: distinct values, or counts by the leading bits of their keys, for binning.

A *key* is an unsigned 64-bit integer in the order of the floats: their bits without the sign, added to or subtracted
from the key of zero. Everything here is a sum of counts or an and/or of bits, so the order of the rows and their
grouping cannot change a result. ``native/binning/keys.hpp`` has a drawing of the bits.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import _native
from hornbeam.typing import Bools, Counts, Floats, Indices

type Keys = NDArray[np.uint64]

# Keys of one cell differ only in the bits below this one; those above are sign, exponent and 10 bits of mantissa.
CELL_SHIFT = 42
# A cell is divided into at most 2**16 parts at once.
MOST_DIGITS = 16
# The key of 0.0.
ZERO = np.uint64(1 << 63)
ONE = np.uint64(1)


class Entries(NamedTuple):
    """Result of a census, feature by feature.

    Feature ``f`` has ``keys[starts[f]:starts[f + 1]]`` in order, with ``counts``: its distinct values or,
    where ``full``, the first keys of its cells. ``ones`` has the bits set in every key, ``some`` those set in
    some key; ``missing`` and ``zeros`` count the rows without a value and those with the value 0.
    """

    missing: Counts
    zeros: Counts
    ones: Keys
    some: Keys
    full: Bools
    starts: Counts
    keys: Keys
    counts: Counts


class Census:
    """Counts of distinct values of numeric columns while there are at most `limit`, else of cells."""

    __slots__ = ("_native", "limit", "n_features")

    def __init__(self, n_features: int, limit: int) -> None:
        self.n_features = n_features
        self.limit = limit
        self._native = _native.Census(n_features, limit)

    def add(self, columns: tuple[NDArray[Any], ...]) -> None:
        """Count the rows of columns (float64, any stride)."""
        self._native.add(columns)

    def merge(self, other: Self) -> Self:
        """Add the counts of another census; return this one."""
        self._native.merge(other._native)
        return self

    def entries(self) -> Entries:
        """Return the result."""
        return Entries(*self._native.entries())

    def __getstate__(self) -> tuple[int, int, Entries]:
        return self.n_features, self.limit, self.entries()

    def __setstate__(self, state: tuple[int, int, Entries]) -> None:
        self.n_features, self.limit, entries = state
        self._native = _native.Census(self.n_features, self.limit)
        self._native.restore(*entries)


def floats_of(keys: Keys) -> Floats:
    """Floats from their keys."""
    return np.where(keys >= ZERO, keys ^ ZERO, ~keys + ONE).view(np.float64)


def count_cell_parts(
    columns: tuple[NDArray[Any], ...],
    starts: Counts,
    low: Keys,
    high: Keys,
    digit_shift: Counts,
    digits: Counts,
    counts: Counts,
    ones: Keys,
    some: Keys,
) -> None:
    """Count the rows in the parts of cells, in place: `counts`, and the bits set in every key (`ones`) and in some key.

    Columns are float64 of any stride, NaN is missing. The cells of column ``f`` are those from ``starts[f]`` up to
    ``starts[f + 1]``, in order. `low` and `high` are the first and last key of a cell; ``digits`` bits above
    ``digit_shift`` number its 2**digits parts.
    """
    _native.count_parts(columns, starts, low, high, digit_shift, digits, counts, ones, some)


def to_equal_bins(counts: Counts, max_bins: int) -> Counts:
    """Cut a run of counts into bins of nearly equal sums; return the last index of every bin but the last.

    An entry heavier than the mean bin is a bin of its own; the other entries fill the remaining bins.
    """
    result: Counts = _native.equal_bins(counts, max_bins)
    return result


def count_distinct(columns: tuple[NDArray[Any], ...]) -> Counts:
    """Count the different values of columns of numbers or codes; missing values count as one."""
    return _native.count_distinct(columns)


def compare_rows(
    columns: tuple[NDArray[Any], ...], inside: NDArray[np.intp], outside: NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Compare as many rows inside a class as outside, pair by pair: shares that are equal, and that are below.

    The third are the shares of rows inside with the value of the row before. A missing value is above all values.
    """
    equal, below, repeated = _native.compare_rows(columns, inside, outside)
    return equal, below, repeated


def midpoint(left: Floats, right: Floats) -> Floats:
    """Return the middle of each pair ``left < right``: finite, at least `left` and below `right`."""
    return _native.midpoint(left, right)


def shortest_between(left: Floats, right: Floats) -> Floats:
    """Return the shortest decimal in the middle half between each pair ``left < right``.

    Finite, at least `left` and below `right`; the midpoint where two floats are too close for a decimal.
    """
    return _native.shortest_between(left, right)


def rank_columns(
    columns: tuple[NDArray[Any], ...], at: Indices, out: NDArray[np.uint16]
) -> tuple[Floats, Counts]:
    """Write the rank of each value among those of its column, fewer than 65,535 rows, to the columns `at` of `out`.

    A missing value (NaN) gets the number of distinct values, but at least 1. Returns the distinct values in order, one
    column after the other, and where each column begins.
    """
    keys, starts = _native.rank_columns(columns, at, out)
    return floats_of(keys), starts
