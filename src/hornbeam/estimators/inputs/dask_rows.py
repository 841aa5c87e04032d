"""Writing of dask collections as Parquet files, which the workers read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hornbeam.data.files.scratch import scratch_folder
from hornbeam.data.schema import generated_names
from hornbeam.engines.dask_checks import explained
from hornbeam.errors import DataError, ParameterError, import_extra

__all__ = ["is_array", "is_lazy", "shared_folder", "write_collection"]


def is_lazy(X: Any) -> bool:
    """Whether X is a dask collection."""
    import_extra("dask", "dask", "A fit on a Dask cluster")
    from dask.base import is_dask_collection

    return bool(is_dask_collection(X))


def is_array(X: Any) -> bool:
    """Whether a dask collection is an array, and not a data frame."""
    return hasattr(X, "map_blocks")


def write_collection(
    X: Any, y: Any, sample_weight: Any, groups: Any, folder: str, client: Any
) -> tuple[str, str | None, str | None]:
    """Let Dask write one Parquet file per partition; return the names of the columns of target, weights and groups."""
    frame, target, weight, group = _frame(X, y, sample_weight, groups)
    frame = frame.map_partitions(_check_columns, list(frame.columns), meta=frame._meta)
    written = frame.to_parquet(folder, write_index=False, name_function=_file_name, compute=False)
    with explained(client):
        client.compute(written, retries=3).result()
    return target, weight, group


def _frame(X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Any, str, str | None, str | None]:
    """Return one frame of all columns, and the names of the columns of target, weights and groups."""
    if y is None:
        raise DataError("A fit to a dask collection requires y to be passed, but the target y is None.")
    chunks = None
    if is_array(X):
        from dask.dataframe import from_dask_array

        X = X.rechunk({1: -1})
        chunks = X.chunks[0]
        X = from_dask_array(X, columns=list(generated_names(X.shape[1])))
    names = []
    for role, column in (("y", y), ("sample_weight", sample_weight), ("groups", groups)):
        name = column
        if column is not None and not isinstance(column, str):
            if not is_lazy(column):
                raise ParameterError(
                    f"X is a dask collection, and {role} is a {type(column).__name__}; expected one too, or the "
                    "name of its column. Make it a dask Series or Array of the same partitions."
                )
            if chunks is not None and is_array(column) and not np.isnan(chunks).any():
                column = column.rechunk((chunks,))
            name = role
            while name in X.columns:
                name += "_"
            X = X.assign(**{name: column})
        names.append(name)
    target, weight, group = names
    return X, target, weight, group


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
def shared_folder(parent: Any, client: Any) -> Iterator[str]:
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
                f"cache={parent!r}: {len(blind)} workers, such as {blind[0]}, do not see the folder {folder}; "
                "expected one that all see under the same name. Pass cache='/a/shared/folder'."
            )
        yield folder
