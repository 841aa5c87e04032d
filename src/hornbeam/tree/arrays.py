"""Read-only copies of arrays, and checks that name the array and the node in their error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import TreeError
from hornbeam.typing import Bools


def read_only[T: np.generic](array: NDArray[T]) -> NDArray[T]:
    """Return the array if it is read-only, otherwise a read-only copy that its owner cannot change."""
    if array.flags.writeable or not array.flags.c_contiguous:
        array = array.copy()
        array.flags.writeable = False
    return array


def expect_array(name: str, array: object, dtype: type[np.generic], shape: tuple[int | None, ...]) -> None:
    """Raise `TreeError` unless this is an array of the dtype and shape; None stands for any length."""
    wanted = np.dtype(dtype)
    if not isinstance(array, np.ndarray):
        raise TreeError(f"{name} is a {type(array).__name__}, expected a NumPy array of {wanted}")
    if array.dtype != wanted:
        raise TreeError(f"{name} holds {array.dtype}, expected {wanted}: convert it with astype")
    if array.shape != shape and (len(shape) != array.ndim or None not in shape):
        raise TreeError(f"{name} has shape {array.shape}, expected {shape}: one entry per node")


def expect(valid: Bools, name: str, array: NDArray[Any], expected: str | NDArray[Any]) -> None:
    """Raise `TreeError` for the first node that is not valid."""
    if not valid.all():
        node = int(valid.argmin()) // (valid.size // len(valid))
        wanted = expected if isinstance(expected, str) else expected[node]
        raise TreeError(f"{name}[{node}] is {array[node].tolist()}, expected {wanted}")
