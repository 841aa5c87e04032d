"""The raw columns of X: one float matrix, or single columns, read from an array, a list of rows, or dicts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.reading.columns import Column, loses_digits, unusable_column_error
from hornbeam.data.schema import Schema, generated_names, numeric_features
from hornbeam.errors import DataError, SchemaError
from hornbeam.typing import Bools, Floats, Label

RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


@dataclass(frozen=True, slots=True, eq=False)
class RawColumns:
    """X before a schema is applied: a float64 matrix if X is numeric, else one `Column` per feature."""

    shape: tuple[int, int]
    matrix: Floats | None = None
    columns: tuple[Column, ...] = ()
    names: tuple[str, ...] | None = None  # None: X has no names
    rounded: tuple[int, ...] = ()  # columns with whole numbers that were rounded

    @classmethod
    def read(cls, X: Any, names: Sequence[str] | None = None) -> "RawColumns":
        """Read a 2-D array or a list of rows; `names` are for messages only."""
        array = X if isinstance(X, np.ndarray) else as_array(X)
        if array.dtype.names is not None:
            raise DataError(
                f"X is a structured array with the fields {array.dtype.names}; expected a plain 2-D array or "
                "a data frame. Pass pandas.DataFrame(X)."
            )
        shape = check_shape(array)
        kind = array.dtype.kind
        if isinstance(array, np.ma.MaskedArray):
            array = _filled(array)
        if kind in "fiu":
            rounded: tuple[int, ...] = ()
            if loses_digits(array):
                rounded = tuple([at for at in range(shape[1]) if loses_digits(array[:, at])])
            return cls(shape, np.require(array, np.float64, "A"), rounded=rounded)
        if kind == "c":
            raise unusable_column_error("X", array.dtype, complex_=True)
        if names is None or len(names) != shape[1]:
            names = generated_names(shape[1])
        columns = [Column.read(column, name) for column, name in zip(np.asarray(array).T, names, strict=True)]
        return cls.of_columns(shape, columns)

    @classmethod
    def of_columns(
        cls, shape: tuple[int, int], columns: Sequence[Column], names: tuple[str, ...] | None = None
    ) -> "RawColumns":
        """Collect columns that were read one by one."""
        rounded = tuple([at for at, column in enumerate(columns) if column.rounded])
        return cls(shape, None, tuple(columns), names, rounded)

    def take(self, rows: Bools) -> "RawColumns":
        """Return some rows."""
        shape = (int(np.count_nonzero(rows)), self.shape[1])
        matrix = None if self.matrix is None else self.matrix[rows]
        return replace(self, shape=shape, matrix=matrix, columns=tuple([c.take(rows) for c in self.columns]))

    def with_names(self, names: Sequence[str]) -> "RawColumns":
        """Return the same columns under other names."""
        if len(names) != self.shape[1]:
            raise DataError(
                f"feature_names has {len(names)} names for {self.shape[1]} columns. Pass one name per column."
            )
        return replace(self, names=tuple(np.asarray(names, dtype=object).tolist()))

    def schema(self, classes: tuple[Label, ...]) -> Schema:
        """Infer the schema of the columns."""
        names = self.names or generated_names(self.shape[1])
        if self.matrix is not None:
            return Schema(numeric_features(names), classes)
        features = [column.feature(name) for column, name in zip(self.columns, names, strict=True)]
        return Schema(tuple(features), classes)

    def encode(self, schema: Schema) -> tuple[tuple[NDArray[Any], ...], Floats | None]:
        """Return the columns of a `Table`, and the matrix they are views of, if there is one."""
        if self.matrix is None:
            pairs = zip(self.columns, schema.features, strict=True)
            return tuple([column.encode(feature) for column, feature in pairs]), None
        columns = tuple(self.matrix.T)
        if schema.is_numeric:
            return columns, self.matrix
        return tuple([Column(c).encode(f) for c, f in zip(columns, schema.features, strict=True)]), None

    def check(self, schema: Schema) -> None:
        """Raise a `SchemaError` if the number or the names of the columns differ from the schema."""
        if self.names is not None and not schema.has_generated_names and self.names != schema.names:
            raise renamed_columns_error(self.names, schema.names)
        if self.shape[1] != schema.n_features:
            raise SchemaError(
                f"X has {self.shape[1]} features, but Tree is expecting {schema.n_features} features as "
                f"input: {_shortened(schema.names)}. Pass the columns of the training data."
            )


def check_shape(X: Any) -> tuple[int, int]:
    """Return the shape of X; raise a `DataError` unless it has two dimensions, and at least one row and one column.

    The messages are those of scikit-learn, which its estimator checks expect.
    """
    shape = tuple(X.shape)
    if len(shape) < 2:
        found = "1D" if shape else "scalar"
        raise DataError(f"Expected 2D array, got {found} array instead: its shape is {shape}. {RESHAPE}")
    if len(shape) > 2:
        raise DataError(f"Found array with dim {len(shape)}, while dim <= 2 is required. {RESHAPE}")
    for size, thing in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise DataError(
                f"Found array with 0 {thing}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return shape


def renamed_columns_error(found: Sequence[str], expected: Sequence[str]) -> SchemaError:
    """Return the error for columns whose names or order changed, in the words of scikit-learn."""
    lines = ["The feature names should match those that were passed during fit."]
    unexpected, missing = sorted(set(found) - set(expected)), sorted(set(expected) - set(found))
    if unexpected:
        lines += ["Feature names unseen at fit time:", *_bullet_list(unexpected)]
    if missing:
        lines += ["Feature names seen at fit time, yet now missing:", *_bullet_list(missing)]
    if not unexpected and not missing:
        lines += ["Feature names must be in the same order as they were in fit."]
    advice = "Pass X[model.feature_names_in_], or model.select_columns(X)."
    if missing:
        advice = "Rename or add the columns; model.select_columns(X) fills those that the model does not use."
    return SchemaError("\n".join([*lines, advice]))


def _bullet_list(names: Sequence[str]) -> list[str]:
    return [f"- {name}" for name in names[:5]] + ["- ..."] * (len(names) > 5)


def as_array(X: Any) -> NDArray[Any]:
    """Convert rows to an array in which every value keeps its type."""
    if not isinstance(X, (list, tuple)):
        return np.asarray(X)
    try:
        # As objects, so that each column keeps its type: NumPy would convert numbers among strings to text.
        array = np.array(X, dtype=object)
    except ValueError as error:
        raise DataError(f"X is not a table: {error}. Give every row the same number of values.") from error
    if array.ndim == 1 and any(isinstance(row, (list, tuple, np.ndarray)) for row in X):
        raise DataError("The rows of X differ in length. Give every row the same number of values.")
    return array


def _filled(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Replace masked values by missing ones."""
    filled = np.asarray(array.data).astype(np.float64 if array.dtype.kind in "fiu" else object)
    filled[np.ma.getmaskarray(array)] = None
    return filled


def _shortened(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f"[{shown}, ... {len(names) - 5} more]" if len(names) > 5 else f"[{shown}]"


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
        raise DataError(
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
