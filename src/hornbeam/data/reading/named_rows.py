"""Rows as dicts from column names to values."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from hornbeam.data.reading.columns import Column
from hornbeam.data.reading.raw_columns import RawColumns
from hornbeam.data.schema import Schema
from hornbeam.errors import ContainerError, SchemaError

__all__ = ["is_named_rows", "missing_columns_error", "read_named_rows"]


def is_named_rows(X: Any) -> bool:
    """Whether X is a dict, or a list of dicts."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(row, Mapping) for row in X)
    return isinstance(X, Mapping) and not hasattr(X, "toarray")  # some sparse matrices are dicts


def read_named_rows(X: Any, schema: Schema | None, needed: Collection[str] | None = None) -> RawColumns:
    """Read a dict as one row, or a list of dicts as rows; keys that are not in the schema are ignored.

    None is a missing value, and so is an absent name that is not `needed`; by default all names of the schema
    are.
    """
    rows: Sequence[Mapping[str, Any]] = [X] if isinstance(X, Mapping) else X
    if schema is None or (isinstance(X, Mapping) and any(map(_is_column, X.values()))):
        raise ContainerError(
            f"X is a {'dict' if isinstance(X, Mapping) else 'list of dicts'}; expected a 2-D array, a list of rows "
            "or a data frame. Convert it to a frame: pandas.DataFrame(X). A fitted model also takes one row as a "
            "dict of single values, or a list of such dicts."
        )
    names = schema.names
    for name in names if needed is None else needed:
        at = next((at for at, row in enumerate(rows) if name not in row), None)
        if at is not None:
            raise missing_columns_error(
                [other for other in names if other in (needed or names) and other not in rows[at]], at
            )
    columns = [_column([row.get(name) for row in rows], name) for name in names]
    return RawColumns((len(rows), len(names)), None, tuple(columns), names)


def missing_columns_error(names: Sequence[str], row: int | None = None) -> SchemaError:
    """Return the error for rows without columns that the model tests."""
    one = len(names) == 1
    where = "" if row is None else f" (first in row {row})"
    return SchemaError(
        f"X lacks {len(names)} column{'s' * (not one)} that the model tests: {', '.join(map(repr, names))}{where}. "
        f"Add {'it' if one else 'them'}, with None where a value is missing."
    )


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def _column(values: list[Any], name: str) -> Column:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return Column.read(objects, name)
