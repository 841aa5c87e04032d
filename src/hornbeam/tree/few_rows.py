"""Predictions of a few rows without a table, for services.

Reading a data frame of one row takes a hundred times as long as its prediction. Here values of the usual types are
converted one by one. Anything else, such as a wrong type, is left to `hornbeam.data.table.Table.read`, which knows all
forms and has the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hornbeam.data.reading.columns import EXACT, UNSEEN
from hornbeam.data.schema import Schema
from hornbeam.tree.route import row_predictor
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

type Row = tuple[float, ...]

_MOST_ROWS = 8
_NAN = float("nan")
_FLOATS = {float}


class FewRows:
    """Predictions of a few rows of a tree."""

    __slots__ = ("_is_numeric", "_n_features", "_reader", "predict_row")

    predict_row: Callable[[Any], tuple[float, ...]]  # of a row that was read

    def __init__(self, tree: Tree) -> None:
        schema = tree.schema
        self._reader = RowReader(schema, [schema.names[at] for at in tree.features_used])
        self._n_features, self._is_numeric = schema.n_features, schema.is_numeric
        self.predict_row = row_predictor(tree)

    def predict(self, X: Any, *, named: bool) -> Floats | None:
        """Predict rows: class probabilities or the mean."""
        rows = self.read(X, named=named)
        return None if rows is None else np.array([self.predict_row(row) for row in rows])

    def read(self, X: Any, *, named: bool) -> Sequence[Row] | Floats | None:
        """Read rows; None for those of an unusual form or type.

        `named` says whether the model was fitted to columns with names.
        """
        if type(X) is np.ndarray:
            matrix: Floats | None = X if not named and self._fits(X) else None
            return matrix
        if type(X) is dict:
            return self._reader.named([X])
        if type(X) is not list:
            return self._reader.frame(X) if named else None
        if not 0 < len(X) <= _MOST_ROWS:
            return None
        if type(X[0]) is dict:
            return self._reader.named(X)
        return None if named else self._reader.values(X)

    def _fits(self, X: Any) -> bool:
        """Whether X is a float64 matrix of a few rows, with a number of each feature."""
        return (
            X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == self._n_features
            and 0 < len(X) <= _MOST_ROWS
            and X.flags.aligned
            and self._is_numeric
        )


def few_rows_of(tree: Tree) -> FewRows:
    """Return the predictions of few rows of a tree, prepared once."""
    if tree._few_rows is None:
        object.__setattr__(tree, "_few_rows", FewRows(tree))
    few_rows: FewRows = tree._few_rows
    return few_rows


class RowReader:
    """Reader of rows by a schema: numbers, positions of ordinal values, codes of nominal ones, NaN where missing.

    `needed` are the features that a dict must have. A method returns None for what it cannot read.
    """

    __slots__ = ("_codes", "_is_numeric", "_names", "_needed", "_types", "_unseen")

    def __init__(self, schema: Schema, needed: Sequence[str]) -> None:
        self._names = list(schema.names)
        self._needed = tuple(needed)
        self._is_numeric = schema.is_numeric
        self._codes: list[dict[Any, float] | None] = []
        self._types: list[type] = []
        self._unseen: list[float] = []
        for feature in schema.features:
            types = {type(category) for category in feature.categories}
            codes = {category: float(at) for at, category in enumerate(feature.categories)}
            self._codes.append(None if feature.is_numeric else codes)
            self._types.append(types.pop() if len(types) == 1 else type(None))
            self._unseen.append(float(UNSEEN) if feature.is_nominal else _NAN)

    def named(self, rows: Sequence[Any]) -> list[Row] | None:
        """Read dicts: values by name."""
        found = []
        for row in rows:
            if type(row) is not dict or not all(map(row.__contains__, self._needed)):
                return None
            found.append(list(map(row.get, self._names)))
        return self.values(found)

    def frame(self, X: Any) -> list[Row] | None:
        """Read a frame of pandas or polars that has the columns of the schema, in order."""
        read = _FRAMES.get(type(X).__module__.partition(".")[0])
        if read is None or type(X).__name__ != "DataFrame" or not 0 < len(X) <= _MOST_ROWS:
            return None
        if list(X.columns) != self._names:
            return None
        return self.values(read(X))

    def values(self, rows: Sequence[Sequence[Any]]) -> list[Row] | None:
        """Read rows of values in the order of the features."""
        found = []
        for row in rows:
            read = self._row(row)
            if read is None:
                return None
            found.append(read)
        return found

    def _row(self, row: Sequence[Any]) -> Row | None:
        if type(row) not in (list, tuple) or len(row) != len(self._names):
            return None
        if self._is_numeric and set(map(type, row)) == _FLOATS:
            return tuple(row)
        numbers: list[float] = []
        for value, codes, category, unseen in zip(row, self._codes, self._types, self._unseen, strict=True):
            kind = type(value)
            if value is None:
                numbers.append(_NAN)
            elif codes is None:
                if kind is not float and (kind is not int or not -EXACT <= value <= EXACT):
                    return None
                numbers.append(value)
            elif kind is category and (kind is not int or -EXACT <= value <= EXACT):
                numbers.append(codes.get(value, unseen))
            elif kind is float and value != value:
                numbers.append(_NAN)
            else:
                return None
        return tuple(numbers)


#: Rows of Python's values from frames, by the library.
_FRAMES: Mapping[str, Callable[[Any], list[Any]]] = {
    "pandas": lambda X: X.to_numpy().tolist(),
    "polars": lambda X: X.rows(),
}
