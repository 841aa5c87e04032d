"""Class weights in the level phase: they steer the search and count nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.fixed_point import WeightSummary, choose_unit, to_fixed_point
from hornbeam.data.sources import Unit
from hornbeam.data.weights import apply_class_weight, products
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.kernels.subtree import Rows
from hornbeam.typing import Counts, Floats

__all__ = ["ClassWeightedSource"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeightedSource:
    """Coded rows at the weights `hornbeam.data.weights.apply_class_weight` would give them, all rows taken together.

    Parameters
    ----------
    source : EncodedSource
        Rows at their own weights.
    step : float
        What one step of their weight is worth.
    factors : array of shape (n_classes,)
        What a row's class multiplies its weight by: whole numbers, exactly, or real ones, rounded to steps.
    unit : float
        What one step of the product is worth.
    """

    source: EncodedSource
    step: float
    factors: Counts | Floats
    unit: float

    @classmethod
    def of(
        cls, source: EncodedSource, step: float, class_weight: Floats, survey: RowSummary, engine: Engine
    ) -> "ClassWeightedSource":
        """Find the unit of the products; if rows weigh fractions, from one more pass."""
        if step == 1.0:
            # Each class as one row that weighs what all its rows do: its factor is rounded the same way.
            present = np.flatnonzero(survey.counts)
            totals = survey.counts[present]
            steered, unit = apply_class_weight(totals, step, class_weight, present.astype(np.int32))
            times = np.ones(len(class_weight), dtype=np.int64)
            times[present] = 1 if steered is None else steered // totals
            return cls(source, step, times, unit)
        [spread] = engine.reduce(
            _weight_summary,
            source.units(),
            cls(source, step, class_weight, 1.0),
            combine=WeightSummary.absorb,
        )
        return cls(source, step, class_weight, choose_unit(spread))

    @property
    def fingerprint(self) -> str:
        """That of the rows at their own weights."""
        return self.source.fingerprint

    def units(self) -> Sequence[Unit]:
        """Addresses of all rows."""
        return self.source.units()

    def read(self, unit: Unit) -> Rows:
        """Read the rows of a unit and multiply their weights."""
        rows = self.source.read(unit)
        if self.factors.dtype == np.int64:
            times: Counts = self.factors[rows.label].astype(np.int64, copy=False)
            return rows._replace(weight=times if rows.weight is None else rows.weight * times)
        return rows._replace(weight=to_fixed_point(self.products(rows), self.unit))

    def products(self, rows: Rows) -> Floats:
        """Weights times factors, before they are rounded to steps."""
        assert rows.weight is not None  # rows that count 1 each have steps of 1
        return products(rows.weight, self.step, self.factors.astype(np.float64), rows.label.astype(np.int32))


def _weight_summary(units: Sequence[Unit], steered: ClassWeightedSource) -> list[WeightSummary]:
    """All that the unit of the products depends on."""
    parts = (WeightSummary.of(steered.products(steered.source.read(unit))) for unit in units)
    return [reduce(WeightSummary.absorb, parts, WeightSummary())]
