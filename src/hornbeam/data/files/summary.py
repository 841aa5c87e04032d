"""Summaries of files: the categories, target and weights of all rows, from which the schema is inferred.

Summaries of different rows merge exactly in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.files.selection import Selection
from hornbeam.data.fixed_point import WeightSummary, are_normalised, choose_unit, to_fixed_point
from hornbeam.data.labels import Labels, match_labels
from hornbeam.data.numeric_target import NumericTarget, largest_size
from hornbeam.data.reading.columns import Column
from hornbeam.data.schema import MAX_CATEGORIES, MAX_CLASSES, Feature, Kind, sorted_categories
from hornbeam.data.sources import Partition
from hornbeam.data.weights import class_factors, no_weight_error
from hornbeam.errors import DataError
from hornbeam.typing import Category, Counts, Floats, Indices, Label


@dataclass(slots=True)
class FileSummary:
    """Summary of some partitions, which merge in any order.

    `rows` is the number of rows of each partition that are kept; `classes` has the class labels that occur,
    and the summary of the weights of their rows that are kept; `floats`: the labels are floats in some
    partition. `categories` has per nominal column the values that occur, per ordinal one the dictionaries
    that occur, each with the position of the first row with it. `largest` is the largest absolute value of a
    numeric target.
    """

    rows: dict[Partition, int] = field(default_factory=dict)
    classes: dict[Label, WeightSummary] = field(default_factory=dict)
    floats: bool = False
    categories: dict[str, dict[Any, int]] = field(default_factory=dict)
    largest: float = 0.0

    def merge(self, other: "FileSummary") -> "FileSummary":
        """Add the summary of other partitions in place."""
        self.rows |= other.rows
        self.floats |= other.floats
        self.largest = max(self.largest, other.largest)
        for label, weights in other.classes.items():
            self.classes[label] = self.classes.get(label, WeightSummary()).merge(weights)
        for name, categories in other.categories.items():
            self.add_categories(name, categories)
        if len(self.classes) > MAX_CLASSES:
            raise DataError(
                f"The target has more than {MAX_CLASSES:,} classes, which is the most that are supported. "
                "Name a column of class labels, or cut the numbers into classes first."
            )
        return self

    def add_categories(self, name: str, categories: dict[Any, int]) -> None:
        """Add the categories of a column, each with the position of its first row."""
        first_row = self.categories.setdefault(name, {})
        for value, row in categories.items():
            first_row[value] = min(first_row.get(value, row), row)
        if len(first_row) > MAX_CATEGORIES:
            raise DataError(
                f"Feature {name!r} has more than {MAX_CATEGORIES} categories, which is the most that are "
                "supported. Merge the rare ones, drop the column if it only names rows, or make it numeric."
            )

    @property
    def labels(self) -> tuple[Label, ...]:
        """The sorted classes; all floats if some are."""
        labels: list[Any] = list(self.classes)
        return tuple(sorted(map(float, labels) if self.floats else labels))

    def feature(self, name: str, kind: Kind) -> Feature:
        """Infer the feature of a column."""
        if kind is Kind.NUMERIC:
            return Feature(name)
        first_row = self.categories.get(name, {})
        if kind is Kind.NOMINAL:
            return Feature(name, kind, sorted_categories(first_row))
        return Feature(name, kind, _merge_ordered(name, sorted(first_row, key=first_row.__getitem__)))

    def match_factors(self, factors: Floats | None, classes: tuple[Label, ...]) -> Floats | None:
        """Return the factors in a given order of classes; 1 for classes without rows."""
        labels = np.array(self.labels, dtype=object)
        codes = match_labels(Labels(labels, np.arange(len(labels), dtype=np.int32)), classes)
        if factors is None:
            return None
        matched = np.ones(len(classes))
        with_rows = [self.classes[label].n_rows > 0 for label in self.labels]
        matched[codes[with_rows]] = factors[with_rows]
        return matched


@dataclass(frozen=True, slots=True, eq=False)
class WeightScale:
    """The fixed point of weights: weights are divided by `step`, and one step then has the weight `unit`.

    The two differ for normalised weights. `step` is None when every row counts 1. `class_factors` are the factors of
    the classes in the search for splits, None if all are 1. `target_units` are those of a numeric target: see
    `NumericTarget.units`.
    """

    step: float | None = None
    unit: float = 1.0
    class_factors: Floats | None = None
    target_units: tuple[float, float] | None = None


def summarise_files(
    partitions: Sequence[Partition], shared: tuple[Selection, dict[str, Kind]]
) -> list[FileSummary]:
    """Task: summarise some partitions. Numeric columns are not read."""
    selection, kinds = shared
    summary = FileSummary()
    for partition in partitions:
        if not kinds and selection.target is None and selection.weight is None:
            summary.rows[partition] = partition.n_rows
            continue
        extract = selection.extract(partition, list(kinds))
        part = FileSummary({partition: extract.n_rows})
        if extract.labels is None:
            part.classes = _weight_summaries([None], np.zeros(extract.n_rows, dtype=np.int32), extract.weight)
            part.largest = 0.0 if extract.values is None else largest_size(extract.values)
        else:
            classes, codes = extract.labels
            part.floats = classes.dtype.kind == "f"
            part.classes = _weight_summaries(classes.tolist(), codes, extract.weight)
        if extract.raw is not None:
            for column, (name, kind) in zip(extract.raw.columns, kinds.items(), strict=True):
                part.add_categories(name, _categories(column, kind, partition.begin))
        summary.merge(part)
    return [summary]


def summarise_weights(
    summary: FileSummary,
    selection: Selection,
    class_weight: Any,
    partitions: Sequence[Partition],
    engine: Engine,
) -> WeightScale:
    """Choose the fixed point of all weights and of a numeric target, and the factor of every class that occurs."""
    if not summary.classes:  # neither labels nor weights
        return WeightScale()
    weights = WeightSummary()
    for class_weights in summary.classes.values():
        weights = weights.merge(class_weights)
    if weights.n_rows == 0:
        raise no_weight_error()
    step = None if weights.stays_whole and weights.all_ones else choose_unit(weights)
    totals = np.array([summary.classes[label].n_rows for label in summary.labels or (None,)], dtype=np.int64)
    if step is not None and (class_weight == "balanced" or selection.numeric or not weights.stays_whole):
        [totals] = engine.reduce(_class_totals, partitions, (selection, summary.labels, step))
    unit = 1.0 if step is None else step
    if step is not None and not weights.stays_whole and are_normalised(total := int(totals.sum()), step):
        fewest, most = to_fixed_point(np.array([weights.smallest, weights.largest]), step)
        step, unit = (None, 1.0) if fewest == most else (step, weights.n_rows / total)
    if selection.numeric:
        total_weight = weights.n_rows if step is None else int(totals.sum()) * unit
        units = NumericTarget.units(summary.largest, total_weight, weights.n_rows)
        return WeightScale(step, unit, target_units=units)
    if class_weight is None:
        return WeightScale(step, unit)
    factors = class_factors(class_weight, summary.labels, lambda: totals)
    return WeightScale(step, unit, None if (factors == 1).all() else factors)


def _class_totals(
    partitions: Sequence[Partition], shared: tuple[Selection, tuple[Label, ...], float]
) -> list[Counts]:
    """Task: add up the weight of every class in steps."""
    selection, labels, step = shared
    code_of = {label: code for code, label in enumerate(labels)}
    totals = np.zeros(max(1, len(labels)), dtype=np.int64)
    for partition in partitions:
        extract = selection.extract(partition, ())
        assert extract.weight is not None
        steps = to_fixed_point(extract.weight, step)
        if extract.labels is None:
            totals[0] += steps.sum()
        else:
            classes, codes = extract.labels
            np.add.at(totals, np.array([code_of[label] for label in classes.tolist()])[codes], steps)
    return [totals]


def _weight_summaries(
    labels: list[Label], codes: Indices, weight: Floats | None
) -> dict[Label, WeightSummary]:
    """Summarise the weights of each class."""
    rows = np.bincount(codes, minlength=len(labels))
    if weight is None:
        return {
            label: WeightSummary(n, 1.0, 1.0) if n else WeightSummary()
            for label, n in zip(labels, rows.tolist(), strict=True)
        }
    smallest, largest = np.full(len(labels), np.inf), np.zeros(len(labels))
    np.minimum.at(smallest, codes, weight)
    np.maximum.at(largest, codes, weight)
    n_fractional = np.bincount(codes, weights=np.rint(weight) != weight, minlength=len(labels))
    facts = (rows.tolist(), smallest.tolist(), largest.tolist(), (n_fractional == 0).tolist())
    return {label: WeightSummary(*fields) for label, *fields in zip(labels, *facts, strict=True)}


def _categories(column: Column, kind: Kind, row: int) -> dict[Any, int]:
    """Return the values of a nominal column that occur, or the dictionary of an ordinal one, with a row."""
    if column.dictionary is None:  # only nulls, in this file
        return {}
    if kind is Kind.NOMINAL:
        return dict.fromkeys(column.occurring().values(), row)
    return {tuple([value for value in column.dictionary if value is not None]): row}


def _merge_ordered(name: str, dictionaries: list[tuple[Category, ...]]) -> tuple[Category, ...]:
    """Merge the categories of several dictionaries; raise a `DataError` if their orders contradict."""
    merged = tuple(dict.fromkeys(value for dictionary in dictionaries for value in dictionary))
    place = {value: at for at, value in enumerate(merged)}
    for dictionary in dictionaries:
        places = [place[value] for value in dictionary]
        if places != sorted(places):
            raise DataError(
                f"Column {name!r} has ordered categories, but their order differs: {list(dictionaries[0])} "
                f"and {list(dictionary)}. Write all files with the same categories."
            )
    return merged
