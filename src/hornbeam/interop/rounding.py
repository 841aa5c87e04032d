"""Tests on values rounded to float32, said as tests on the float64 values themselves."""

import numpy as np
from numpy.typing import NDArray

from hornbeam.typing import Floats

__all__ = ["at_most", "below"]

# Halfway from the largest float32 to where the next one would be: from here on values round to infinity.
_OVERFLOW = 2.0**128 - 2.0**103


def at_most(threshold: Floats) -> Floats:
    """Find thresholds ``t`` with ``x <= t`` exactly where ``float32(x) <= threshold``, for every float64 x.

    Examples
    --------
    The float32 next to 0.5 is about 0.50000006; half of the way there still rounds to 0.5.

    >>> at_most(np.array([0.5])).tolist()
    [0.5000000298023224]
    """
    with np.errstate(over="ignore"):  # beyond the largest float32 lies infinity, here and below
        nearest = threshold.astype(np.float32)
        highest = np.where(nearest > threshold, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return _highest_rounded_to(highest)


def below(threshold: NDArray[np.float32]) -> Floats:
    """Find thresholds ``t`` with ``x <= t`` exactly where ``float32(x) < threshold``, for every float64 x.

    Examples
    --------
    >>> below(np.array([0.5], np.float32)).tolist()
    [0.49999998509883875]
    """
    with np.errstate(over="ignore"):
        return _highest_rounded_to(np.nextafter(threshold, np.float32(-np.inf)))


def _highest_rounded_to(value: NDArray[np.float32]) -> Floats:
    """Find the largest float64 that rounds to each float32: half of the way to the next one, or just below.

    A value in the middle goes to the neighbour whose last bit is 0.
    """
    with np.errstate(over="ignore"):
        following = np.nextafter(value, np.float32(np.inf))
    low = np.maximum(value.astype(np.float64), -(2.0**128))
    high = np.minimum(following.astype(np.float64), 2.0**128)
    middle = np.clip((low + high) / 2, -_OVERFLOW, _OVERFLOW)
    even = value.view(np.uint32) & 1 == 0
    highest: Floats = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(value == np.inf, np.inf, highest)
