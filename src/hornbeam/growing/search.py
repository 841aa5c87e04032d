"""The search for splits: its rules, and the weights of its rows, from settings and rows."""

from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import coded_rows
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import MAX_CLASSES, Schema
from hornbeam.data.table import Table
from hornbeam.data.weights import ClassFactors
from hornbeam.errors import DataError
from hornbeam.growing.category_order import order_in_memory
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.impurity import impurity
from hornbeam.growing.settings import GrowthSettings, monotone_array, refuse_fractional
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Rows, Rules
from hornbeam.tree.feature_costs import PER_CENT
from hornbeam.typing import Codes, Counts, Floats

_UNLIMITED = np.iinfo(np.int32).max
_MOST_LOSS = 1e300
_FRACTION_BITS = 48  # fractional rows: total weight is about 2**48 steps


class RowTotals(NamedTuple):
    """What the rules depend on: sums over all rows.

    ``own_weight`` is in steps of ``unit``, before class weights; ``weight`` with them, in steps of their product.
    ``largest_divided`` is the largest weight of a row if any value is missing, else 0; only `Missing.FRACTIONAL` needs
    it. The last two are for a numeric target: the value of one step of its sum, and the rounding of a term, in steps.
    """

    n_rows: int
    unit: float
    own_weight: int
    weight: int
    largest_divided: int = 0
    numerator_unit: float = 1.0
    rounding: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Rules of a search for splits, and the weights of its rows.

    `factors` are class weights: they change the choice of splits, not the evidence. Weights are multiplied by two to
    the power `shift`, so that rows can be divided among children again and again.
    """

    spec: GrowthSpec
    factors: ClassFactors | None = None
    shift: int = 0

    @classmethod
    def of(
        cls,
        settings: GrowthSettings,
        spec: GrowthSpec,
        totals: RowTotals,
        factors: ClassFactors | None = None,
    ) -> Self:
        """Complete a specification (`make_spec`) by the rules that follow from the rows."""
        missing, shift = settings.missing, 0
        if missing is Missing.FRACTIONAL and totals.largest_divided:
            refuse_fractional(settings.monotonic_cst)
            shift = max(0, _FRACTION_BITS - (totals.largest_divided * totals.n_rows).bit_length())
        elif missing is Missing.FRACTIONAL:
            missing = Missing.OWN
        unit = (totals.unit if factors is None else factors.unit) / (1 << shift)
        rules = _rules(settings, missing, unit, totals.weight << shift, totals)
        return cls(spec._replace(rules=rules), factors, shift)

    @property
    def changes_weights(self) -> bool:
        """Whether rows have other weights in the search than their own."""
        return self.factors is not None or self._divides

    @property
    def _divides(self) -> bool:
        return bool(self.spec.rules.missing == subtree.Missing.fractional)

    @property
    def row_steps(self) -> Floats:
        """Steps of the search in a row of weight 1, for each class; one number for a numeric target."""
        if self.factors is None:
            return np.full(self.spec.n_classes, 1 / self.spec.rules.unit)
        return self.factors.row_steps * (1 << self.shift)

    def set_price_unit(self, settings: GrowthSettings, loss: float) -> None:
        """Let prices count in per cent of a loss: that of predicting the same for every row."""
        self.spec.rules.price_unit = min(PER_CENT * settings.feature_cost_weight * loss, _MOST_LOSS)

    def weigh(self, rows: Rows) -> Rows:
        """Give rows the weights of the search."""
        return self.divide(rows if self.factors is None else weigh_classes(rows, self.factors))

    def divide(self, rows: Rows) -> Rows:
        """Give rows with class weights finer weights, if rows are divided among children."""
        if not self._divides:
            return rows
        weight = np.ones(rows.n_rows, np.int64) if rows.weight is None else rows.weight
        return rows._replace(weight=weight << self.shift)


def weigh_classes(rows: Rows, factors: ClassFactors) -> Rows:
    """Apply class weights to rows."""
    return rows._replace(weight=factors.weigh(rows.weight, rows.label))


def make_spec(settings: GrowthSettings, schema: Schema, bins: Bins) -> GrowthSpec:
    """Return columns, criterion and constraints, with rules that are enough to check and to count rows."""
    if schema.n_classes > MAX_CLASSES:
        raise DataError(
            f"The target has {schema.n_classes:,} classes; at most {MAX_CLASSES:,} are supported. "
            "Merge the rare ones, or fit a regression tree if the target is numeric."
        )
    nominal, monotone = bins.nominal.astype(np.uint8), monotone_array(settings.monotonic_cst, schema)
    gaps = bins.cell_values() if settings.criterion is Criterion.GAIN_RATIO else None
    kind = "entropy" if settings.criterion is Criterion.GAIN_RATIO else settings.criterion.value
    n_classes = 1 if schema.is_regression else schema.n_classes
    paths = settings.path_rules(schema)
    return GrowthSpec.of(bins.n_codes, nominal, monotone, gaps, n_classes, CRITERIA[kind], Rules(), paths)


def _rules(settings: GrowthSettings, missing: Missing, unit: float, weight: int, totals: RowTotals) -> Rules:
    rules = Rules()
    rules.nominal = getattr(subtree.Nominal, settings.nominal_split)
    rules.missing = getattr(subtree.Missing, missing)
    rules.gain_ratio = settings.criterion is Criterion.GAIN_RATIO
    rules.corrected = settings.corrected and not rules.gain_ratio
    rules.min_rows_split = settings.min_samples_split
    rules.min_rows_leaf = settings.min_samples_leaf
    rules.min_rows_missing = max(settings.min_samples_missing - 1e-6, 0.0)
    rules.min_weight_leaf = max(
        ceil((settings.min_weight_leaf - 1e-6) / unit), ceil(settings.min_weight_fraction_leaf * weight), 0
    )
    rules.max_depth = min(settings.max_depth or _UNLIMITED, _UNLIMITED)
    rules.min_decrease = settings.min_impurity_decrease
    rules.unit = unit
    rules.total_weight = weight
    rules.total_rows = totals.n_rows
    rules.numerator_unit, rules.rounding = totals.numerator_unit, totals.rounding
    # Whole weights count copies of a row. Others are relative: the size of a category is then its number of rows.
    copies = totals.own_weight if totals.unit == 1.0 else None
    independent = (totals.n_rows if copies is None else copies) / settings.design_effect
    rules.rows_per_step = independent / max(weight, 1)
    rules.rows_per_row = independent / max(totals.n_rows, 1) if copies is None else 0.0
    rules.max_features = settings.max_features or 0
    return rules


def search_table(settings: GrowthSettings, table: Table, bins: Bins, codes: Codes) -> tuple[Rows, Search]:
    """Return the rows of a table in the weights of the search, and the search; ``codes`` is not copied."""
    rows = coded_rows(table, codes)
    if rows.weight is not None and table.class_weight is None:
        rows = rows._replace(weight=rows.weight.copy())  # growing reorders it
    return search_rows(settings, table, rows, bins, make_spec(settings, table.schema, bins))


def search_rows(
    settings: GrowthSettings, table: Table, rows: Rows, bins: Bins, spec: GrowthSpec
) -> tuple[Rows, Search]:
    """Return rows in the weights of the search, and the search.

    The rows are those of a table, or some of them with other weights in steps of the same unit; `spec` is that of the
    table (`make_spec`).
    """
    subtree.check_target(rows, spec)
    own_weight, factors, weight = _total_weight(rows), None, rows.weight
    if table.class_weight is not None:
        factors = ClassFactors.of(table.class_weight, rows.weight, table.unit, rows.label)
        rows = weigh_classes(rows, factors)
    totals = RowTotals(
        rows.n_rows, table.unit, own_weight, own_weight if factors is None else _total_weight(rows)
    )
    if settings.missing is Missing.FRACTIONAL and (rows.codes == bins.n_codes).any():
        totals = totals._replace(largest_divided=1 if rows.weight is None else int(rows.weight.max()))
    if (target := table.numeric_target) is not None:
        rounding = NumericTarget.rounding(weight, table.unit)
        totals = totals._replace(numerator_unit=target.unit, rounding=rounding)
    search = Search.of(settings, spec, totals, factors)
    if settings.feature_costs is not None:
        search.set_price_unit(settings, _loss_of_rows(settings.criterion, search.spec, rows))
    rows = search.divide(rows)
    if settings.compares_all_rows and spec.nominal.any():
        search = replace(search, spec=order_in_memory(rows, search.spec))
    return rows, search


def _loss_of_rows(criterion: Criterion, spec: GrowthSpec, rows: Rows) -> float:
    """Return the loss per row of predicting the same for every row, in units of gain."""
    if rows.numerator is not None:
        variance = subtree.variance_of_rows(rows, spec, 0, rows.n_rows)
        return loss_of_sums(criterion, spec, variance, _total_weight(rows), int(rows.numerator.sum()))
    return loss_of_counts(criterion, class_weights(rows, spec.n_classes))


def loss_of_sums(criterion: Criterion, spec: GrowthSpec, variance: float, weight: int, total: int) -> float:
    """Return the loss per row of predicting the mean of a numeric target, in units of gain.

    It is the variance; for a deviance half of its dispersion, the variance divided by that of its distribution.
    """
    if not criterion.is_deviance:
        return variance
    mean = total / weight * (spec.rules.numerator_unit / spec.rules.unit)
    if mean <= 0:
        return 0.0
    return variance / (2 * mean) if criterion is Criterion.POISSON else variance / mean / (2 * mean)


def loss_of_counts(criterion: Criterion, counts: Counts) -> float:
    """Return the impurity of class weights in units of gain; 1 if the gain is no impurity but a share."""
    if criterion.impurity is None:
        return 1.0
    return float(impurity(counts, criterion.impurity)) if counts.any() else 0.0


def class_weights(rows: Rows, n_classes: int) -> Counts:
    """Add up the weight of each class."""
    if rows.weight is None:
        return np.bincount(rows.label, minlength=n_classes)
    weight = np.zeros(n_classes, dtype=np.int64)
    np.add.at(weight, rows.label, rows.weight)
    return weight


def _total_weight(rows: Rows) -> int:
    return rows.n_rows if rows.weight is None else int(rows.weight.sum())
