"""Mean and squared deviations of a numeric target, from its exact sums."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, Self

from hornbeam.typing import Floats

__all__ = ["TargetUnits"]


class TargetUnits(NamedTuple):
    """The value of one step of weight, sum and sum of squares, and their ratios.

    Examples
    --------
    >>> import numpy as np
    >>> TargetUnits.of(np.array([1.0, 0.5, 0.25])).moments(2, 8, 40)  # 1 and 3
    (2.0, 2.0, 2.0)
    """

    weight: float
    square: float
    mean_ratio: Fraction
    square_ratio: Fraction

    @classmethod
    def of(cls, units: Floats) -> Self:
        """Compute the ratios of `hornbeam.tree.evidence.numeric.numeric_units`."""
        weight, total, square = (Fraction(unit) for unit in units.tolist())
        return cls(float(weight), float(square), total / weight, total * total / (weight * square))

    def moments(self, weight: int, total: int, squares: int) -> tuple[float, float, float]:
        """Return weight, mean and sum of squared deviations; the sums are in steps, and nothing cancels."""
        a, b = self.mean_ratio.as_integer_ratio()
        c, d = self.square_ratio.as_integer_ratio()
        around = (squares * weight * d - total * total * c) / (weight * d)
        return weight * self.weight, total * a / (weight * b), max(0.0, around * self.square)
