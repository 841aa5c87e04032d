"""Rows in files and other sources: reading them, and predicting them in parts."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.labels import read_labels
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.source_like import (
    check_names,
    check_source_schema,
    described,
    if_values,
    is_source,
    is_source_like,
    open_files,
)
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError

__all__ = [
    "accepts_source",
    "classes_of",
    "names_of",
    "open_for_prediction",
    "open_new_rows",
    "open_source",
    "require_in_memory",
]


def require_in_memory(estimator: Any, X: Any) -> None:
    """Raise `ParameterError` for paths and sources; for estimators that fit only to rows in memory.

    Examples
    --------
    >>> from hornbeam import BoostedTreesClassifier
    >>> require_in_memory(BoostedTreesClassifier(), "rows.parquet")
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: X is a path of files, and BoostedTreesClassifier takes rows in memory alone; ...
    """
    if is_source_like(X):
        raise ParameterError(
            f"{described(X)}, and {type(estimator).__name__} takes rows in memory alone; expected an array or a "
            f"data frame. Read the files first (pandas.read_parquet, say), all of them or a sample.{if_values(X)}"
        )


def open_source(
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    engine: Any,
    kind: Kind = Kind.NOMINAL,
    *,
    groups: Any = None,
) -> Source:
    """Open files with the columns of their target, weights and groups; return a Source as it is."""
    if is_source(X):
        if sample_weight is not None or groups is not None or not (y is None or isinstance(y, str)):
            raise ParameterError(
                "X is a Source, which has its labels, weights and groups; expected neither y, sample_weight nor "
                "groups. Open it with target=, weight= and groups=."
            )
        if X.schema.target is not kind:
            raise ParameterError(
                f"X is a Source with a {X.schema.target} target; expected a {kind} one. Open it with "
                f"target_kind=Kind.{kind.name}, or use a "
                f"{'regressor' if X.schema.target is Kind.NUMERIC else 'classifier'}."
            )
        return X  # type: ignore[no-any-return]
    check_names(X, y, sample_weight, groups)
    return open_files(
        X,
        target=y,
        weight=sample_weight,
        class_weight=class_weight,
        groups=groups,
        engine=engine,
        target_kind=kind,
    )


def open_for_prediction(
    X: Any,
    schema: Schema,
    used: Sequence[str],
    keep: Sequence[str],
    engine: Any,
    read: Callable[[Any], Table],
) -> Source:
    """Open the rows to predict: the columns `used` of files, a Source as it is, or rows in memory by `read`.

    Raises
    ------
    ParameterError
        If a Source has another schema, or columns are to be kept from rows that are not in files.
    """
    if isinstance(keep, str):
        raise ParameterError(f"keep is {keep!r}; expected a sequence of names, such as [{keep!r}].")
    if is_source_like(X) and not is_source(X):
        some = schema.select([schema.names.index(name) for name in used] or [0])
        return open_files(X, target=None, schema=some, engine=engine, keep=tuple(keep))
    if keep:
        raise ParameterError(
            "keep names columns to copy, but X is not files; expected their paths. Pass these, or leave keep out."
        )
    if not is_source(X):
        return MemorySource(read(X))
    check_source_schema(X, schema, used)
    return X  # type: ignore[no-any-return]


def open_new_rows(X: Any, y: Any, schema: Schema, used: Sequence[str], engine: Any) -> Source:
    """Open files of new rows, with the columns `used` and their target, if its name is given; return a Source as it is.

    Raises
    ------
    ParameterError
        If y is not a name, or is given for a Source.
    """
    if is_source(X):
        if y is not None:
            raise ParameterError("X is a Source, which has its target; expected no y. Pass y=None.")
        return X  # type: ignore[no-any-return]
    if y is not None:
        check_names(X, y, None)
    some = schema.select([schema.names.index(name) for name in used] or [0])
    return open_files(X, target=y, schema=some, engine=engine)


def classes_of(source: Source) -> NDArray[Any]:
    """Return the class labels of a source.

    Examples
    --------
    >>> classes_of(MemorySource(Table.read([[1.0], [2.0]], ["b", "a"]))).tolist()
    ['a', 'b']
    """
    return read_labels(np.array(source.schema.classes)).classes


def names_of(source: Source) -> tuple[str, ...] | None:
    """Return the names of the columns; None for rows in memory without names.

    Examples
    --------
    >>> print(names_of(MemorySource(Table.read([[1.0], [2.0]]))))
    None
    """
    return source.table.names if isinstance(source, MemorySource) else source.schema.names


def accepts_source[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a prediction method accept paths and sources too, which are read partition by partition."""

    @wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_source_like(X):
            return method(self, X, *args, **kwargs)
        schema = self._schema
        if is_source(X):
            check_source_schema(X, schema, self._used_features())
        source = X if is_source(X) else open_files(X, target=None, schema=schema)
        whole: Any = None
        for partition in source.partitions():
            part = method(self, source.read(partition), *args, **kwargs)
            whole = _allocate(part, source.n_rows) if whole is None else whole
            _assign(part, whole, partition.begin)
        return whole

    return predict  # type: ignore[return-value]


def _allocate(part: Any, n_rows: int) -> Any:
    """Allocate the output for all rows, shaped like the output for one partition."""
    if isinstance(part, tuple):
        return tuple([_allocate(each, n_rows) for each in part])
    return np.empty((n_rows, *part.shape[1:]), part.dtype)


def _assign(part: Any, whole: Any, begin: int) -> None:
    if isinstance(part, tuple):
        for each, output in zip(part, whole, strict=True):
            _assign(each, output, begin)
    else:
        whole[begin : begin + len(part)] = part
