"""Data frames of any library and sparse matrices, read into raw columns; `read_features` takes any X."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.reading.columns import (
    Column,
    check_arrow,
    decimals_as_floats,
    loses_digits,
    unusable_column_error,
)
from hornbeam.data.reading.raw_columns import (
    RawColumns,
    as_array,
    check_shape,
    is_named_rows,
    missing_columns_error,
    read_named_rows,
)
from hornbeam.data.schema import Schema, generated_names
from hornbeam.errors import DataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

_MOST_BYTES = 2**32  # of a sparse matrix as dense data


def read_features(
    X: Any,
    names: Sequence[str] | None,
    schema: Schema | None = None,
    needed: Collection[str] | None = None,
) -> RawColumns:
    """Read X from any container.

    `names` are used in messages about arrays. With a `schema`, its columns alone are read from dicts, and
    from a frame that has all of them and others; dicts must have the `needed` names, by default all of the
    schema.
    """
    if is_named_rows(X):
        return read_named_rows(X, schema, needed)
    if isinstance(X, (np.ndarray, list, tuple)):
        return RawColumns.read(X, names)
    if is_sparse(X):
        return RawColumns.read(to_dense(X), names)
    frame = _as_frame(X)
    if frame is not None:
        return _read_frame(frame if schema is None else _without_extras(frame, schema.names))
    if hasattr(X, "__array__"):
        return RawColumns.read(X, names)
    raise DataError(
        f"X is a {type(X).__name__}; expected a 2-D array, a list of rows or a data frame "
        "(pandas, polars, pyarrow or another with the Arrow interface). Convert it to one of these."
    )


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy, or has the same methods."""
    return hasattr(X, "nnz") and hasattr(X, "toarray")


def to_dense(X: Any) -> Any:
    """Convert a sparse matrix to a dense array of at most 4 GiB; return anything else unchanged."""
    if not is_sparse(X):
        return X
    n_bytes = 8 * prod(X.shape)
    if n_bytes > _MOST_BYTES:
        raise DataError(
            f"X is a sparse matrix of shape {X.shape}, which takes {n_bytes / 2**30:.1f} GiB as dense data; expected "
            f"at most {_MOST_BYTES / 2**30:.0f} GiB. Pass categories as columns without one-hot encoding, select fewer "
            "columns, or pass X.toarray() if it fits memory."
        )
    return (X.astype(np.float64) if X.dtype.kind in "fiu" else X).toarray()


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Take some rows of X, in the given order, in the same type of container; a list of rows stays a list."""
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows.tolist()]
    if is_sparse(X):
        return X.tocsr()[rows]
    frame = _frame_of(X)
    return as_array(X)[rows] if frame is None else frame[rows].to_native()


def recombine_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Build new rows from the values of X, in the same type of container.

    `rows`, of shape (n, n_features), has the row of X to take each value from.
    """
    frame = _frame_of(X)
    if frame is None:
        return as_array(X)[rows, np.arange(rows.shape[1])]
    columns = [frame.get_column(name)[rows[:, at]] for at, name in enumerate(frame.columns)]
    return frame[rows[:, 0]].with_columns(*columns).to_native()


def select_columns(X: Any, names: Sequence[str], needed: Collection[str]) -> Any:
    """Select the columns of a frame by name, in this order; containers without names are returned unchanged.

    Raises a `SchemaError` with the names of all `needed` columns that are absent; others are filled with
    missing values.
    """
    frame = _frame_of(X)
    if frame is None or not any(isinstance(label, str) for label in frame.columns):
        if not isinstance(X, list | tuple | dict) and len(getattr(X, "shape", ())) != 2:
            raise DataError(
                f"X is a {type(X).__name__}; expected a data frame, or an array of two dimensions."
            )
        return X
    import narwhals.stable.v2 as nw

    found = set(frame.columns)
    absent = [name for name in names if name not in found]
    if tested := [name for name in absent if name in needed]:
        raise missing_columns_error(tested)
    empty = [nw.lit(None, dtype=nw.Float64).alias(name) for name in absent]
    return frame.with_columns(*empty).select(names).to_native()


def drop_extra_columns(X: Any, names: Sequence[str]) -> Any:
    """Drop the other columns of a frame that has all of these and more; anything else is returned unchanged."""
    frame = _frame_of(X)
    return X if frame is None else _without_extras(frame, names).to_native()


def take_column(X: Any, name: str, role: str) -> tuple[Any, NDArray[Any]]:
    """Return the frame without one column, and the values of that column.

    Raises a `ParameterError` if X is not a frame or has no such column; `role` is the parameter that names
    it.
    """
    frame = _frame_of(X)
    if frame is None or name not in frame.columns:
        found = "is no data frame" if frame is None else "has no such column"
        raise ParameterError(
            f"{role}={name!r} is the name of a column, and X {found}; expected a data frame that has it, or one value "
            f"per row. Pass {role} as an array."
        )
    return frame.drop(name).to_native(), frame.get_column(name).to_numpy()


def _lazy_frame_error(X: Any) -> DataError:
    """Return the error for a frame whose rows are not in memory."""
    library = type(X).__module__.partition(".")[0]
    if library in ("dask", "dask_expr"):
        advice = (
            "Call compute() first, or write it with to_parquet and pass the files; fit of a tree or a forest takes it "
            "with a client (distributed.Client)"
        )
    else:
        advice = "Call collect() first"
    return DataError(f"X is a lazy frame of {library}; expected rows in memory. {advice}.")


def _without_extras(frame: "nw.DataFrame[Any]", names: Sequence[str]) -> "nw.DataFrame[Any]":
    return frame.select(names) if set(names) < set(frame.columns) else frame


def _frame_of(X: Any) -> "nw.DataFrame[Any] | None":
    """Convert X to a narwhals frame; None for arrays, lists and dicts."""
    return None if isinstance(X, (np.ndarray, list, tuple, dict)) else _as_frame(X)


def _as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """Convert X to a narwhals frame; None if it is not a data frame."""
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"X has two columns of the same name. {error}. Rename one of them.") from error
    if isinstance(frame, nw.Series):
        raise DataError(
            "Expected 2D array, got 1D array instead: X is a Series. Pass one row as a frame, such as frame.iloc[[0]], "
            "or as a dict, X.to_dict(); pass one column as X.to_frame()."
        )
    if isinstance(frame, nw.DataFrame):
        return frame
    if not hasattr(X, "__arrow_c_stream__"):  # relations of DuckDB and tables of ibis have it
        if isinstance(frame, nw.LazyFrame):
            raise _lazy_frame_error(X)
        return None
    for backend in ("pyarrow", "polars"):
        try:
            return nw.from_arrow(X, backend=backend)
        except ImportError:
            continue
    raise MissingExtraError(
        f"Reading a {type(X).__name__} needs pyarrow or polars. Install one: pip install pyarrow."
    )


def _read_frame(frame: "nw.DataFrame[Any]") -> RawColumns:
    shape = check_shape(frame)
    labels = frame.columns
    types = {type(label).__name__ for label in labels}
    if "str" in types and len(types) > 1:
        raise DataError(
            f"The names of the columns are of the types {sorted(types)}; expected strings. Rename them."
        )
    names = tuple(labels) if types == {"str"} else None
    pairs = zip(labels, names or generated_names(shape[1]), strict=True)
    columns = [_read_series(frame.get_column(label), name) for label, name in pairs]
    return RawColumns.of_columns(shape, columns, names)


def _read_series(series: "nw.Series[Any]", name: str) -> Column:
    """Read one column of a frame by its type."""
    import narwhals.stable.v2 as nw

    arrow = _arrow_array(series)
    # narwhals refuses decimals of a negative scale
    if arrow is not None and str(arrow.type).startswith("decimal"):
        return Column(decimals_as_floats(arrow))
    dtype = series.dtype
    if series.implementation.is_pandas_like() and series.to_native().dtype == object:
        return Column.read(series.to_numpy(), name)
    if dtype.is_numeric():
        if dtype.is_decimal():
            series = series.cast(nw.String)  # parsed exactly; a cast to floats is not
        wide = dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128)  # NumPy has no such types
        values = (series.cast(nw.Float64) if wide else series).to_numpy()
        column = Column.read(values, name)
        if values.dtype.kind in "iu" or dtype not in (nw.Int64, nw.UInt64):
            return column
        # Integers with nulls became floats, so the rounding is seen only without the nulls.
        return replace(column, rounded=loses_digits(series.drop_nulls().to_numpy()))
    if dtype == nw.Boolean:
        return Column(series.cast(nw.Int8).fill_null(-1).to_numpy(), (False, True))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _read_categories(series, name)
    if dtype in (nw.Object, nw.Unknown):
        return Column.read(series.to_numpy(), name)
    raise unusable_column_error(name, dtype, temporal=dtype.is_temporal())


def _arrow_array(series: "nw.Series[Any]") -> Any:
    """Return the Arrow array of a series of pyarrow, or of pandas that has one; None for others."""
    native: Any = series.to_native()
    if series.implementation.is_pyarrow():
        return native
    return native.array.__arrow_array__() if hasattr(native.dtype, "pyarrow_dtype") else None


def _read_categories(series: "nw.Series[Any]", name: str) -> Column:
    """Read text or categories as codes into a dictionary.

    narwhals has no function for codes yet, so each library has its own branch.
    """
    import narwhals.stable.v2 as nw

    native: Any = series.to_native()
    arrow = _arrow_array(series)  # pandas fails on nulls in Arrow dictionaries
    if arrow is not None:
        check_arrow(arrow, f"Column {name!r}")
        array = arrow.combine_chunks()
        array = array if hasattr(array, "dictionary") else array.dictionary_encode()
        codes = array.indices.cast("int32").fill_null(-1).to_numpy()
        return Column.categorical(codes, array.dictionary.to_pylist(), name, ordered=array.type.ordered)
    if series.implementation.is_polars():
        series = series.cast(nw.Categorical) if series.dtype == nw.String else series
        physical = nw.from_native(series.to_native().to_physical(), series_only=True)
        codes = physical.cast(nw.Int32).fill_null(-1).to_numpy()
        row_of = np.zeros(int(codes.max()) + 2, dtype=np.int64)
        row_of[codes] = np.arange(len(codes))  # a row with each code; row 0 for codes that do not occur
        return Column.categorical(codes, series[row_of[:-1]].to_list(), name)
    categories = native.astype("category").cat
    codes = categories.codes.to_numpy()
    return Column.categorical(codes, categories.categories.tolist(), name, ordered=categories.ordered)
