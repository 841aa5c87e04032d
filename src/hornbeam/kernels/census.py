"""Counting values by the leading bits of their keys: what binning needs to know of the rows.

A *key* is an unsigned 64-bit integer in the order of the floats: their bits without the sign, counted up or
down from the key of zero. Everything here is a sum of counts or an and/or of bits, so the order of the
rows and the way they are grouped cannot change a result.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam._native import Census as NativeCensus  # type: ignore[import-not-found,unused-ignore]
from hornbeam._native import share as native_share
from hornbeam._native import tally as native_tally
from hornbeam.typing import Bools, Counts, Floats

__all__ = ["CELL_SHIFT", "MOST_DIGITS", "ZERO", "Census", "Entries", "Keys", "floats_of", "share", "tally"]

type Keys = NDArray[np.uint64]

# Cells of a census share the bits above: sign, exponent and 10 bits of mantissa.
CELL_SHIFT = 42
# Into at most 2**16 parts is a cell divided at once.
MOST_DIGITS = 16
# The key of 0.0.
ZERO = np.uint64(1 << 63)
ONE = np.uint64(1)


class Entries(NamedTuple):
    """What a census found, feature after feature.

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
    """The first count of some numeric columns: distinct values while they are few, else cells.

    Parameters
    ----------
    n_features : int
        How many columns.
    limit : int
        Up to so many distinct values are kept.

    Examples
    --------
    >>> import numpy as np
    >>> census = Census(1, limit=3)
    >>> census.add((np.array([2.0, 0.5, np.nan, 2.0]),))
    >>> entries = census.entries()
    >>> floats_of(entries.keys), entries.counts.tolist(), entries.missing.tolist()
    (array([0.5, 2. ]), [1, 2], [1])
    """

    __slots__ = ("_native", "limit", "n_features")

    def __init__(self, n_features: int, limit: int) -> None:
        self.n_features = n_features
        self.limit = limit
        self._native = NativeCensus(n_features, limit)

    def add(self, columns: tuple[NDArray[Any], ...]) -> None:
        """Count the rows of some columns (float64, any stride)."""
        self._native.add(columns)

    def absorb(self, other: Self) -> Self:
        """Add what another census counted; returns this one."""
        self._native.absorb(other._native)
        return self

    def entries(self) -> Entries:
        """What was found."""
        return Entries(*self._native.entries())

    def __getstate__(self) -> tuple[int, int, Entries]:
        return self.n_features, self.limit, self.entries()

    def __setstate__(self, state: tuple[int, int, Entries]) -> None:
        self.n_features, self.limit, entries = state
        self._native = NativeCensus(self.n_features, self.limit)
        self._native.restore(*entries)


def floats_of(keys: Keys) -> Floats:
    """The numbers behind some keys.

    Examples
    --------
    >>> import numpy as np
    >>> floats_of(np.array([1 << 63, 0x0010000000000000], np.uint64))
    array([  0., -inf])
    """
    return np.where(keys >= ZERO, keys ^ ZERO, ~keys + ONE).view(np.float64)


def tally(
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
    """Count the parts of some cells, in place.

    Parameters
    ----------
    columns : tuple of arrays
        float64, one-dimensional, any stride; NaN = missing.
    starts : array of int64
        The cells of column ``f`` are those from ``starts[f]`` up to ``starts[f + 1]``, in order.
    low, high, digit_shift, digits : array
        Per cell: its first and last key, and the bits (``digits`` of them above ``digit_shift``) that number
        its 2**digits parts.
    counts, ones, some : array of int64, uint64, uint64; in and out
        Per part, cell after cell: its rows, the bits set in every key and those set in some key.
    """
    native_tally(columns, starts, low, high, digit_shift, digits, counts, ones, some)


def share(counts: Counts, max_bins: int) -> Counts:
    """Last index of every bin but the last when a run of counts is cut into bins of nearly equal sums.

    An entry heavier than the mean bin starts and ends one; the others share the bins that remain.

    Examples
    --------
    >>> import numpy as np
    >>> share(np.array([1, 1, 1, 9, 1, 1]), 3).tolist()
    [2, 3]
    """
    result: Counts = native_share(counts, max_bins)
    return result
