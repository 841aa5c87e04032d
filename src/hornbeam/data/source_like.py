"""Rows that are not in memory, as a user passes them: paths of files, or a source."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from os.path import exists
from typing import Any

from hornbeam.data.schema import Schema
from hornbeam.data.sources import Source
from hornbeam.errors import DataError, ParameterError

__all__ = [
    "check_names",
    "check_source_schema",
    "described",
    "if_values",
    "is_source",
    "is_source_like",
    "open_files",
]


def is_source_like(X: Any) -> bool:
    """Whether X is a path, a list of paths or a Source, and not an array or a data frame.

    Examples
    --------
    >>> is_source_like("rows.parquet"), is_source_like(["a.parquet", "b.parquet"]), is_source_like([[1.0], [2.0]])
    (True, True, False)
    """
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(item, (str, PathLike)) for item in X)
    return isinstance(X, (str, PathLike)) or is_source(X)


def described(X: Any) -> str:
    """Say what X is, for an error."""
    if isinstance(X, (list, tuple)):
        return f"X is a {type(X).__name__} of strings, which are read as paths of files"
    return "X is a Source" if is_source(X) else "X is a path of files"


def if_values(X: Any) -> str:
    """Advice for a list of strings that was meant as values."""
    return (
        " If they are values, pass one list per row: [['a'], ['b']]." if isinstance(X, (list, tuple)) else ""
    )


@contextmanager
def _paths_or_values(X: Any) -> Iterator[None]:
    """Add to the error of a list of files, none of which exists, that its strings may be meant as values."""
    try:
        yield
    except DataError as error:
        if isinstance(X, (list, tuple)) and not any(map(exists, X)):
            raise DataError(f"{described(X)}. {error}{if_values(X)}") from error
        raise


def open_files(paths: Any, **columns: Any) -> Source:
    """Open Parquet files, as `ParquetSource.open` does."""
    from hornbeam.data.files.parquet import ParquetSource  # imported only for files: it is slow to import

    with _paths_or_values(paths):
        return ParquetSource.open(paths, **columns)


def is_source(X: Any) -> bool:
    """Return whether X is a `Source`."""
    return all(hasattr(X, name) for name in ("schema", "partitions", "read"))


def check_names(X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
    """Require the names of columns as the target, weights and groups of files."""
    for name, column, needed in (
        ("y", y, True),
        ("sample_weight", sample_weight, False),
        ("groups", groups, False),
    ):
        if not isinstance(column, str) and (needed or column is not None):
            raise ParameterError(
                f"{described(X)}, and {name} is a {type(column).__name__}; expected the name of their column. "
                f"Pass {name}='{name}', say.{if_values(X)}"
            )


def check_source_schema(source: Source, schema: Schema, used: Iterable[str]) -> None:
    """Raise `ParameterError` unless a source encodes the features that a model uses as the model does."""
    known = {feature.name: feature for feature in source.schema.features}
    own = {feature.name: feature for feature in schema.features}
    for name in used:
        if known.get(name) != own[name]:
            what = "has other categories" if name in known else "is absent"
            raise ParameterError(
                f"In the rows of X the feature {name!r} {what}; expected the schema of the model. Open a Source with "
                "schema=model.tree_.schema, or pass the paths of its files."
            )
