"""Input conventions of another library: how it reads rows, and how it rounds them to float32."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.reading.columns import UNSEEN, Column
from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.typing import Floats

OTHER_CATEGORY = "(other)"
# Half a step above the largest float32: values from here on round to infinity.
_OVERFLOW = 2.0**128 - 2.0**103
"""Last category of a feature whose library sends unseen values to a child: it stands for all of them."""


@dataclass(frozen=True, slots=True)
class InputConventions:
    """Features of a library, and the rules of reading that differ from those of `Table`.

    An unseen category stops a row at the first split on it, but most libraries send the row to a child. So a feature
    of such a library has one more category, `OTHER_CATEGORY`, and every unseen value is read as this category.

    Categories of the nominal features `integer_coded` are integers, whatever the type of the column; `to_integer` is
    how a float64 column of them is rounded ("floor": as float32). Values of the numeric features `zero_is_missing` from
    ``-zero`` to ``zero`` are missing.
    """

    schema: Schema
    integer_coded: frozenset[int] = frozenset()
    to_integer: Literal["trunc", "floor"] = "trunc"
    zero_is_missing: frozenset[int] = frozenset()
    zero: float = 0.0

    def read(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, needed: Collection[str] | None = None
    ) -> Table:
        """Read rows, and labels and weights if given, like `Table.read`, with the rules of the library.

        If the schema has no classes, the classes are those of `y`.
        """
        schema, labels = self.schema, y
        if y is not None:
            labels = y if isinstance(y, Labels) else read_labels(y)
            schema = replace(schema, classes=schema.classes or tuple(labels.classes.tolist()))
        features = tuple(
            Feature(feature.name) if i in self.integer_coded else feature
            for i, feature in enumerate(schema.features)
        )
        read_schema = replace(schema, features=features)
        table = Table.read(X, labels, sample_weight=sample_weight, schema=read_schema, needed=needed)
        return self.convert(table)

    def convert(self, table: Table) -> Table:
        """Apply the rules of the library to rows that were read into a table; a second time changes nothing."""
        schema = replace(self.schema, classes=self.schema.classes or table.schema.classes)
        if schema.is_numeric and not self.zero_is_missing:
            return table
        columns = tuple(map(self._read_column, range(schema.n_features), table.columns))
        return replace(table, schema=schema, columns=columns, matrix=None)

    def with_unseen(self, table: Table) -> Table:
        """Return a table that was read by `read`, with unseen values instead of `OTHER_CATEGORY`."""
        columns = tuple(
            np.where(column == len(feature.categories) - 1, np.int32(UNSEEN), column)
            if feature.categories[-1:] == (OTHER_CATEGORY,)
            else column
            for feature, column in zip(self.schema.features, table.columns, strict=True)
        )
        return replace(table, columns=columns, matrix=None)

    def _read_column(self, feature_index: int, column: NDArray[Any]) -> NDArray[Any]:
        feature = self.schema.features[feature_index]
        if not feature.is_nominal:
            is_zero = feature_index in self.zero_is_missing
            return np.where(np.abs(column) <= self.zero, np.nan, column) if is_zero else column
        if feature_index in self.integer_coded and column.dtype.kind == "f":
            whole = np.trunc(column) if self.to_integer == "trunc" else np.floor(column.astype(np.float32))
            column = Column(whole.astype(np.float64)).encode(feature)
        if feature.categories[-1:] == (OTHER_CATEGORY,):
            column = np.where(column == UNSEEN, np.int32(len(feature.categories) - 1), column)
        return column


def at_most(threshold: Floats) -> Floats:
    """Return thresholds ``t`` such that ``x <= t`` if and only if ``float32(x) <= threshold``, for every float64 x.

    The float32 after 0.5 is about 0.50000006; the value half-way between them still rounds to 0.5.
    """
    with np.errstate(over="ignore"):  # values above the largest float32 become infinite
        nearest = threshold.astype(np.float32)
        highest = np.where(nearest > threshold, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return _highest_rounded_to(highest)


def below(threshold: NDArray[np.float32]) -> Floats:
    """Return thresholds ``t`` such that ``x <= t`` if and only if ``float32(x) < threshold``, for every float64 x."""
    with np.errstate(over="ignore"):
        return _highest_rounded_to(np.nextafter(threshold, np.float32(-np.inf)))


def _highest_rounded_to(value: NDArray[np.float32]) -> Floats:
    """Return the largest float64 that rounds to each float32: half-way to the next one, or just below.

    A value half-way rounds to the neighbour whose last bit is 0.
    """
    with np.errstate(over="ignore"):
        following = np.nextafter(value, np.float32(np.inf))
    low = np.maximum(value.astype(np.float64), -(2.0**128))
    high = np.minimum(following.astype(np.float64), 2.0**128)
    middle = np.clip((low + high) / 2, -_OVERFLOW, _OVERFLOW)
    even = value.view(np.uint32) & 1 == 0
    highest: Floats = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(value == np.inf, np.inf, highest)
