"""exp, log, and the beta and Student's t distributions, with the same bits on every machine, unlike NumPy's."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

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
