"""Thresholds on values rounded to float32, as thresholds on the float64 values."""

import numpy as np
from numpy.typing import NDArray

from hornbeam.typing import Floats

__all__ = ["at_most", "below"]

# Half a step above the largest float32: values from here on round to infinity.
_OVERFLOW = 2.0**128 - 2.0**103


def at_most(threshold: Floats) -> Floats:
    """Return thresholds ``t`` such that ``x <= t`` if and only if ``float32(x) <= threshold``, for every float64 x.

    The float32 after 0.5 is about 0.50000006; the value half-way between them still rounds to 0.5.
    """
    with np.errstate(over="ignore"):  # values above the largest float32 become infinite
        nearest = threshold.astype(np.float32)
        highest = np.where(nearest > threshold, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return _highest_rounded_to(highest)


def below(threshold: NDArray[np.float32]) -> Floats:
    """Return thresholds ``t`` such that ``x <= t`` if and only if ``float32(x) < threshold``, for every float64 x."""
    with np.errstate(over="ignore"):
        return _highest_rounded_to(np.nextafter(threshold, np.float32(-np.inf)))


def _highest_rounded_to(value: NDArray[np.float32]) -> Floats:
    """Return the largest float64 that rounds to each float32: half-way to the next one, or just below.

    A value half-way rounds to the neighbour whose last bit is 0.
    """
    with np.errstate(over="ignore"):
        following = np.nextafter(value, np.float32(np.inf))
    low = np.maximum(value.astype(np.float64), -(2.0**128))
    high = np.minimum(following.astype(np.float64), 2.0**128)
    middle = np.clip((low + high) / 2, -_OVERFLOW, _OVERFLOW)
    even = value.view(np.uint32) & 1 == 0
    highest: Floats = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(value == np.inf, np.inf, highest)
