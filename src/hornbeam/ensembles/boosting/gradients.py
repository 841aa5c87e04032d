"""Gradients in fixed point: what a loss asks of every row, in steps whose sums are exact."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.kernels.leafwise import Gradients
from hornbeam.typing import Floats, Indices

__all__ = ["GradientScale"]

_PULL_BITS = 61  # all rows together, at the largest pull, are fewer than 2**61 steps
_PAIR_BITS = 62  # of the hessians of all rows and the times they count, side by side in one word
_MOST_COPIES = 2**30  # weights beyond are multiplied with the gradients instead of being counted
_SMALLEST_EXPONENT = -1000


@dataclass(frozen=True, slots=True, eq=False)
class GradientScale:
    """What rows weigh when gradients are added up.

    Parameters
    ----------
    times : int32 array of shape (n_rows,) or None
        How often each row counts, where weights are whole; None for once.
    factor : float64 array of shape (n_rows,) or None
        What gradients are multiplied with, where they are not; None for 1.
    total : int
        How often all rows together count.

    Notes
    -----
    A row of weight 2 has twice the steps of a row of weight 1: it is exactly a row given twice. Weights that are
    not whole, or huge, are multiplied first and rounded then, and each row counts once in `min_samples_leaf`.

    Examples
    --------
    >>> table = Table.read([[1.0], [2.0]], [0, 1], sample_weight=[1, 3])
    >>> GradientScale.of(table).times
    array([1, 3], dtype=int32)
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
        """What each row weighs; None for 1."""
        return self.factor if self.times is None else self.times.astype(np.float64)

    def pulls(self, pull: Floats, hessian: Floats | None) -> Gradients:
        """Choose the steps of some pulls (negative gradients) and hessians; the order of rows cannot change them.

        Parameters
        ----------
        pull : float64 array of shape (n_rows,)
        hessian : float64 array of shape (n_rows,) or None
            None for 1 each.

        Examples
        --------
        >>> pulls = GradientScale(None, None, 2).pulls(np.array([0.5, -1.0]), None)
        >>> pulls.numerator_scale == 2.0**59, pulls.denominator_scale
        (True, 1.0)
        """
        if self.factor is not None:
            pull = pull * self.factor
            hessian = self.factor if hessian is None else hessian * self.factor
        shift = self.total.bit_length()
        scale = 1.0 if hessian is None else _scale(float(hessian.max()) * self.total, _PAIR_BITS - shift)
        largest = max(float(pull.max()), -float(pull.min()))
        return Gradients(pull, hessian, self.times, _scale(largest * self.total, _PULL_BITS), scale, shift)


def _scale(total: float, bits: int) -> float:
    """The power of two that makes `total` at most so many bits of steps."""
    if total == 0.0:
        return 1.0
    if not math.isfinite(total):
        raise DataError(
            "The gradients of the loss are not finite: scores have grown beyond all numbers. "
            "Pass a smaller learning_rate, or a larger l2_regularization."
        )
    return math.ldexp(1.0, bits - max(math.frexp(total)[1], _SMALLEST_EXPONENT + bits))
