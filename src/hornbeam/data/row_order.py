"""Row hashes, and the canonical row order they define: independent of the order in which rows arrive."""

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.typing import Codes, Counts, Indices

__all__ = ["GOLDEN_GAMMA", "break_ties", "canonical_order", "row_hash", "splitmix64", "target_bits"]

type _Bits = NDArray[np.uint64]

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the increment of splitmix64: 2**64 divided by the golden ratio


def splitmix64(bits: _Bits) -> _Bits:
    """Scramble 64-bit integers one to one, with the finaliser of splitmix64 (Steele, Lea and Flood, 2014).

    Examples
    --------
    >>> [hex(bits) for bits in splitmix64(np.array([1, 2], np.uint64)).tolist()]
    ['0x5692161d100b05e5', '0xdbd238973a2b148a']
    """
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def target_bits(table: Table) -> Counts | Indices:
    """Return the target as integers to hash: class codes, or the bits of the floats of a numeric target.

    Examples
    --------
    >>> target_bits(Table.read([[1.0], [2.0]], ["no", "yes"]))
    array([0, 1], dtype=int32)
    """
    if table.numeric_target is not None:
        return np.ascontiguousarray(table.numeric_target.values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    assert table.target is not None
    return table.target


def row_hash(codes: Codes, target: Counts | Indices, seed: int = 0) -> _Bits:
    """Hash the codes and the target of every row: equal rows have equal hashes, in any order of rows.

    Parameters
    ----------
    codes : array of shape (n_rows, n_features)
    target : int array of shape (n_rows,)
        From `target_bits`.
    seed : int, default 0

    Returns
    -------
    uint64 array of shape (n_rows,)

    Examples
    --------
    >>> hashes = row_hash(np.array([[0], [1], [0]], np.uint8), np.array([0, 1, 0]))
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    feature_number = np.arange(1, codes.shape[1] + 2, dtype=np.uint64)
    factor = splitmix64(feature_number * GOLDEN_GAMMA + np.full(1, seed, np.uint64))
    bits = (target.astype(np.uint64) + np.uint64(1)) * factor[0]
    for feature in range(codes.shape[1]):
        bits += codes[:, feature] * factor[feature + 1]
    return splitmix64(bits)


def canonical_order(table: Table, codes: Codes) -> tuple[NDArray[np.intp], _Bits]:
    """Return an order of rows that depends on their content alone, and the hash of each row of the table.

    Examples
    --------
    >>> order, hashes = canonical_order(Table.read([[1.0], [2.0]], [0, 1]), np.array([[0], [1]], np.uint8))
    >>> bool(hashes[order[0]] < hashes[order[1]])
    True
    """
    hashes = row_hash(codes, target_bits(table))
    keys = (hashes,) if table.weight is None else (table.weight, hashes)
    return np.lexsort((_value_hash(table), *keys)), hashes  # rows of equal codes may have different values


def _value_hash(table: Table) -> _Bits:
    """Hash the values of every row, whatever bins they fall into."""
    feature_number = np.arange(1, len(table.columns) + 1, dtype=np.uint64)
    hashes = np.zeros(table.n_rows, np.uint64)
    for column, factor in zip(table.columns, splitmix64(feature_number * GOLDEN_GAMMA), strict=True):
        value = column + 0.0  # -0.0 becomes 0.0
        hashes += splitmix64(np.where(np.isnan(value), np.nan, value).view(np.uint64) ^ factor)
    return hashes


def break_ties(hashes: _Bits) -> _Bits:
    """Make the hashes of equal rows different, so that a sample by hash does not take all or none of them.

    Examples
    --------
    >>> len(set(break_ties(np.array([7, 7, 7], np.uint64)).tolist()))
    3
    """
    order = np.argsort(hashes, kind="stable")
    place, ordered = np.arange(len(hashes)), hashes[order]
    begin = np.maximum.accumulate(np.where(np.append(False, ordered[1:] == ordered[:-1]), 0, place))
    distinct = np.empty_like(hashes)
    distinct[order] = splitmix64(ordered + (place - begin).astype(np.uint64) * GOLDEN_GAMMA)
    return distinct
