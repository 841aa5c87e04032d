"""The survey: what must be known of all rows before any can be read as a table.

Parts of different rows merge exactly in any order: categories and classes as sets, weights as their spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.files.selection import Selection
from hornbeam.data.fixed_point import WeightSummary, are_normalised, choose_unit, to_fixed_point
from hornbeam.data.labels import Labels, match_labels
from hornbeam.data.reading.columns import Column
from hornbeam.data.schema import MAX_CATEGORIES, Feature, Kind, sorted_categories
from hornbeam.data.sources import Unit
from hornbeam.data.weights import class_factors, no_weight_error
from hornbeam.errors import DataError
from hornbeam.typing import Category, Counts, Floats, Indices, Label

__all__ = ["FileSummary", "WeightScale", "summarise_files", "summarise_weights"]

MAX_CLASSES = 65_535


@dataclass(slots=True)
class FileSummary:
    """What some units hold.

    Parameters
    ----------
    rows : dict
        The rows of each unit that count.
    classes : dict
        The class labels that occur, and the spread of the weights of their rows that count.
    floats : bool
        Whether labels came as floats anywhere.
    categories : dict
        Per nominal column the values that occur, per ordinal one the dictionaries met, each with the number
        of the first row where it was.

    Examples
    --------
    >>> one, other = FileSummary(categories={"c": {"red": 5}}), FileSummary(categories={"c": {"blue": 0, "red": 2}})
    >>> one.absorb(other).feature("c", Kind.NOMINAL).categories
    ('blue', 'red')
    """

    rows: dict[Unit, int] = field(default_factory=dict)
    classes: dict[Label, WeightSummary] = field(default_factory=dict)
    floats: bool = False
    categories: dict[str, dict[Any, int]] = field(default_factory=dict)

    def absorb(self, other: "FileSummary") -> "FileSummary":
        """Add another survey to this one."""
        self.rows |= other.rows
        self.floats |= other.floats
        for label, spread in other.classes.items():
            self.classes[label] = self.classes.get(label, WeightSummary()).absorb(spread)
        for name, found in other.categories.items():
            self.meet(name, found)
        if len(self.classes) > MAX_CLASSES:
            raise DataError(
                f"The target has more than {MAX_CLASSES:,} classes, which is the most that are supported. "
                "Name a column of class labels, or cut the numbers into classes first."
            )
        return self

    def meet(self, name: str, found: dict[Any, int]) -> None:
        """Add what a column holds."""
        mine = self.categories.setdefault(name, {})
        for value, row in found.items():
            mine[value] = min(mine.get(value, row), row)
        if len(mine) > MAX_CATEGORIES:
            raise DataError(
                f"Feature {name!r} has more than {MAX_CATEGORIES} categories, which is the most that are "
                "supported. Merge the rare ones, drop the column if it only names rows, or make it numeric."
            )

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes in order; all floats if some are."""
        labels: list[Any] = list(self.classes)
        return tuple(sorted(map(float, labels) if self.floats else labels))

    def feature(self, name: str, kind: Kind) -> Feature:
        """What training learns of a column."""
        if kind is Kind.NUMERIC:
            return Feature(name)
        found = self.categories.get(name, {})
        if kind is Kind.NOMINAL:
            return Feature(name, kind, sorted_categories(found))
        return Feature(name, kind, _in_order(name, sorted(found, key=found.__getitem__)))

    def matched(self, factors: Floats | None, classes: tuple[Label, ...]) -> Floats | None:
        """The factors of the classes that have rows, in an order already settled; 1 for the others."""
        labels = np.array(self.labels, dtype=object)
        codes = match_labels(Labels(labels, np.arange(len(labels), dtype=np.int32)), classes)
        if factors is None:
            return None
        of_class = np.ones(len(classes))
        with_rows = [self.classes[label].n_rows > 0 for label in self.labels]
        of_class[codes[with_rows]] = factors[with_rows]
        return of_class


@dataclass(frozen=True, slots=True, eq=False)
class WeightScale:
    """How weights become integers: the step they are counted in, None when every row counts 1.

    `unit` is what a step is worth in the end, `of_class` what classes weigh in the search for tests.
    """

    step: float | None = None
    unit: float = 1.0
    of_class: Floats | None = None


def summarise_files(units: Sequence[Unit], shared: tuple[Selection, dict[str, Kind]]) -> list[FileSummary]:
    """The survey of some units: a task of the engine. Only columns of categories are read."""
    selection, kinds = shared
    found = FileSummary()
    for unit in units:
        if not kinds and selection.target is None and selection.weight is None:
            found.rows[unit] = unit.n_rows
            continue
        extract = selection.extract(unit, list(kinds))
        part = FileSummary({unit: extract.n_rows})
        if extract.labels is None:
            part.classes = _weight_summaries([None], np.zeros(extract.n_rows, dtype=np.int32), extract.weight)
        else:
            classes, codes = extract.labels
            part.floats = classes.dtype.kind == "f"
            part.classes = _weight_summaries(classes.tolist(), codes, extract.weight)
        if extract.sheet is not None:
            for column, (name, kind) in zip(extract.sheet.columns, kinds.items(), strict=True):
                part.meet(name, _categories(column, kind, unit.begin))
        found.absorb(part)
    return [found]


def summarise_weights(
    found: FileSummary, selection: Selection, class_weight: Any, units: Sequence[Unit], engine: Engine
) -> WeightScale:
    """Choose the fixed point of all weights, and the factor of every class that occurs."""
    if not found.classes:  # neither labels nor weights
        return WeightScale()
    spread = WeightSummary()
    for part in found.classes.values():
        spread = spread.absorb(part)
    if spread.n_rows == 0:
        raise no_weight_error()
    step = None if spread.stays_whole and spread.all_ones else choose_unit(spread)
    totals = np.array([found.classes[label].n_rows for label in found.labels or (None,)], dtype=np.int64)
    if step is not None and (class_weight == "balanced" or not spread.stays_whole):
        [totals] = engine.reduce(_add_steps, units, (selection, found.labels, step))
    unit = 1.0 if step is None else step
    if step is not None and not spread.stays_whole and are_normalised(total := int(totals.sum()), step):
        even = to_fixed_point(np.array([spread.smallest, spread.largest]), step)
        step, unit = (None, 1.0) if even[0] == even[1] else (step, spread.n_rows / total)
    if class_weight is None:
        return WeightScale(step, unit)
    factors = class_factors(class_weight, found.labels, lambda: totals)
    return WeightScale(step, unit, None if (factors == 1).all() else factors)


def _add_steps(units: Sequence[Unit], shared: tuple[Selection, tuple[Label, ...], float]) -> list[Counts]:
    """The weight of every class in steps: a task of the engine."""
    selection, labels, step = shared
    code_of = {label: code for code, label in enumerate(labels)}
    totals = np.zeros(max(1, len(labels)), dtype=np.int64)
    for unit in units:
        extract = selection.extract(unit, ())
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
    """The spread of the weights of each class."""
    rows = np.bincount(codes, minlength=len(labels))
    if weight is None:
        return {
            label: WeightSummary(n, 1.0, 1.0) if n else WeightSummary()
            for label, n in zip(labels, rows.tolist(), strict=True)
        }
    smallest, largest = np.full(len(labels), np.inf), np.zeros(len(labels))
    np.minimum.at(smallest, codes, weight)
    np.maximum.at(largest, codes, weight)
    broken = np.bincount(codes, weights=np.rint(weight) != weight, minlength=len(labels))
    facts = (rows.tolist(), smallest.tolist(), largest.tolist(), (broken == 0).tolist())
    return {label: WeightSummary(*of_class) for label, *of_class in zip(labels, *facts, strict=True)}


def _categories(column: Column, kind: Kind, row: int) -> dict[Any, int]:
    """The values of a nominal column that occur; the dictionary of an ordinal one."""
    if column.dictionary is None:  # nothing but nulls, in this file
        return {}
    if kind is Kind.NOMINAL:
        return dict.fromkeys(column.occurring().values(), row)
    return {tuple([value for value in column.dictionary if value is not None]): row}


def _in_order(name: str, dictionaries: list[tuple[Category, ...]]) -> tuple[Category, ...]:
    """The categories of several dictionaries as one, in which each keeps its order."""
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
