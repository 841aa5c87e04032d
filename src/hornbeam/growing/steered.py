"""Class weights in the level phase: they steer the search and count nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.units import Unit
from hornbeam.data.weights import fixed_point, steer
from hornbeam.growing.coded import CodedSource
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
        plain = cls(source, step, class_weight, 1.0)
        [some] = engine.reduce(_typical_products, source.units(), plain, combine=_more_typical)
        # The smallest, the largest and one that is not whole: all that the unit depends on.
        _, unit = fixed_point(some[np.isfinite(some)], survey.n_rows)
        return cls(source, step, class_weight, unit)

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
        steps = np.rint(self.products(rows) / self.unit).astype(np.int64)
        return rows._replace(weight=np.maximum(steps, 1))

    def products(self, rows: Rows) -> Floats:
        """Weights times factors, before they are rounded to steps."""
        assert rows.weight is not None  # rows that count 1 each have steps of 1
        weight: Floats = rows.weight * self.step * self.factors[rows.label]
        return weight


def _typical_products(units: Sequence[Unit], steered: Steered) -> list[Floats]:
    """The smallest product, the smallest that is not whole, the largest."""
    typical = np.array([np.inf, np.inf, -np.inf])
    for unit in units:
        product = steered.products(steered.source.read(unit))
        broken = product[np.rint(product) != product]
        some = np.array([product.min(), broken.min(initial=np.inf), product.max()])
        typical = _more_typical(typical, some)
    return [typical]


def _more_typical(one: Floats, other: Floats) -> Floats:
    return np.append(np.minimum(one[:2], other[:2]), max(one[2], other[2]))
