"""Sums that are the same everywhere: in a fixed order, unlike those of BLAS and `numpy.einsum`, or without rounding."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.typing import Floats


def dot(one: Floats, other: Floats) -> float:
    """Add up the products of two arrays, from the first to the last."""
    return float(np.add.accumulate((one * other).ravel())[-1]) if one.size else 0.0


def row_sums[Number: (np.float64, np.int64)](matrix: NDArray[Number]) -> NDArray[Number]:
    """Add up each row of a matrix, from the first column to the last."""
    columns = np.ascontiguousarray(matrix.T)
    sums: NDArray[Number] = columns[0].copy()
    for column in columns[1:]:
        sums += column
    return sums


def row_dots(one: Floats, other: Floats) -> Floats:
    """Add up the products of two matrices in each row, from the first column to the last."""
    return row_sums(one * other)


def exact_sums(place: NDArray[np.integer[Any]], values: Floats, n_places: int) -> NDArray[np.object_]:
    """Add up the numbers of each place without rounding, as whole multiples of 2**-1126.

    Such sums can be added in any order with the same result. At most 2**26 numbers, none of them NaN or infinite.
    """
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    key, group = np.unique(place.astype(np.int64) << 12 | (exponent + 1073), return_inverse=True)
    high, low = (np.bincount(group, part) for part in (whole >> 27, whole & (1 << 27) - 1))
    sums = np.zeros(n_places, object)
    for at, high_sum, low_sum in zip(key.tolist(), high.tolist(), low.tolist(), strict=True):
        sums[at >> 12] += (int(high_sum) << 27) + int(low_sum) << (at & 4095)
    return sums
