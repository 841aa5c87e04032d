"""Numeric targets: the values, and the fixed-point units in which their sums are exact."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.fixed_point import nearest_steps, power_of_two_unit, product_steps
from hornbeam.data.labels import as_column
from hornbeam.data.reading.columns import as_data_error
from hornbeam.errors import DataError
from hornbeam.typing import Counts, Floats

_SUM_BITS = (
    61  # all rows at the largest value stay below 2**61 steps, so that sums and differences fit 64 bits
)
_SMALLEST_EXPONENT = -1000
_LARGEST = 1e140  # so that squares, and sums of them, are finite
_LARGEST_SUM = 1e150  # of weight times value; its square is finite too
# From this weight on, value times weight is rounded: a rounded value times weight would lose digits.
_HEAVY = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class NumericTarget:
    """The numeric target of some rows, and the fixed-point units of its sums.

    `unit` is the value of one step of weight times target: a power of two, small enough to lose nothing by
    rounding a value to it, and large enough that the sum over all rows fits 64 bits; `square_unit` is the
    same for weight times squared target.

    Where weights are whole and below 65,536, a row of weight 2 has twice the steps of a row of weight 1: it
    is exactly a row given twice. With other weights, the product of weight and value is rounded.
    """

    values: Floats
    unit: float
    square_unit: float

    @classmethod
    def of(cls, values: Floats, weight: Counts | None = None, step: float = 1.0) -> Self:
        """Choose units for values with these weights, in steps; they do not depend on the order of rows."""
        total = len(values) if weight is None else int(weight.sum()) * step
        return cls(values, *cls.units(largest_size(values), total, len(values)))

    @staticmethod
    def units(largest: float, total: float, n_rows: int) -> tuple[float, float]:
        """Choose units from the largest absolute value and the weight of all rows, which merge in any order."""
        if (excess := largest * total / _LARGEST_SUM) > 1.0:
            raise DataError(
                f"The target times the weights is too large to be added up: more than {_LARGEST_SUM:g} over "
                f"{n_rows:,} rows. Divide all weights by 1e{math.ceil(math.log10(excess))}, or measure the target "
                "in a larger unit."
            )
        return (
            power_of_two_unit(largest * total, _SUM_BITS, _SMALLEST_EXPONENT),
            power_of_two_unit(largest * largest * total, _SUM_BITS, _SMALLEST_EXPONENT),
        )

    def numerators(self, weight: Counts | None = None, step: float = 1.0) -> Counts:
        """Return weight times value, in steps of `unit`."""
        return _to_steps(self.values, weight, step, self.unit)

    def squares(self, weight: Counts | None = None, step: float = 1.0) -> Counts:
        """Return weight times squared value, in steps of `square_unit`."""
        return _to_steps(self.values * self.values, weight, step, self.square_unit)

    @staticmethod
    def rounding(weight: Counts | None, step: float) -> float:
        """Return the largest rounding error of a numerator, in steps, by which rows of equal values can differ."""
        return 0.5 if weight is not None and (step != 1.0 or weight.max(initial=0) >= _HEAVY) else 0.0

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Return some rows, in the same units."""
        return type(self)(self.values[rows], self.unit, self.square_unit)


def largest_size(values: Floats) -> float:
    """Return the largest absolute value; 0 of none."""
    return float(np.abs(values).max(initial=0.0))


def read_numeric_target(y: Any) -> Floats:
    """Read a numeric target from an array, a list or a series of any data frame library.

    Raises a `DataError` if values are missing, infinite, too large to be squared, or not numbers.
    """
    with as_data_error("y"):
        return _read(y)


def _read(y: Any) -> Floats:
    if np.ma.is_masked(y):
        raise _missing_error()
    values = np.asarray(y)
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported: y holds complex numbers; expected real ones.")
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"y has values that are not numbers, or too large for a float (its type is {values.dtype}); expected "
            "numbers. Class labels need a classifier."
        ) from None
    values = as_column(values, "number")
    if np.isnan(values).any():
        raise _missing_error()
    if (np.abs(values) > _LARGEST).any():
        raise DataError(
            f"Input y contains infinity or a value too large for {values.dtype!r}: expected numbers up to "
            f"{_LARGEST:g}. Leave out these rows, or measure in a larger unit."
        )
    return np.ascontiguousarray(values)


def _missing_error() -> DataError:
    return DataError("Input y contains NaN: some values are missing. Leave out the rows without a target.")


def _to_steps(values: Floats, weight: Counts | None, step: float, unit: float) -> Counts:
    if weight is None:
        return nearest_steps(values, unit)
    if step == 1.0 and weight.max(initial=0) < _HEAVY:
        return nearest_steps(values, unit) * weight
    products = product_steps(values, weight.astype(np.float64) * step, unit)
    if step != 1.0:
        return products
    return np.where(weight < _HEAVY, nearest_steps(values, unit) * weight, products)
