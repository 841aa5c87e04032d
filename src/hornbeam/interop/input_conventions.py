"""Rows as another library reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.reading.columns import UNSEEN, Column
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.typing import Floats

__all__ = ["OTHER_CATEGORY", "InputConventions"]

OTHER_CATEGORY = "(other)"
"""The last category of a feature whose library sends unseen values somewhere: it stands for all of them."""


@dataclass(frozen=True, slots=True)
class InputConventions:
    """How a library reads rows: what its columns mean, and which of its manners differ from a `Table`'s.

    A table stops a row at the first test that has never seen its category, where most libraries send it to
    one side. So a feature of such a library has one category more, `OTHER_CATEGORY`, and every value that is not
    among its categories is read as that.

    Parameters
    ----------
    schema : Schema
        The features; the classes, or none if the model does not know them.
    numbered : frozenset of int
        Nominal features whose categories are whole numbers, however the column holds them.
    number : callable
        What cuts a float64 column of these to whole numbers.
    zero_is_missing : frozenset of int
        Numeric features of which a value between ``-zero`` and ``zero`` is missing.
    zero : float
        The largest number that is zero.

    Examples
    --------
    >>> schema = Schema((Feature("colour", Kind.NOMINAL, (0, 1, OTHER_CATEGORY)),))
    >>> InputConventions(schema, numbered=frozenset({0})).read([[1.0], [7.0], [1.9], [np.nan]]).columns
    (array([ 1,  2,  1, -1], dtype=int32),)
    """

    schema: Schema
    numbered: frozenset[int] = frozenset()
    number: Callable[[Floats], Floats] = np.trunc
    zero_is_missing: frozenset[int] = frozenset()
    zero: float = 0.0

    def read(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, needed: Collection[str] | None = None
    ) -> Table:
        """Read rows, and labels and weights if there are any, as `Table.read` does, with the other library's rules.

        Without classes in the schema, those of `y` are taken.
        """
        schema, labels = self.schema, y
        if y is not None:
            labels = y if isinstance(y, Labels) else read_labels(y)
            schema = replace(schema, classes=schema.classes or tuple(labels.classes.tolist()))
        features = tuple(
            Feature(feature.name) if i in self.numbered else feature
            for i, feature in enumerate(schema.features)
        )
        known = replace(schema, features=features)
        table = Table.read(X, labels, sample_weight=sample_weight, schema=known, needed=needed)
        if schema.is_numeric and not self.zero_is_missing:
            return table
        columns = tuple(map(self._read_column, range(schema.n_features), table.columns))
        return replace(table, schema=schema, columns=columns, matrix=None)

    def _read_column(self, at: int, column: NDArray[Any]) -> NDArray[Any]:
        feature = self.schema.features[at]
        if feature.kind is not Kind.NOMINAL:
            is_zero = at in self.zero_is_missing
            return np.where(np.abs(column) <= self.zero, np.nan, column) if is_zero else column
        if at in self.numbered:
            column = Column(self.number(column)).encode(feature)
        if feature.categories[-1:] == (OTHER_CATEGORY,):
            column = np.where(column == UNSEEN, np.int32(len(feature.categories) - 1), column)
        return column
