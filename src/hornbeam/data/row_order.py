"""Row hashes, and the canonical row order they define: independent of the order in which rows arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornbeam.typing import Codes, Counts, Indices

if TYPE_CHECKING:
    from hornbeam.data.table import Table

__all__ = [
    "GOLDEN_GAMMA",
    "break_ties",
    "canonical_order",
    "first_units",
    "row_hash",
    "splitmix64",
    "target_bits",
    "unit_ranks",
    "value_hash",
]

type _Bits = NDArray[np.uint64]

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the increment of splitmix64: 2**64 divided by the golden ratio


def splitmix64(bits: _Bits) -> _Bits:
    """Scramble 64-bit integers one to one, with the finaliser of splitmix64 (Steele, Lea and Flood, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def target_bits(table: Table) -> Counts | Indices:
    """Return the target as integers to hash: class codes, or the bits of the floats of a numeric target."""
    if table.numeric_target is not None:
        return np.ascontiguousarray(table.numeric_target.values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    assert table.target is not None
    return table.target


def row_hash(codes: Codes, target: Counts | Indices, seed: int = 0) -> _Bits:
    """Hash the codes and the target (`target_bits`) of every row; equal rows have equal hashes, in any order."""
    feature_number = np.arange(1, codes.shape[1] + 2, dtype=np.uint64)
    factor = splitmix64(feature_number * GOLDEN_GAMMA + np.full(1, seed, np.uint64))
    if target.dtype == np.int64:  # bits of floats, whose sign an even factor would lose
        factor[0] |= np.uint64(1)
    bits = (target.astype(np.uint64) + np.uint64(1)) * factor[0]
    for feature in range(codes.shape[1]):
        bits += codes[:, feature] * factor[feature + 1]
    return splitmix64(bits)


def canonical_order(table: Table, codes: Codes) -> tuple[NDArray[np.intp], _Bits]:
    """Return an order of rows that depends on their content alone, and the hash of each row of the table."""
    hashes = row_hash(codes, target_bits(table))
    keys = (hashes,) if table.weight is None else (table.weight, hashes)
    keys = (value_hash(table), *keys)  # rows of equal codes may have different values
    if table.group is not None:  # equal rows of different groups
        keys = (unit_ranks(hashes, table), *keys)
    return np.lexsort(keys), hashes


def value_hash(table: Table, target: Counts | Indices | None = None) -> _Bits:
    """Hash the values of every row, whatever bins they fall into, and its target if that is given."""
    feature_number = np.arange(1, len(table.columns) + 1, dtype=np.uint64)
    hashes = np.zeros(table.n_rows, np.uint64)
    if target is not None:
        hashes = splitmix64(target.astype(np.uint64) + GOLDEN_GAMMA)
    for column, factor in zip(table.columns, splitmix64(feature_number * GOLDEN_GAMMA), strict=True):
        value = column + 0.0  # -0.0 becomes 0.0
        hashes += splitmix64(np.where(np.isnan(value), np.nan, value).view(np.uint64) ^ factor)
    return hashes


def break_ties(hashes: _Bits) -> _Bits:
    """Make the hashes of equal rows different, so that a sample by hash does not take all or none of them."""
    order = np.argsort(hashes, kind="stable")
    place, ordered = np.arange(len(hashes)), hashes[order]
    begin = np.maximum.accumulate(np.where(np.append(False, ordered[1:] == ordered[:-1]), 0, place))
    distinct = np.empty_like(hashes)
    distinct[order] = splitmix64(ordered + (place - begin).astype(np.uint64) * GOLDEN_GAMMA)
    return distinct


def unit_ranks(hashes: _Bits, table: Table) -> Counts:
    """Number the units that are drawn or held out together, each row or each group of rows, by their hash.

    The hash of a group is the sum of those of its rows, so that neither the order of rows nor the names of groups
    matter. A row of weight 2 is added twice, as two rows are.
    """
    if table.group is not None:
        _, unit = np.unique(table.group, return_inverse=True)
        if table.weight is not None and table.unit == 1.0:
            hashes = hashes * table.weight.astype(np.uint64)
        total = np.zeros(int(unit.max(initial=-1)) + 1, np.uint64)
        np.add.at(total, unit, hashes)
        hashes = total
    order = np.argsort(break_ties(hashes), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank if table.group is None else rank[unit]


def first_units(ranks: Counts | _Bits, n_rows: int) -> NDArray[np.intp]:
    """Return the rows of the first units: all rows of each, at most `n_rows`; of a larger first unit, some rows."""
    order = np.argsort(ranks, kind="stable")
    if n_rows < len(order):
        # The first row that is left out must not be one of the last unit.
        begin = int(np.searchsorted(ranks[order], ranks[order[n_rows]]))
        order = order[: begin or n_rows]
    return np.sort(order)
