"""Predictions of files as files: the one way of `predict_to` and of ``hornbeam predict``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from hornbeam.data.engine import LocalEngine
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.estimators.inputs.prediction_columns import PredictionColumns
from hornbeam.estimators.inputs.sources import open_for_prediction
from hornbeam.estimators.parameters.threads import n_threads

if TYPE_CHECKING:
    from hornbeam.out_of_core.predict import Predictions

__all__ = ["write_files"]


def write_files(
    X: Any,
    target: str | PathLike[str],
    columns: PredictionColumns,
    schema: Schema,
    needed: Collection[str],
    *,
    keep: Sequence[str] = (),
    engine: Any = None,
    n_jobs: int | None = None,
    read: Callable[[Any], Table] | None = None,
) -> Predictions:
    """Predict rows of a model's schema and write them to a folder, as `TreeClassifier.predict_to` documents.

    Parameters
    ----------
    X, target
        As in `predict_to`.
    columns : PredictionColumns
        The model.
    schema : Schema
        The schema of the model.
    needed : collection of str
        The features that the model uses.
    keep, engine
        As in `predict_to`.
    n_jobs : int, optional
        Threads, if there is no engine.
    read : callable, optional
        Reads rows in memory; `Table.read` by default.

    Returns
    -------
    Predictions
    """
    from hornbeam.data.files.paths import need_arrow  # imported only for files: they are slow to import
    from hornbeam.out_of_core.predict import write_predictions

    need_arrow()
    engine = LocalEngine(n_threads(n_jobs)) if engine is None else engine
    used = [name for name in schema.names if name in needed]
    read = read or (lambda rows: Table.read(rows, schema=schema))
    source = open_for_prediction(X, schema, used, keep, engine, read)
    return write_predictions(
        source, schema, used, columns, target, identity=columns.identity, engine=engine, keep=keep
    )
