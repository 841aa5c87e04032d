"""Round numbers near a threshold."""

from __future__ import annotations

__all__ = ["round_numbers"]

_MOST_DIGITS = 3


def round_numbers(threshold: float, low: float, high: float) -> list[float]:
    """Return numbers of one to three digits near a threshold, the roundest first.

    `low` and `high` are the smallest and the largest value at the node: a threshold must leave rows on both sides.
    """
    found: list[float] = []
    for digits in range(1, _MOST_DIGITS + 1):
        number = float(f"{threshold:.{digits}g}")
        if number == threshold:
            break
        if low <= number < high and number not in found:
            found.append(number)
    return found
