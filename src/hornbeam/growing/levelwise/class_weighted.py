"""Encoded rows with class weights applied: they change the choice of splits, not the evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.fixed_point import WeightSummary, choose_unit, to_fixed_point
from hornbeam.data.sources import Partition
from hornbeam.data.weights import class_steps, class_weighted
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.kernels.subtree import Rows
from hornbeam.typing import Counts, Floats

__all__ = ["ClassWeightedSource"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeightedSource:
    """Encoded rows with the weights that `hornbeam.data.weights.apply_class_weight` computes from all rows.

    Parameters
    ----------
    source : EncodedSource
        Rows with their own weights.
    step : float
        Value of one integer step of their weight.
    factors : array of shape (n_classes,)
        Factor of each class: whole numbers, applied exactly, or real ones, whose products are rounded to steps.
    unit : float
        Value of one integer step of the product.
    """

    source: EncodedSource
    step: float
    factors: Counts | Floats
    unit: float

    @classmethod
    def of(
        cls, source: EncodedSource, step: float, class_weight: Floats, summary: RowSummary, engine: Engine
    ) -> "ClassWeightedSource":
        """Choose the unit of the products; rows with fractional weights need one more pass."""
        if step == 1.0:
            times, unit = class_steps(class_weight, summary.counts > 0, summary.total_weight)
            return cls(source, step, times, unit)
        [weights] = engine.reduce(
            _weight_summary,
            source.partitions(),
            cls(source, step, class_weight, 1.0),
            combine=WeightSummary.merge,
        )
        return cls(source, step, class_weight, choose_unit(weights))

    @property
    def fingerprint(self) -> str:
        """Content hash of the rows with their own weights."""
        return self.source.fingerprint

    def partitions(self) -> Sequence[Partition]:
        """Return the partitions of the source."""
        return self.source.partitions()

    def read(self, partition: Partition) -> Rows:
        """Read the rows of a partition and apply the factors to their weights."""
        return self.weigh(self.source.read(partition))

    def weigh(self, rows: Rows) -> Rows:
        """Apply the factors to the weights of rows."""
        if self.factors.dtype == np.int64:
            times: Counts = self.factors[rows.label].astype(np.int64, copy=False)
            return rows._replace(weight=times if rows.weight is None else rows.weight * times)
        return rows._replace(weight=to_fixed_point(self.products(rows), self.unit))

    @property
    def row_steps(self) -> Floats:
        """Steps of a row of each class and of weight 1."""
        times = self.factors.astype(np.float64)
        return times if self.factors.dtype == np.int64 else times / self.unit

    def products(self, rows: Rows) -> Floats:
        """Return weights times factors, before they are rounded to steps."""
        assert rows.weight is not None  # rows without weights have steps of 1
        return class_weighted(
            rows.weight, self.step, self.factors.astype(np.float64), rows.label.astype(np.int32)
        )


def _weight_summary(partitions: Sequence[Partition], source: ClassWeightedSource) -> list[WeightSummary]:
    """Summarise the products, for the choice of their unit."""
    parts = (WeightSummary.of(source.products(source.source.read(partition))) for partition in partitions)
    return [reduce(WeightSummary.merge, parts, WeightSummary())]
