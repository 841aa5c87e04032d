"""The column that divides test rows into groups: a feature, or a value for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.tree.words import label_text, number_text
from hornbeam.typing import Counts

_MOST_GROUPS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Cells of test rows divided into groups.

    `name` is what they are divided by, `labels` are the groups, `code` is the group of each cell.
    """

    name: str
    labels: tuple[str, ...]
    code: NDArray[np.intp]


def row_values(values: Any, name: str, n_rows: int | None, instead: str) -> NDArray[Any]:
    """Return an array of one value per test row; an error that asks for `instead` if `n_rows` is None, as for files."""
    if n_rows is None:
        raise ParameterError(
            f"{name} is a value for each row, and X is files or a Source; expected {instead}."
        )
    found = np.asarray(values)
    if found.shape != (n_rows,):
        raise DataError(
            f"{name} of shape {found.shape} beside {n_rows} test rows; expected one value per row."
        )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class GroupColumn:
    """What test rows are divided by.

    `feature` is the position of a feature; None for a value of each row, with `codes` as positions in `words`.
    """

    name: str
    feature: int | None = None
    words: tuple[str, ...] = ()
    codes: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, groups: Any, schema: Schema, n_rows: int | None) -> Self:
        """Read groups: the name of a feature, or one value per test row; None rows are those of files."""
        if isinstance(groups, str):
            if groups not in schema.names:
                raise ParameterError(
                    f"groups={groups!r} is not a feature of the model; expected one of them, or a value for each test "
                    f"row in memory. Pass the column itself: groups=X[{groups!r}]."
                )
            return cls(groups, schema.names.index(groups))
        values = row_values(groups, "groups", n_rows, "the name of a feature")
        words, codes = np.unique([_word(value) for value in values.tolist()], return_inverse=True)
        _check_number(len(words))
        return cls(str(getattr(groups, "name", None) or "group"), None, tuple(words.tolist()), codes)

    def keys(self, table: Table, begin: int) -> Counts:
        """Return a whole number for the group of each row of a table, which begins at a row of all."""
        if self.feature is None:
            assert self.codes is not None
            return self.codes[begin : begin + table.n_rows].astype(np.int64)
        column = table.columns[self.feature]
        if column.dtype.kind == "f":
            column = np.where(np.isnan(column), np.nan, column + 0.0).view(np.int64)
        keys = column.astype(np.int64)
        _check_number(len(np.unique(keys)))
        return keys

    def named(self, keys: Counts, schema: Schema) -> Groups:
        """Name the groups of some keys."""
        values, place = np.unique(keys, return_inverse=True)
        words = [self._word_of(value, schema) for value in values]
        labels, code = np.unique(words, return_inverse=True)
        _check_number(len(labels))
        return Groups(self.name, tuple(labels.tolist()), code[place])

    def _word_of(self, key: np.int64, schema: Schema) -> str:
        if self.feature is None:
            return self.words[int(key)]
        feature = schema.features[self.feature]
        if feature.is_numeric:
            return _word(float(key.view(np.float64)))
        code = int(key) if feature.is_nominal else float(key.view(np.float64))
        if code == -2:
            return "not in the training rows"
        return _word(feature.categories[int(code)] if code >= 0 else None)


def _check_number(n_groups: int) -> None:
    if n_groups > _MOST_GROUPS:
        raise ParameterError(
            f"groups has {n_groups:,} different values; expected {_MOST_GROUPS} at most. "
            "Put them into fewer groups first, ages into ranges for example."
        )


def _word(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, float):
        return number_text(value)
    return value if isinstance(value, str) else label_text(value)
