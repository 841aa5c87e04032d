"""Slot maps in int8 where possible: a nominal split has one slot per category of its feature."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Slots", "narrow_slots"]

type Slots = NDArray[np.signedinteger[Any]]  # int8 or int32

_LARGEST = 126  # so that slot + 1 still fits 8 bits


def narrow_slots(slots: Slots) -> Slots:
    """Return slots as int8 if all of them fit, else unchanged."""
    if slots.dtype == np.int8 or (len(slots) and int(slots.max()) > _LARGEST):
        return slots
    return slots.astype(np.int8)
