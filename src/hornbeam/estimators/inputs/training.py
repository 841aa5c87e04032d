"""Rows and target of a fit: opened, with the checks that scikit-learn expects."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.exceptions import DataConversionWarning

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.data.rows import is_collection, is_source_like, open_rows, read_rows
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.errors import DataError, MissingExtraError, ParameterError, warn
from hornbeam.typing import Floats


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
        target_kind=kind,
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


def read_classes(estimator: Any, y: Any) -> Labels:
    """Read class labels."""
    _check(estimator, y, "label")
    return read_labels(y)


def read_numeric(estimator: Any, y: Any) -> Floats:
    """Read a numeric target."""
    _check(estimator, y, "number")
    return read_numeric_target(y)


def _check(estimator: Any, y: Any, what: str) -> None:
    if y is None:
        name = type(estimator).__name__
        raise DataError(f"{name} requires y to be passed, but the target y is None. Pass one {what} per row.")
    if isinstance(y, str):
        raise DataError(
            f"y is a str; expected one {what} per row. The name of a column is for rows in files; of a frame, pass "
            "the column itself and X without it."
        )
    shape = getattr(y, "shape", ())
    if isinstance(shape, tuple) and shape[1:] == (1,):
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
        )
