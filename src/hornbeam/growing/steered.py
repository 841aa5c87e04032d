"""Class weights in the level phase: they steer the search and count nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from hornbeam.data.coded import CodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.fixed_point import Spread, step_of, steps_of
from hornbeam.data.units import Unit
from hornbeam.data.weights import products, steer
from hornbeam.growing.survey import Survey
from hornbeam.kernels.subtree import Rows
from hornbeam.typing import Counts, Floats

__all__ = ["Steered"]


@dataclass(frozen=True, slots=True, eq=False)
class Steered:
    """Coded rows at the weights `hornbeam.data.weights.steer` would give them, all rows taken together.

    Parameters
    ----------
    source : CodedSource
        Rows at their own weights.
    step : float
        What one step of their weight is worth.
    factors : array of shape (n_classes,)
        What a row's class multiplies its weight by: whole numbers, exactly, or real ones, rounded to steps.
    unit : float
        What one step of the product is worth.
    """

    source: CodedSource
    step: float
    factors: Counts | Floats
    unit: float

    @classmethod
    def of(
        cls, source: CodedSource, step: float, class_weight: Floats, survey: Survey, engine: Engine
    ) -> "Steered":
        """Find the unit of the products; if rows weigh fractions, from one more pass."""
        if step == 1.0:
            # Each class as one row that weighs what all its rows do: its factor is rounded the same way.
            present = np.flatnonzero(survey.counts)
            totals = survey.counts[present]
            steered, unit = steer(totals, step, class_weight, present.astype(np.int32))
            times = np.ones(len(class_weight), dtype=np.int64)
            times[present] = 1 if steered is None else steered // totals
            return cls(source, step, times, unit)
        [spread] = engine.reduce(
            _spread, source.units(), cls(source, step, class_weight, 1.0), combine=Spread.absorb
        )
        return cls(source, step, class_weight, step_of(spread))

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
        return rows._replace(weight=steps_of(self.products(rows), self.unit))

    def products(self, rows: Rows) -> Floats:
        """Weights times factors, before they are rounded to steps."""
        assert rows.weight is not None  # rows that count 1 each have steps of 1
        return products(rows.weight, self.step, self.factors.astype(np.float64), rows.label.astype(np.int32))


def _spread(units: Sequence[Unit], steered: Steered) -> list[Spread]:
    """All that the unit of the products depends on."""
    parts = (Spread.of(steered.products(steered.source.read(unit))) for unit in units)
    return [reduce(Spread.absorb, parts, Spread())]
