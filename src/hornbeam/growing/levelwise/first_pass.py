"""First passes over the rows: totals of the target, checks of the codes, and the search that follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.fixed_point import WeightSummary
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Partition
from hornbeam.data.weights import ClassFactors
from hornbeam.errors import DataError
from hornbeam.growing.category_order import order_by_level
from hornbeam.growing.criterion import Missing
from hornbeam.growing.search import (
    RowTotals,
    Search,
    class_weights,
    loss_of_counts,
    loss_of_sums,
    make_spec,
    weigh_classes,
)
from hornbeam.growing.settings import GrowthSettings
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.subtree import GrowthSpec, Rows
from hornbeam.typing import Counts, Floats, Indices


class RowSummary(NamedTuple):
    """Evidence of all rows, their number, whether they have weights, and the format of rows.

    Evidence is the weight of each class; or the weight and the sum of a numeric target (`sums`), whose terms may have
    been rounded to steps (`rounding`, in steps).
    """

    counts: Counts
    n_rows: int
    weighted: bool
    n_features: int
    code_dtype: np.dtype[np.uint8] | np.dtype[np.uint16]
    sums: bool = False
    rounding: float = 0.0

    @property
    def row_bytes(self) -> int:
        """Bytes of one row: codes, label or numerator, and weight."""
        target = 8 if self.sums else 2
        return self.code_dtype.itemsize * self.n_features + target + 8 * self.weighted

    @property
    def total_weight(self) -> int:
        """Weight of all rows."""
        return int(self.counts[0] if self.sums else self.counts.sum())


def summarise_rows(source: EncodedSource, spec: GrowthSpec, engine: Engine, unit: float = 1.0) -> RowSummary:
    """Count the rows of all partitions, and check their codes before a kernel uses them."""
    [total] = engine.reduce(_summarise, source.partitions(), (source, spec, unit))
    *counts, n_rows, n_weighted, n_wide, n_rounded = total.tolist()
    if n_rows == 0:
        raise DataError("the source has no rows; expected at least one to grow a tree from")
    return RowSummary(
        np.array(counts, dtype=np.int64),
        n_rows,
        n_weighted > 0,
        len(spec.nominal),
        np.dtype(np.uint16) if n_wide else np.dtype(np.uint8),
        spec.sums,
        0.5 if n_rounded else 0.0,
    )


def _summarise(
    partitions: Sequence[Partition], shared: tuple[EncodedSource, GrowthSpec, float]
) -> list[Counts]:
    """Evidence, then four numbers of rows: all, with weights, with codes of two bytes, with rounded products."""
    source, spec, unit = shared
    total = np.zeros(spec.n_channels + 4, dtype=np.int64)
    for partition in partitions:
        rows = source.read(partition)
        subtree.check_rows(rows, spec)
        total[:-4] += _sums(rows) if spec.sums else class_weights(rows, spec.n_classes)
        rounded = spec.sums and NumericTarget.rounding(rows.weight, unit) > 0
        total[-4:] += rows.n_rows * np.array([1, rows.weight is not None, rows.codes.itemsize > 1, rounded])
    return [total]


def _sums(rows: Rows) -> Counts:
    if rows.numerator is None:
        raise DataError(
            "the rows have no numeric target; expected one, as the schema has. Open them with it."
        )
    weight = rows.n_rows if rows.weight is None else rows.weight.sum()
    return np.array([weight, rows.numerator.sum()], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeightedSource:
    """Encoded rows with class weights applied."""

    source: EncodedSource
    factors: ClassFactors

    @property
    def fingerprint(self) -> str:
        """Content hash of the rows with their own weights."""
        return self.source.fingerprint

    def partitions(self) -> Sequence[Partition]:
        """Return the partitions of the source."""
        return self.source.partitions()

    def read(self, partition: Partition) -> Rows:
        """Read the rows of a partition and apply the factors to their weights."""
        return weigh_classes(self.source.read(partition), self.factors)


class SourceSearch(NamedTuple):
    """The search for splits over a source, its rows with class weights, and their summary."""

    search: Search
    rows: EncodedSource
    summary: RowSummary


def search_source(
    settings: GrowthSettings,
    source: EncodedSource,
    bins: Bins,
    schema: Schema,
    engine: Engine,
    *,
    units: Floats,
    class_weight: Floats | None,
) -> SourceSearch:
    """Find what `hornbeam.growing.search.search_table` finds for rows in memory.

    One pass, two or three with class weights, one more if rows may be divided, one for prices of features and a numeric
    target, and one for an order of categories.
    """
    spec, step = make_spec(settings, schema, bins), units.item(0)
    summary = summarise_rows(source, spec, engine, step)
    rows, factors, own_weight = source, None, summary.total_weight
    if class_weight is not None:
        factors = _class_factors(source, class_weight, step, summary, engine)
        rows = ClassWeightedSource(source, factors)
        summary = summarise_rows(rows, spec, engine)
    totals = RowTotals(summary.n_rows, step, own_weight, summary.total_weight)
    if settings.missing is Missing.FRACTIONAL:
        [found] = engine.reduce(_largest_weight, rows.partitions(), (rows, spec.n_codes), combine=np.maximum)
        any_missing, most = found.tolist()
        totals = totals._replace(largest_divided=most if any_missing else 0)
    if schema.is_regression:
        totals = totals._replace(numerator_unit=units.item(1), rounding=summary.rounding)
    search = Search.of(settings, spec, totals, factors)
    if settings.feature_costs is not None and schema.is_regression:
        [parts] = engine.reduce(_squares, rows.partitions(), rows)
        variance = levelwise.variance_of_squares(parts, search.spec, summary.counts)
        sums = summary.counts.tolist()
        search.set_price_unit(settings, loss_of_sums(settings.criterion, search.spec, variance, *sums))
    elif settings.feature_costs is not None:
        search.set_price_unit(settings, loss_of_counts(settings.criterion, summary.counts))
    if settings.compares_all_rows:
        search = replace(search, spec=order_by_level(rows, search.spec, engine))
    return SourceSearch(search, rows, summary)


def _squares(partitions: Sequence[Partition], source: EncodedSource) -> list[Counts]:
    """Task: the sum of the squares of a numeric target, in parts that add up."""
    parts = np.zeros(levelwise.SQUARE_PARTS, dtype=np.int64)
    for partition in partitions:
        rows = source.read(partition)
        levelwise.add_squares(rows, np.zeros(rows.n_rows, np.int32), np.zeros(1, np.int32), parts)
    return [parts]


def _class_factors(
    source: EncodedSource, class_weight: Floats, step: float, summary: RowSummary, engine: Engine
) -> ClassFactors:
    """Choose the unit of weights times class weights; weights that are not whole need a pass."""
    if step == 1.0:
        return ClassFactors.of_whole(class_weight, summary.counts > 0, summary.total_weight)
    factors = ClassFactors(class_weight, step, 1.0)
    [products] = engine.reduce(
        _product_summary, source.partitions(), (source, factors), combine=WeightSummary.merge
    )
    return factors.with_unit(products)


def _product_summary(
    partitions: Sequence[Partition], shared: tuple[EncodedSource, ClassFactors]
) -> list[WeightSummary]:
    """Task: summarise weights times class weights, for the choice of their unit."""
    source, factors = shared
    rows = map(source.read, partitions)
    parts = (WeightSummary.of(factors.products(part.weight, part.label)) for part in rows)
    return [reduce(WeightSummary.merge, parts, WeightSummary())]


def _largest_weight(partitions: Sequence[Partition], shared: tuple[EncodedSource, Indices]) -> list[Counts]:
    """Task: whether any value is missing, and the largest weight of a row."""
    source, n_codes = shared
    most = np.zeros(2, np.int64)
    for partition in partitions:
        rows = source.read(partition)
        weight = rows.n_rows > 0 if rows.weight is None else rows.weight.max(initial=0)
        most = np.maximum(most, [(rows.codes == n_codes).any(), weight])
    return [most]
