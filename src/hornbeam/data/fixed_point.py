"""Weights in fixed point: integer multiples of one power of two, chosen from a summary that merges exactly."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hornbeam.errors import DataError
from hornbeam.typing import Counts, Floats

# Sums of weights stay below 2**50, so that they are exact in float64 too.
WHOLE_LIMIT = 2.0**50
SCALED_BITS = 49
SMALLEST_EXPONENT = -1074  # of the smallest positive float64
NORMALISED_TOTAL = 1.0 + 1e-6  # weights that add up to 1 are normalised; sums of floats may be a little above
LARGEST_TOTAL = 1e150  # of all rows at the largest weight, so that squares of sums are finite


@dataclass(frozen=True, slots=True)
class WeightSummary:
    """Summary of positive weights: all that the choice of a unit depends on."""

    n_rows: int = 0
    smallest: float = math.inf
    largest: float = 0.0
    whole: bool = True

    @classmethod
    def of(cls, weight: Floats) -> Self:
        """Summarise weights; an empty array gives the neutral element of `absorb`."""
        if not len(weight):
            return cls()
        whole = bool((np.rint(weight) == weight).all())
        return cls(len(weight), float(weight.min()), float(weight.max()), whole)

    def merge(self, other: "WeightSummary") -> "WeightSummary":
        """Return the summary of both sets of weights together."""
        return WeightSummary(
            self.n_rows + other.n_rows,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.whole and other.whole,
        )

    @property
    def stays_whole(self) -> bool:
        """Whether the unit is 1: whole weights with a sum below the limit."""
        return self.whole and self.n_rows * self.largest < WHOLE_LIMIT

    @property
    def all_ones(self) -> bool:
        """Whether every weight is 1."""
        return self.smallest == self.largest == 1.0


def power_of_two_unit(total: float, bits: int, smallest_exponent: int) -> float:
    """Return the power of two in which `total` is at least 2**(bits - 1) and less than 2**bits steps."""
    if total == 0:
        return 1.0
    return math.ldexp(1.0, max(math.frexp(total)[1] - bits, smallest_exponent))


def nearest_steps(values: Floats, unit: float) -> Counts:
    """Return the nearest whole number of steps of a power of two for each value."""
    steps: Counts = np.rint(np.ldexp(values, 1 - math.frexp(unit)[1])).astype(np.int64)
    return steps


def product_steps(a: Floats, b: Floats, unit: float) -> Counts:
    """Return the nearest whole number of steps of a power of two for each exact product ``a * b``.

    The product of two floats has up to 106 bits. It is the sum of the rounded product and its error, which is a float
    too (Dekker 1971).
    """
    exponent = 1 - math.frexp(unit)[1]
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    steps = np.ldexp(product, exponent)
    whole = np.rint(steps)
    rest: Counts = np.rint((steps - whole) + np.ldexp(error, exponent)).astype(np.int64)
    return whole.astype(np.int64) + rest


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Divide the digits of each value into two floats of at most 26 bits; their sum is the value."""
    scaled = values * (2.0**27 + 1.0)
    high = scaled - (scaled - values)
    return high, values - high


def choose_unit(summary: WeightSummary) -> float:
    """Return the power of two to count weights in.

    1 for whole weights, so that weight 2 is exactly a row given twice. For others it is the one by which all
    rows, at the largest weight, would add up to more than 2**48 and at most 2**49 steps; a `DataError` if to
    more than 1e150.
    """
    if summary.stays_whole:
        return 1.0
    total = summary.n_rows * summary.largest
    if total > LARGEST_TOTAL:
        excess = math.log10(summary.n_rows) + math.log10(summary.largest) - math.log10(LARGEST_TOTAL)
        raise DataError(
            f"The weights are too large to be added up: {summary.n_rows:,} rows times the largest weight is more than "
            f"{LARGEST_TOTAL:g}. Divide all weights by 1e{max(1, math.ceil(excess))}."
        )
    is_power_of_two = math.frexp(total)[0] == 0.5
    return power_of_two_unit(total, SCALED_BITS + is_power_of_two, SMALLEST_EXPONENT)


def to_fixed_point(weight: Floats, step: float) -> Counts:
    """Return positive weights in steps, at least one step each.

    Raises a `DataError` if a step is more than 1 and a weight is less than half of it: rounding it up would
    add more than half a row.
    """
    steps = nearest_steps(weight, step)
    if step > 1.0 and (n_light := int((steps < 1).sum())):
        raise DataError(
            f"The weights differ too much to be counted together: the largest need steps of {step:.2g}, and "
            f"{n_light:,} are less than half a step. Divide all weights by 1e{math.ceil(math.log10(step))}, or give "
            "these rows the weight 0."
        )
    return np.maximum(steps, 1)


def fixed_point_weights(weight: Floats, n_rows: int | None = None) -> tuple[Counts | None, float]:
    """Convert positive weights to integer steps, and return the unit; neither depends on the order of rows.

    `n_rows` is the number of rows that have one of these weights, by default as many as there are weights. The steps
    are None if every row counts 1.
    """
    summary = WeightSummary.of(weight)
    if n_rows is not None:
        summary = replace(summary, n_rows=n_rows)
    step = choose_unit(summary)
    return (None if summary.stays_whole and summary.all_ones else to_fixed_point(weight, step)), step


def are_normalised(total: int, step: float) -> bool:
    """Whether weights with this total, in steps, add up to one row at most."""
    return total * step <= NORMALISED_TOTAL


def unit_scaled(values: Floats) -> tuple[Floats, float]:
    """Return the values divided by a power of two, and that power, so that no square overflows; no bit changes."""
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1]) - 1
    return np.ldexp(values, -exponent), float(np.ldexp(1.0, exponent))
