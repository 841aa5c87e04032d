"""Dask collections as rows: written as Parquet files for a fit, and predicted partition by partition on demand."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.files.scratch import WrittenRows, scratch_folder
from hornbeam.data.rows import is_collection
from hornbeam.data.schema import generated_names
from hornbeam.engines.dask_checks import explained
from hornbeam.errors import DataError, ParameterError

# ---- fits ----------------------------------------------------------------------------------------------


def write_collection(
    X: Any, y: Any, sample_weight: Any, groups: Any, client: Any, parent: Any
) -> WrittenRows:
    """Let Dask write one Parquet file per partition, to a temporary folder in `parent` that all workers see."""
    frame, names = _frame(X, y, sample_weight, groups)
    frame = frame.map_partitions(_check_columns, list(frame.columns), meta=frame._meta)
    with ExitStack() as stack:
        folder = stack.enter_context(_shared_folder(parent, client))
        rows = f"{folder}/rows"
        written = frame.to_parquet(rows, write_index=False, name_function=_file_name, compute=False)
        with explained(client):
            client.compute(written, retries=3).result()
        return WrittenRows(rows, *names, named=not _is_array(X), folder=folder, stack=stack.pop_all())


def _is_array(X: Any) -> bool:
    """Whether a collection is an array, and not a data frame."""
    return hasattr(X, "map_blocks")


def _frame(X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Any, list[str | None]]:
    """Return one frame of all columns, and the names of the columns of target, weights and groups."""
    chunks = None
    if _is_array(X):
        from dask.dataframe import from_dask_array

        X = X.rechunk({1: -1})
        chunks = None if np.isnan(X.chunks[0]).any() else X.chunks[0]
        X = from_dask_array(X, columns=list(generated_names(X.shape[1])))
    names: list[str | None] = []
    for role, column in (("y", y), ("sample_weight", sample_weight), ("groups", groups)):
        name = column
        if column is not None and not isinstance(column, str):
            if chunks is not None and (_is_array(column) or not is_collection(column)):
                column = _chunked(column, chunks, role)
            elif not is_collection(column):
                raise ParameterError(
                    f"X is a dask collection, and {role} is a {type(column).__name__}; expected one too, or the "
                    "name of its column. Make it a dask Series or Array of the same partitions."
                )
            name = role
            while name in X.columns:
                name += "_"
            X = X.assign(**{name: column})
        names.append(name)
    return X, names


def _chunked(column: Any, chunks: Sequence[int], role: str) -> Any:
    """Return an array in memory, or one of Dask, as one of Dask in the chunks of X."""
    from dask.array import from_array

    if not is_collection(column):
        column = from_array(np.asarray(column), chunks=-1)  # Dask cannot choose chunks of objects
    if column.shape != (sum(chunks),):
        raise DataError(
            f"{role} has the shape {column.shape}; expected ({sum(chunks)},). Pass one value per row."
        )
    return column.rechunk((chunks,))


def _check_columns(part: Any, names: list[str]) -> Any:
    """Return the partition with the columns of its frame in their order; raise `DataError` if it lacks some."""
    lacking = [name for name in names if name not in part.columns]
    if lacking:
        raise DataError(
            f"A partition of X lacks {len(lacking)} of the {len(names)} columns of the frame: "
            f"{', '.join(map(repr, lacking[:5]))}. Expected all of them in every partition, as in X.columns. Look at "
            "what made the partitions, with map_partitions or from_delayed."
        )
    return part[names]


def _file_name(partition: int) -> str:
    """Return a name that sorts by the number of the partition."""
    return f"{partition:08d}.parquet"


@contextmanager
def _shared_folder(parent: Any, client: Any) -> Iterator[str]:
    """Create a temporary folder, and check that all workers see it; the parent is created if it does not exist."""
    if parent:
        Path(parent).mkdir(parents=True, exist_ok=True)
    with scratch_folder(parent) as folder:
        with explained(client):
            seen = client.run(os.path.isdir, folder, on_error="return")
        blind = [
            worker for worker, sees in seen.items() if sees is False
        ]  # not an error of a worker that just died
        if blind:
            raise ParameterError(
                f"{len(blind)} workers, such as {blind[0]}, do not see the folder {folder}; expected one that all see "
                "under the same name. Pass engine=DaskEngine(client, folder='/a/shared/folder')."
            )
        yield folder


# ---- predictions ---------------------------------------------------------------------------------------


def compute_columns(X: Any, predicted: Any, **columns: Any) -> tuple[Any, ...]:
    """Compute predictions of a collection, and columns of the same rows: collections, arrays or names."""
    for role, column in columns.items():
        if isinstance(column, str):
            if column not in getattr(X, "columns", ()):
                raise DataError(
                    f"{role} is {column!r}; expected a column of X, which is a dask collection. Pass its name, or "
                    "the values of each row."
                )
            columns[role] = X[column]
    return tuple([one.compute() if is_collection(one) else one for one in (predicted, *columns.values())])


class _Call(NamedTuple):
    """A call of a prediction method that is the same for every partition; `empty` is its result for no rows."""

    model: Any
    method: str
    args: Sequence[Any]
    options: Mapping[str, Any]
    empty: Any


def predict_collection(
    X: Any, model: Any, method: str, args: Sequence[Any], options: Mapping[str, Any], empty: Any
) -> Any:
    """Return the predictions of a collection as a dask Array; as a tuple of them if `empty` is a tuple.

    `empty` is the result of the method for no rows.
    """
    from dask import delayed

    call = delayed(_Call(model, method, args, options, empty), pure=False)
    if isinstance(empty, tuple):
        return tuple([_lazy(X, call, one, at) for at, one in enumerate(empty)])
    return _lazy(X, call, empty, None)


def _lazy(X: Any, call: Any, empty: NDArray[Any], at: int | None) -> Any:
    if not _is_array(X):
        return X.map_partitions(_predict_part, call, at, meta=empty)
    X = X.rechunk({1: -1})
    chunks = (X.chunks[0], *((size,) for size in empty.shape[1:]))
    return X.map_blocks(_predict_part, call, at, chunks=chunks, drop_axis=[1][empty.ndim - 1 :], meta=empty)


def _predict_part(rows: Any, call: _Call, at: int | None) -> Any:
    """Predict one partition, and return the entry `at` if the method returns a tuple."""
    found = call.empty
    if len(rows):
        found = getattr(call.model, call.method)(rows, *call.args, **call.options)
    return found if at is None else found[at]
