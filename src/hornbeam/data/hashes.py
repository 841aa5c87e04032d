"""Hashes of content: a fingerprint of strings and arrays, and 64 bits for each row."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.typing import Bits, Counts, Indices

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the increment of splitmix64: 2**64 divided by the golden ratio


def fingerprint(*parts: str | NDArray[Any] | None) -> str:
    """Hash strings and arrays to 32 hexadecimal digits, the same on every machine."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape};".encode())
            digest.update(np.ascontiguousarray(part))
        else:
            text = repr(part).encode()
            digest.update(f"{len(text)};".encode() + text)
    return digest.hexdigest()[:32]


def splitmix64(bits: Bits) -> Bits:
    """Scramble 64-bit integers one to one, with the finaliser of splitmix64 (Steele, Lea and Flood, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def as_integers(target: NDArray[Any]) -> Counts | Indices:
    """Return a target as integers to hash: class codes, or the bits of floats."""
    if target.dtype.kind == "i":
        return target
    return np.ascontiguousarray(target + 0.0).view(np.int64)  # -0.0 becomes 0.0


def value_hash(columns: Sequence[NDArray[Any]], target: Counts | Indices | None = None) -> Bits:
    """Hash the values of every row, whatever bins they fall into, and its target if that is given."""
    feature_number = np.arange(1, len(columns) + 1, dtype=np.uint64)
    hashes = np.zeros(len(columns[0]), np.uint64)
    if target is not None:
        hashes = splitmix64(target.astype(np.uint64) + GOLDEN_GAMMA)
    for column, factor in zip(columns, splitmix64(feature_number * GOLDEN_GAMMA), strict=True):
        value = column + 0.0  # -0.0 becomes 0.0
        hashes += splitmix64(np.where(np.isnan(value), np.nan, value).view(np.uint64) ^ factor)
    return hashes
