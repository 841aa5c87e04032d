"""Gradients and hessians in fixed point, so that their sums are exact."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.data.fixed_point import power_of_two_unit
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.kernels.leafwise import Gradients
from hornbeam.typing import Floats, Indices

_GRADIENT_BITS = 61  # the sum of all rows, each at the largest gradient, is below 2**61 steps
_PAIR_BITS = 62  # of the sum of hessians and the number of rows, side by side in one integer
_ROUNDING = 2.0**-52  # relative rounding error of the kernel's sum of floats, for each row
_MOST_COPIES = 2**30  # larger total weights are multiplied with the gradients instead of being counted
_SMALLEST_EXPONENT = -1000


@dataclass(frozen=True, slots=True, eq=False)
class GradientScale:
    """Row weights in sums of gradients; `total` is how often all rows together count.

    `times` is how often each row counts, if weights are integers; else `factor` multiplies the gradients. A row of
    weight 2 has twice the steps of a row of weight 1: it equals a row that occurs twice. Weights that are fractional or
    very large are multiplied before rounding, and each row counts once in `min_samples_leaf`.
    """

    times: Indices | None
    factor: Floats | None
    total: int

    @classmethod
    def of(cls, table: Table) -> Self:
        """Read the weights of a table."""
        weight = table.weight
        if weight is None:
            return cls(None, None, table.n_rows)
        total = int(weight.sum())
        if table.unit == 1.0 and total < _MOST_COPIES:
            return cls(weight.astype(np.int32), None, total)
        return cls(None, np.multiply(weight, table.unit), table.n_rows)

    @property
    def weight(self) -> Floats | None:
        """Weight of each row; None for 1."""
        return self.factor if self.times is None else self.times.astype(np.float64)

    def fixed_point(self, gradient: Floats, hessian: Floats | None) -> Gradients:
        """Choose the fixed-point scales of negative gradients and hessians; the order of rows does not change them."""
        if self.factor is not None:
            gradient = gradient * self.factor
            hessian = self.factor if hessian is None else hessian * self.factor
        shift = self.total.bit_length()
        most = self.total * (1.0 + self.total * _ROUNDING)
        hessian_scale = 1.0 if hessian is None else _scale(float(hessian.max()) * most, _PAIR_BITS - shift)
        largest = max(float(gradient.max()), -float(gradient.min()))
        gradient_scale = _scale(largest * most, _GRADIENT_BITS)
        return Gradients(gradient, hessian, self.times, gradient_scale, hessian_scale, shift)


def _scale(total: float, bits: int) -> float:
    """Choose the power of two whose product with `total` has at most this number of bits."""
    if not math.isfinite(total):
        raise DataError(
            "The gradients of the loss are not finite: the scores are too large. "
            "Pass a smaller learning_rate, or a larger l2_regularization."
        )
    return 1.0 / power_of_two_unit(total, bits, _SMALLEST_EXPONENT)
