"""Rows in files and other sources: opening them for a fit, and predicting them in parts."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.rows import is_source_like, open_rows, read_rows
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Source, read_features
from hornbeam.data.table import Table
from hornbeam.estimators.inputs.targets import read_classes, read_numeric

__all__ = ["accepts_source", "classes_of", "open_training"]


def open_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, engine: Any
) -> tuple[Table | Source, NDArray[Any] | None]:
    """Open the rows of a fit: a table if they are in memory; return them with the class labels, or None for numbers."""
    kind = Kind.NUMERIC if isinstance(estimator, RegressorMixin) else Kind.NOMINAL
    in_memory = not is_source_like(X)
    if in_memory:
        y = read_numeric(estimator, y) if kind is Kind.NUMERIC else read_classes(estimator, y)
    factors = getattr(estimator, "class_weight", None)
    source = open_rows(X, y, sample_weight, class_weight=factors, groups=groups, target=kind, engine=engine)
    if in_memory:
        return read_rows(source), y.classes if isinstance(y, Labels) else None
    return source, None if kind is Kind.NUMERIC else classes_of(source)


def classes_of(source: Source) -> NDArray[Any]:
    """Return the class labels of a source."""
    return read_labels(np.array(source.schema.classes)).classes


def accepts_source[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a prediction method accept paths and sources too, which are read partition by partition."""

    @wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(X, np.ndarray) or not is_source_like(X):
            return method(self, X, *args, **kwargs)
        source, schema, used = self._open_rows(X), self._schema, self._used_features()
        whole: Any = None
        for partition in source.partitions():
            part = method(self, read_features(source, partition, schema, used), *args, **kwargs)
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
