"""What a search for splits over a source needs: the rules, and the weights of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Partition
from hornbeam.growing.category_order import order_by_level
from hornbeam.growing.constraints import refuse_fractional
from hornbeam.growing.criterion import Missing
from hornbeam.growing.in_memory import finer_shift
from hornbeam.growing.levelwise.class_weighted import ClassWeightedSource
from hornbeam.growing.levelwise.first_pass import RowSummary, summarise_rows
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import GrowthSpec, Rows, Rules
from hornbeam.typing import Counts, Floats

if TYPE_CHECKING:
    from hornbeam.growing.grower import Grower

__all__ = ["Search"]


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The rules of a search for splits, as `hornbeam.growing.in_memory.encoded_rows` finds them for rows in memory.

    Parameters
    ----------
    spec : GrowthSpec
    summary : RowSummary
        Of the rows in the weights of the search, before `shift`.
    encoded : EncodedSource
        The rows at their own weights.
    step : float
        Value of one step of these weights.
    weighted : ClassWeightedSource or None
        The same rows with class weights; None without.
    shift : int
        Weights are multiplied by two to this power, if rows are divided among children.
    """

    spec: GrowthSpec
    summary: RowSummary
    encoded: EncodedSource
    step: float
    weighted: ClassWeightedSource | None = None
    shift: int = 0

    @classmethod
    def of(
        cls,
        grower: "Grower",
        encoded: EncodedSource,
        bins: Bins,
        schema: Schema,
        engine: Engine,
        *,
        unit: Floats,
        class_weight: Floats | None,
    ) -> Self:
        """Count the rows: one pass, two with class weights, and one more if rows may be divided."""
        spec, step = grower._growth_spec(schema, bins, Rules()), unit.item(0)
        summary = summarise_rows(encoded, spec, engine, step)
        copies = summary.total_weight if step == 1.0 else None
        found, rows_unit = cls(spec, summary, encoded, step), step
        if class_weight is not None:
            weighted = ClassWeightedSource.of(encoded, step, class_weight, summary, engine)
            summary, rows_unit = summarise_rows(weighted, spec, engine), weighted.unit
            found = cls(spec, summary, encoded, step, weighted)
        missing, shift = grower.missing, 0
        if missing is Missing.FRACTIONAL:
            most = found._largest_if_missing(engine)
            if most:
                refuse_fractional(grower.monotone)
                shift = finer_shift(most, summary.n_rows)
            else:
                missing = Missing.OWN
        total = summary.total_weight << shift
        rules = grower._rules(missing, rows_unit / (1 << shift), total, summary.n_rows, copies)
        if schema.is_regression:
            rules.numerator_unit, rules.rounding = unit.item(1), summary.rounding
        found = cls(spec._replace(rules=rules), summary, encoded, step, found.weighted, shift)
        if not grower.compares_all_rows:
            return found
        return replace(found, spec=order_by_level(found.rows, found.spec, engine))

    @property
    def rows(self) -> EncodedSource:
        """The rows with class weights."""
        return self.encoded if self.weighted is None else self.weighted

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights in the search."""
        return self.summary.weighted or self.weighted is not None or self._divides

    @property
    def _divides(self) -> bool:
        return bool(self.spec.rules.missing == subtree.Missing.fractional)

    @property
    def row_steps(self) -> Floats:
        """Steps of the search in a row of weight 1, for each class; one number for a numeric target."""
        if self.weighted is None:
            return np.full(self.spec.n_classes, 1 / self.spec.rules.unit)
        return self.weighted.row_steps * (1 << self.shift)

    def weigh(self, rows: Rows) -> Rows:
        """Give rows the weights of the search."""
        rows = rows if self.weighted is None else self.weighted.weigh(rows)
        if not self._divides:
            return rows
        weight = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
        return rows._replace(weight=weight << self.shift)

    def _largest_if_missing(self, engine: Engine) -> int:
        """Return the largest weight of a row if any value is missing; 0 if none is."""
        [found] = engine.reduce(_largest_weight, self.rows.partitions(), self, combine=np.maximum)
        any_missing, most = found.tolist()
        return most if any_missing else 0


def _largest_weight(partitions: Sequence[Partition], search: Search) -> list[Counts]:
    """Task: whether any value is missing, and the largest weight of a row."""
    most = np.zeros(2, np.int64)
    for partition in partitions:
        rows = search.rows.read(partition)
        missing = (rows.codes == search.spec.n_codes).any()
        weight = rows.n_rows > 0 if rows.weight is None else rows.weight.max(initial=0)
        most = np.maximum(most, [missing, weight])
    return [most]
