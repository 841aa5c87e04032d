"""Fixed point: weights as integer steps of one unit, chosen from facts that merge exactly."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.errors import DataError
from hornbeam.typing import Counts, Floats

__all__ = ["WeightSummary", "are_normalised", "choose_unit", "fixed_point_weights", "to_fixed_point"]

# Sums of weights stay below 2**50, so that they are exact in float64 too.
WHOLE_LIMIT = 2.0**50
SCALED_BITS = 49
SMALLEST_EXPONENT = -1074  # of the smallest positive float64
# All rows together weigh one row at most: then weights are shares. The slack is for sums that should be 1.
SHARES = 1.0 + 1e-6
LARGEST_TOTAL = 1e150  # of all rows at the largest weight, so that squares of sums are finite


@dataclass(frozen=True, slots=True)
class WeightSummary:
    """All that must be known of some positive weights to hold them in fixed point.

    Parameters
    ----------
    n_rows : int
        How many weights there are.
    smallest, largest : float
        Their bounds.
    whole : bool
        Whether every one is a whole number.

    Examples
    --------
    >>> WeightSummary.of(np.array([1.0, 4.0])).absorb(WeightSummary.of(np.array([0.5])))
    WeightSummary(n_rows=3, smallest=0.5, largest=4.0, whole=False)
    """

    n_rows: int = 0
    smallest: float = math.inf
    largest: float = 0.0
    whole: bool = True

    @classmethod
    def of(cls, weight: Floats) -> Self:
        """The spread of some weights; of none, one that changes nothing it is merged with."""
        if not len(weight):
            return cls()
        whole = bool((np.rint(weight) == weight).all())
        return cls(len(weight), float(weight.min()), float(weight.max()), whole)

    def absorb(self, other: "WeightSummary") -> "WeightSummary":
        """The spread of both together."""
        return WeightSummary(
            self.n_rows + other.n_rows,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.whole and other.whole,
        )

    @property
    def stays_whole(self) -> bool:
        """Whether the weights can be their own steps."""
        return self.whole and self.n_rows * self.largest < WHOLE_LIMIT

    @property
    def is_even(self) -> bool:
        """Whether every row counts 1."""
        return self.smallest == self.largest == 1.0


def choose_unit(spread: WeightSummary) -> float:
    """The power of two that weights of this spread are counted in.

    1 for whole weights, so that weight 2 is exactly a row given twice. For others it is the one by which all
    rows, at the largest weight, would add up to more than 2**48 and at most 2**49 steps.

    Raises
    ------
    DataError
        If all rows, at the largest weight, would add up to more than 1e150.

    Examples
    --------
    >>> choose_unit(WeightSummary(2, 1.0, 3.0, True)), choose_unit(WeightSummary(2, 0.25, 0.5, False)) == 2.0**-49
    (1.0, True)
    """
    if spread.stays_whole:
        return 1.0
    if spread.n_rows * spread.largest > LARGEST_TOTAL:
        excess = math.log10(spread.n_rows) + math.log10(spread.largest) - math.log10(LARGEST_TOTAL)
        raise DataError(
            f"The weights are too large to be added up: {spread.n_rows:,} rows times the largest weight is more than "
            f"{LARGEST_TOTAL:g}. Divide all weights by 1e{max(1, math.ceil(excess))}."
        )
    # n * largest = fraction * 2**exponent, in two steps because the product may overflow
    mantissa, exponent = math.frexp(spread.largest)
    fraction, carry = math.frexp(spread.n_rows * mantissa)
    bits = SCALED_BITS + (fraction == 0.5)
    return math.ldexp(1.0, max(exponent + carry - bits, SMALLEST_EXPONENT))


def to_fixed_point(weight: Floats, step: float) -> Counts:
    """The weights in steps; one too small for a step gets one.

    Raises
    ------
    DataError
        If a weight that gets one would count for more than a row by it.

    Examples
    --------
    >>> to_fixed_point(np.array([0.5, 2.0, 1e-9]), 0.25)
    array([2, 8, 1])
    """
    power = math.frexp(step)[1] - 1
    steps: Counts = np.rint(np.ldexp(weight, -power)).astype(np.int64)
    if step > 1.0 and (n_light := int((steps < 1).sum())):
        raise DataError(
            f"The weights differ too much to be counted together: the largest need steps of {step:.2g}, and "
            f"{n_light:,} are less than half a step. Divide all weights by 1e{math.ceil(math.log10(step))}, or give "
            "these rows the weight 0."
        )
    return np.maximum(steps, 1)


def fixed_point_weights(weight: Floats, n_rows: int | None = None) -> tuple[Counts | None, float]:
    """Hold positive weights as integer steps of one unit that the order of rows cannot change.

    There are as many rows as weights unless `n_rows` says so. No steps: every row counts 1.

    Examples
    --------
    >>> fixed_point_weights(np.array([3.0, 1.0]))
    (array([3, 1]), 1.0)
    >>> steps, unit = fixed_point_weights(np.array([0.5, 0.25]))
    >>> (steps * unit).tolist()
    [0.5, 0.25]
    >>> fixed_point_weights(np.array([1.0, 1.0]))
    (None, 1.0)
    """
    spread = WeightSummary.of(weight)
    if n_rows is not None:
        spread = WeightSummary(n_rows, spread.smallest, spread.largest, spread.whole)
    step = choose_unit(spread)
    return (None if spread.stays_whole and spread.is_even else to_fixed_point(weight, step)), step


def are_normalised(total: int, step: float) -> bool:
    """Whether weights that add up to so many steps are shares of one row.

    Examples
    --------
    >>> are_normalised(4, 0.25), are_normalised(5, 0.25)
    (True, False)
    """
    return total * step <= SHARES
