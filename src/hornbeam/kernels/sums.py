"""Sums of products in a fixed order, unlike those of BLAS and `numpy.einsum`, which depend on the processor."""

import numpy as np
from numpy.typing import NDArray

from hornbeam.typing import Floats

__all__ = ["dot", "row_dots", "row_sums"]


def dot(one: Floats, other: Floats) -> float:
    """Add up the products of two arrays, from the first to the last.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.add.accumulate((one * other).ravel())[-1]) if one.size else 0.0


def row_sums[Number: (np.float64, np.int64)](matrix: NDArray[Number]) -> NDArray[Number]:
    """Add up each row of a matrix, from the first column to the last.

    Examples
    --------
    >>> row_sums(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    columns = np.ascontiguousarray(matrix.T)
    sums: NDArray[Number] = columns[0].copy()
    for column in columns[1:]:
        sums += column
    return sums


def row_dots(one: Floats, other: Floats) -> Floats:
    """Add up the products of two matrices in each row, from the first column to the last.

    Examples
    --------
    >>> row_dots(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [2.0, 2.0]])).tolist()
    [3.0, 14.0]
    """
    return row_sums(one * other)
