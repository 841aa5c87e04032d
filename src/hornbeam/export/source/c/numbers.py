"""The number types of a row: their literals in C, and their comparison with a threshold.

A row goes left if ``x <= threshold``. For ``x`` of a narrower type the result is the same with the largest number of
that type that is not above the threshold, so splits stay exact for every value of the type.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ExportError
from hornbeam.typing import Floats

type Branches = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point type; NaN is missing."""

    ctype: str
    dtype: type[np.floating[Any]]

    def cut(self, threshold: float) -> float:
        """Compute the largest number of this type that is not above the threshold."""
        with np.errstate(over="ignore", under="ignore"):
            near = self.dtype(threshold)
            low = near if float(near) <= threshold else np.nextafter(near, self.dtype(-inf))
            return float(low)

    def literal(self, value: float) -> str:
        """Write a number so that it is read back exactly."""
        suffix = "f" if self.dtype is np.float32 else ""
        if value != value:
            return f"(0.0{suffix} / 0.0{suffix})"
        if abs(value) == inf:
            return f"({'-' * (value < 0)}1.0{suffix} / 0.0{suffix})"
        digits = f"{value:.9g}" if suffix else repr(value)
        return f"{digits}{'' if set(digits) & set('.e') else '.0'}{suffix}"

    def _exact(self, value: float) -> str:
        """Write a number that compilers of any precision read as the same value, in hexadecimal if needed."""
        literal = self.literal(value)
        if abs(value) == inf or Fraction(literal.rstrip("f")) == Fraction(value):
            return literal
        return f"{value.hex()}{'f' * literal.endswith('f')} /* {literal} */"

    def missing(self, value: str) -> str:
        """Write the condition that a value is missing."""
        return f"{value} != {value}"

    def branches(self, value: str, cut: float, leads: list[int], complete: bool) -> Branches:
        """Write a split as conditions, each with its lead; every comparison with NaN is false."""
        low, high, missing = leads
        if cut == inf:
            known = [("", low)]
            return known if complete or missing == low else [(f"{value} == {value}", low), ("", missing)]
        at = self._exact(cut)
        if complete or missing == high:
            return [(f"{value} <= {at}", low), ("", high)]
        if missing == low:
            return [(f"!({value} > {at})", low), ("", high)]
        return [(f"{value} <= {at}", low), (f"{value} > {at}", high), ("", missing)]

    def rounded(self, column: Floats) -> Floats:
        """Round a column to numbers of this type."""
        with np.errstate(over="ignore", under="ignore"):
            return column.astype(self.dtype).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type; its smallest number means missing."""

    ctype: str
    bits: int

    def cut(self, threshold: float) -> float:
        """Compute the largest number of this type that is not above the threshold, or its smallest number."""
        most: int = 2 ** (self.bits - 1) - 1
        return most if threshold >= most else max(floor(max(threshold, -(2.0**62))), -most - 1)

    def literal(self, value: float) -> str:
        """Write a number, and NaN as the smallest number."""
        least = f"INT{self.bits}_MIN"
        return least if value != value or value < 1 - 2 ** (self.bits - 1) else str(int(value))

    def missing(self, value: str) -> str:
        """Write the condition that a value is missing."""
        return f"{value} == INT{self.bits}_MIN"

    def branches(self, value: str, cut: float, leads: list[int], complete: bool) -> Branches:
        """Write a split as conditions, each with its lead; a missing value is smaller than all others."""
        low, high, missing = leads
        if cut == 2 ** (self.bits - 1) - 1:
            known = [("", low)]
            return known if complete or missing == low else [(self.missing(value), missing), *known]
        below = f"{value} <= {self.literal(cut)}"
        if not complete and missing == high:  # one condition, so that the branch is written only once
            return [(f"{below} && {value} != INT{self.bits}_MIN", low), ("", high)]
        test: Branches = [(below, low), ("", high)]
        return test if complete or missing == low else [(self.missing(value), missing), *test]

    def rounded(self, column: Floats) -> Floats:
        """Return a column; raise `ExportError` unless its known values are numbers of this type."""
        most = 2 ** (self.bits - 1) - 1
        known: NDArray[Any] = column[~np.isnan(column)]
        wrong = known[(np.abs(known) > most) | (np.floor(known) != known)]
        if len(wrong):
            raise ExportError(
                f"The vectors have the value {wrong[0]}; expected whole numbers between {-most} and {most}, which "
                f"{self.ctype} holds. Round these rows first, or export with input='float'."
            )
        return column


type Number = Real | Integer

NUMBERS: dict[str, Number] = {
    "double": Real("double", np.float64),
    "float": Real("float", np.float32),
    "int32": Integer("int32_t", 32),
    "int16": Integer("int16_t", 16),
}
