"""exp, log, distributions, sums and minima that have the same bits on every machine, unlike those of NumPy and BLAS."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hornbeam.kernels import _native
from hornbeam.typing import Floats

_LEAST, _MOST = 1e-100, 1e100  # beyond, the distribution is a single point in 64 bits


def exp(values: ArrayLike) -> Floats:
    """Raise e to each value; within 1 unit in the last place."""
    return _each(_native.exp, values)


def exp2(values: ArrayLike) -> Floats:
    """Raise 2 to each value, from -1000 to 1000; exact for whole numbers, else within 1 unit in the last place."""
    return _each(_native.exp2, values)


def log(values: ArrayLike) -> Floats:
    """Return the natural logarithm of each value, within 1 unit in the last place; minus infinity at 0."""
    return _each(_native.log, values)


def log2(values: ArrayLike) -> Floats:
    """Return the logarithm to base 2 of each value, within 2 units in the last place; exact for powers of two."""
    return _each(_native.log2, values)


def _each(kernel: Callable[[Floats], Floats], values: ArrayLike) -> Floats:
    array = np.ascontiguousarray(values, np.float64)
    return kernel(array.ravel()).reshape(np.shape(values))


def beta_cdf(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Floats:
    """Return the distribution function of the beta distribution at x, within 1e-10; shapes are broadcast."""
    a, b, x = np.broadcast_arrays(*(np.asarray(values, np.float64) for values in (a, b, x)))
    found: Floats = _native.beta_cdf(_parameter(a), _parameter(b), np.ascontiguousarray(x).ravel())
    return found.reshape(a.shape)


def beta_quantile(a: ArrayLike, b: ArrayLike, p: float) -> Floats:
    """Return the p-quantile of the beta distribution; shapes are broadcast."""
    a, b = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    found: Floats = _native.beta_quantile(_parameter(a), _parameter(b), p)
    return found.reshape(a.shape)


def student_bound(freedom: ArrayLike, level: float) -> Floats:
    """Return the half-width of the central interval of Student's t distribution with this probability."""
    half = np.asarray(freedom, np.float64) / 2
    # t² / (freedom + t²) is beta-distributed. It and its complement are computed apart, each with all of its digits.
    within, rest = beta_quantile(0.5, half, level), beta_quantile(half, 0.5, 1 - level)
    bound: Floats = np.sqrt(2 * half * within / rest)
    return bound


def _parameter(values: Floats) -> Floats:
    return np.ascontiguousarray(np.clip(values, _LEAST, _MOST)).ravel()


def dot(one: Floats, other: Floats) -> float:
    """Add up the products of two arrays, from the first to the last."""
    return _native.dot(one.ravel(), other.ravel())


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


def minimise(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: tuple[float, float],
    *,
    tolerance: float,
    gradient_tolerance: float = 1e-9,
    max_steps: int = 1000,
) -> Floats:
    """Find the minimum of a function, which returns value and gradient, by projected L-BFGS.

    It stops when a step lowers the value by no more than `tolerance` of it, or of 1, or when no coordinate that may
    move has a derivative above `gradient_tolerance`.
    """
    return _native.minimise(function, start, *bounds, tolerance, gradient_tolerance, max_steps)
