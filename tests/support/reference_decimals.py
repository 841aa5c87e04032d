"""Slow, obvious twins of the numbers between two others: the middle, and the shortest decimal in the middle half."""

import numpy as np

from hornbeam.typing import Floats

LARGEST = np.finfo(np.float64).max
# Powers of ten beyond 10**22 are not exact as floats.
POWERS_OF_TEN = np.array([float(f"1e{exponent}") for exponent in range(-22, 23)])
# 10**e as a factor and a divisor, both exact, for e from -24 to 23 (those beyond 22 as 22).
FACTORS = np.array([float(10 ** min(max(exponent, 0), 22)) for exponent in range(-24, 24)])
DIVISORS = np.array([float(10 ** min(max(-exponent, 0), 22)) for exponent in range(-24, 24)])


def midpoint(left: Floats, right: Floats) -> Floats:
    """Return the middle of each pair ``left < right``: finite, at least `left` and below `right`."""
    left = np.maximum(left, -LARGEST)
    with np.errstate(invalid="ignore"):
        middle = left / 2 + np.minimum(right, LARGEST) / 2
    return np.where((left <= middle) & (middle < right), middle, left)


def shortest_between(left: Floats, right: Floats) -> Floats:
    """Return the shortest decimal in the middle half between each pair ``left < right``.

    Finite, at least `left` and below `right`; the midpoint where two floats are too close for a decimal.
    """
    shortest = middle = midpoint(left, right)
    low, high = midpoint(left, middle), midpoint(middle, right)
    with np.errstate(over="ignore", invalid="ignore"):  # floats too close for a decimal
        # At most one multiple of the power of ten above the width is inside, and one to ten of the power below it.
        power = np.searchsorted(POWERS_OF_TEN, high - low, side="right") + 1
        for step, toward, rounded in ((-1, middle, np.rint), (0, middle, np.rint), (1, high, np.floor)):
            # Factor and divisor are exact, so the decimal is rounded once and prints in its shortest form.
            factor, divisor = FACTORS[power + step], DIVISORS[power + step]
            number = rounded(toward / factor * divisor) * factor / divisor
            shortest = np.where((low <= number) & (number <= high), number, shortest)
    return shortest + 0.0  # -0.0 becomes 0.0
