"""exp and log with the same bits on every machine, unlike NumPy's."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hornbeam import _native
from hornbeam.typing import Floats

__all__ = ["exp", "exp2", "log", "log2"]


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
