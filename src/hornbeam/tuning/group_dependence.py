"""Dependence of the rows of a group, and what it means for the width of intervals."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.data.table import Table
from hornbeam.kernels.sums import dot, row_dots
from hornbeam.smoothing import IntervalCalibration
from hornbeam.typing import Counts, Floats

__all__ = ["GroupDependence"]


@dataclass(frozen=True, slots=True, eq=False)
class GroupDependence:
    """The number of the group of each row, and the correlation of the residuals of two rows of a group."""

    unit: Counts
    correlation: float

    @classmethod
    def of(cls, table: Table, held_out: Floats, unit: Counts) -> Self:
        """Estimate the correlation: the mean product of two residuals of a group, relative to their variance.

        `held_out` has the predictions of rows by a model that knows no row of their group, of shape
        (n_rows, n_classes) or (n_rows, 1).
        """
        if table.numeric_target is not None:
            residual = table.numeric_target.values[:, None] - held_out
            variance = np.full(len(residual), dot(residual[:, 0], residual[:, 0]) / max(len(residual), 1))
        else:
            residual = np.eye(held_out.shape[1])[table.target] - held_out
            variance = np.maximum(1 - row_dots(held_out, held_out), 0.0)
        found = sum(_products(column, unit) for column in residual.T)
        possible = _products(np.sqrt(variance), unit)
        return cls(unit, round(min(max(found / possible, 0.0), 1.0), 3) if possible > 0 else 0.0)

    @property
    def design_effect(self) -> float:
        """Number of rows that count as one independent row: 1 + (mean group size of a row - 1) x correlation.

        That of Kish (1965), with the mean over rows, so that large groups count more.
        """
        sizes = np.bincount(self.unit)
        return 1.0 + (float((sizes * sizes).sum() / sizes.sum()) - 1.0) * self.correlation

    def limit(self, calibration: IntervalCalibration) -> IntervalCalibration:
        """Let no row count more than one row divided by the design effect."""
        most = max(round(1 / self.design_effect, 2), 0.01)
        return IntervalCalibration(min(calibration.borrowed, most), min(calibration.own, most))


def _products(values: Floats, unit: Counts) -> float:
    """Sum the products of two rows of a group, over all ordered pairs of different rows."""
    sums = np.bincount(unit, values)
    return dot(sums, sums) - dot(values, values)
