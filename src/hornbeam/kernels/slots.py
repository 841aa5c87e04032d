"""Slot maps in the narrowest integers that hold them: a column of many categories has one slot a category and test."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Slots", "narrow_slots"]

type Slots = NDArray[np.signedinteger[Any]]  # int8 or int32

_LARGEST = 126  # so that a slot more is still within 8 bits


def narrow_slots(slots: Slots) -> Slots:
    """Return slots as int8 if all of them fit, as they do where tests have few children, else as they are.

    Examples
    --------
    >>> narrow_slots(np.array([0, -1, 1], np.int32)).dtype, narrow_slots(np.array([0, 500], np.int32)).dtype
    (dtype('int8'), dtype('int32'))
    """
    if slots.dtype == np.int8 or (len(slots) and int(slots.max()) > _LARGEST):
        return slots
    return slots.astype(np.int8)
