"""Rows in files, collections and other sources: opening them for a fit, and predicting them in parts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.rows import is_collection, is_source_like, open_rows, read_rows
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.sources import Source, blank_columns, read_features
from hornbeam.data.table import Table
from hornbeam.errors import MissingExtraError, ParameterError
from hornbeam.estimators.inputs.targets import read_classes, read_numeric

__all__ = ["Training", "accepts_source", "classes_of", "open_training"]


class Training(NamedTuple):
    """The rows of a fit, their class labels (None for numbers), and the engine and the cache of codes to use."""

    rows: Table | Source
    classes: NDArray[Any] | None
    engine: Any
    cache: Any


@contextmanager
def open_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, engine: Any, cache: Any = None
) -> Iterator[Training]:
    """Open the rows of a fit, a table if they are in memory; the files of a collection are deleted after the block."""
    kind = Kind.NUMERIC if isinstance(estimator, RegressorMixin) else Kind.NOMINAL
    writer = _writer(X, engine, cache)
    in_memory = writer is None and not is_source_like(X)
    if in_memory or (writer is not None and y is None):
        y = read_numeric(estimator, y) if kind is Kind.NUMERIC else read_classes(estimator, y)
    source = open_rows(
        X,
        y,
        sample_weight,
        class_weight=getattr(estimator, "class_weight", None),
        groups=groups,
        target=kind,
        engine=engine if writer is None else writer,
    )
    written = getattr(source, "written", None)
    try:
        if written is not None:
            engine = writer if engine is None else engine
            cache = cache is not False and f"{written.folder}/codes"
        if in_memory:
            yield Training(read_rows(source), y.classes if isinstance(y, Labels) else None, engine, cache)
        else:
            yield Training(source, None if kind is Kind.NUMERIC else classes_of(source), engine, cache)
    finally:
        if written is not None:
            written.close()


def _writer(X: Any, engine: Any, folder: Any) -> Any:
    """Return the engine that writes X as files if X is a collection; None to read X in this process."""
    if not is_collection(X):
        return None
    from hornbeam.engines.dask import writing_engine  # imported only for collections

    try:
        return writing_engine(engine, folder)
    except (MissingExtraError, ParameterError):
        if hasattr(X, "columns"):
            raise
        return None  # without a cluster, NumPy reads an array into memory


def classes_of(source: Source) -> NDArray[Any]:
    """Return the class labels of a source."""
    return read_labels(np.array(source.schema.classes)).classes


def accepts_source[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a prediction method accept paths and sources, read partition by partition, and dask collections too.

    Predictions of a collection are dask Arrays, which are computed on demand.
    """

    @wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(X, np.ndarray):
            return method(self, X, *args, **kwargs)
        if is_collection(X):
            from hornbeam.engines.dask_rows import predict_collection  # imported only for collections

            empty = method(self, _no_rows(self._schema), *args, **kwargs)
            return predict_collection(X, self, method.__name__, args, kwargs, empty)
        if not is_source_like(X):
            return method(self, X, *args, **kwargs)
        source, schema, used = self._open_rows(X), self._schema, self._used_features()
        whole: Any = None
        for partition in source.partitions():
            part = method(self, read_features(source, partition, schema, used), *args, **kwargs)
            whole = _allocate(part, source.n_rows) if whole is None else whole
            _assign(part, whole, partition.begin)
        return whole

    return predict  # type: ignore[return-value]


def _no_rows(schema: Schema) -> Table:
    return Table(schema, blank_columns(schema, 0), names=schema.names)


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
