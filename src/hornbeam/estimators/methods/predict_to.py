"""`predict_to`: predictions of files written to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hornbeam.checks import check_path
from hornbeam.data.engine import resolve_engine
from hornbeam.data.hashes import fingerprint
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.errors import ParameterError
from hornbeam.estimators.methods.reads_rows import ReadsRows
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import with_quantiles

if TYPE_CHECKING:
    from hornbeam.estimators.inputs.prediction_columns import PredictionColumns
    from hornbeam.out_of_core.predict import Predictions


class PredictsTo(ReadsRows):
    """Predictions written to files, for any estimator."""

    n_jobs: int | None

    def predict_to(
        self,
        X: Any,
        path: str | PathLike[str],
        *,
        keep: Sequence[str] = (),
        engine: Any = None,
    ) -> Predictions:
        """Predict the rows of files and write the predictions to a folder of Parquet files.

        Parameters
        ----------
        X : path, paths or Source, or array-like or data frame of shape (n_rows, n_features)
            The rows. Of files, only the columns that the model uses are read, one row group at a time.
        path : str or path
            The folder; created if it does not exist. It has one file for each row group of X, in the same order.
        keep : sequence of str, default=()
            Columns of the files to copy beside the predictions, an identifier for example.
        engine : Engine, default=None
            What reads, predicts and writes; None: `n_jobs` threads.

        Returns
        -------
        Predictions
            The files and the number of rows.

        Raises
        ------
        StorageError
            If the folder has predictions of another model or of other rows, or other Parquet files.

        Notes
        -----
        A classifier writes ``prediction``, the class, and ``p_<class>``, the probability of each class; a regressor
        writes ``prediction``.

        If the call is interrupted or killed, the same call continues: each file is written once, and appears when it is
        complete. ``_manifest.json`` is written last; it lists the files with their rows, and the digests of the model
        and of the source.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> from hornbeam import ForestClassifier
        >>> rows = pd.DataFrame({"id": [7, 8, 9, 10], "heat": [36.6, 36.8, 39.0, 39.5]})
        >>> clf = ForestClassifier(n_estimators=5).fit(rows[["heat"]], ["well", "well", "ill", "ill"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows.to_parquet(f"{folder}/rows.parquet")
        ...     written = clf.predict_to(f"{folder}/rows.parquet", f"{folder}/predictions", keep=["id"])
        ...     pd.read_parquet(f"{folder}/predictions").columns.tolist()
        ['id', 'prediction', 'p_ill', 'p_well']
        >>> written.n_rows
        4
        """
        _ = self._schema  # checks that the estimator is fitted
        return self._write(X, path, EstimatorColumns.of(self), keep, engine)

    def _write(
        self,
        X: Any,
        path: str | PathLike[str],
        columns: PredictionColumns,
        keep: Sequence[str],
        engine: Any,
    ) -> Predictions:
        from hornbeam.data.files.paths import need_arrow  # imported only for files: they are slow to import
        from hornbeam.out_of_core.predict import write_predictions

        check_path("path", path)
        need_arrow()
        engine = resolve_engine(engine, n_threads(self.n_jobs))
        source = self._open_rows(X, engine=engine, keep=keep)
        schema, used = self._schema, sorted(self._used_features())
        return write_predictions(
            source, schema, used, columns, path, identity=columns.identity, engine=engine, keep=keep
        )


class TreePredictsTo(PredictsTo):
    """Predictions written to files, for an estimator of one tree."""

    tree_: Tree

    def predict_to(
        self,
        X: Any,
        path: str | PathLike[str],
        *,
        keep: Sequence[str] = (),
        level: float | None = None,
        leaf: bool = False,
        reasons: int = 0,
        quantiles: Sequence[float] | None = None,
        engine: Any = None,
    ) -> Predictions:
        """Predict the rows of files and write the predictions to a folder of Parquet files.

        Parameters
        ----------
        X : path, paths or Source, or array-like or data frame of shape (n_rows, n_features)
            The rows. Of files, only the columns that the tree uses are read, one row group at a time.
        path : str or path
            The folder; created if it does not exist. It has one file for each row group of X, in the same order.
        keep : sequence of str, default=()
            Columns of the files to copy beside the predictions, an identifier for example.
        level : float, default=None
            Add the bounds of intervals of this level: ``low_<class>`` and ``high_<class>``; for a regressor ``low`` and
            ``high``.
        leaf : bool, default=False
            Add ``leaf``, the number of the node where the row ends.
        reasons : int, default=0
            Add this number of texts, ``reason_1`` and so on: how far a feature moved the prediction, as
            `Explanation.reasons`.
        quantiles : sequence of float, default=None
            Add these quantiles of a regressor with ``distribution=True``: ``q10``, ``q50`` and ``q90`` for
            ``[0.1, 0.5, 0.9]``.
        engine : Engine, default=None
            What reads, predicts and writes; None: `n_jobs` threads.

        Returns
        -------
        Predictions
            The files and the number of rows.

        Raises
        ------
        StorageError
            If the folder has predictions of another model, of other rows or with other columns, or other Parquet files.

        Notes
        -----
        A classifier writes ``prediction``, the class, and ``p_<class>``, the probability of each class; a regressor
        writes ``prediction``.

        If the call is interrupted or killed, the same call continues: each file is written once, and appears when it is
        complete. ``_manifest.json`` is written last; it lists the files with their rows, and the digests of the model
        and of the source.

        Reasons are computed once for all rows of a node with the same missing values. Trees with slopes, and trees that
        send missing values to all branches, are explained row by row, which is slow.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> from hornbeam import TreeClassifier
        >>> rows = pd.DataFrame({"id": [7, 8, 9, 10], "heat": [36.6, 36.8, 39.0, 39.5]})
        >>> clf = TreeClassifier("cart").fit(rows[["heat"]], ["well", "well", "ill", "ill"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows.to_parquet(f"{folder}/rows.parquet", row_group_size=2)
        ...     to = f"{folder}/predictions"
        ...     written = clf.predict_to(f"{folder}/rows.parquet", to, keep=["id"], reasons=1)
        ...     again = clf.predict_to(f"{folder}/rows.parquet", to, keep=["id"], reasons=1)
        ...     pd.read_parquet(to).astype(str).iloc[2].tolist()
        ['9', 'ill', '1.0', '0.0', 'heat > 38 moved ill from 0.500 to 1.000']
        >>> len(written.files), written.n_written, again.n_written
        (2, 4, 0)
        """
        _ = self._schema  # checks that the estimator is fitted
        from hornbeam.estimators.inputs.prediction_columns import TreeColumns

        wide = None if quantiles is None else with_quantiles(self, quantiles)
        return self._write(X, path, TreeColumns(self.tree_, level, leaf, reasons, wide), keep, engine)


@dataclass(frozen=True, slots=True)
class EstimatorColumns:
    """Columns of the predictions of an estimator of several trees or of rules.

    `options` are those of its method `_more_columns`, if it has any.
    """

    estimator: Any
    classes: tuple[Any, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(cls, estimator: Any, options: Mapping[str, Any] | None = None) -> Self:
        """Make the columns of an estimator that can be hashed, with one thread."""
        if hasattr(estimator, "init_"):
            raise ParameterError(
                f"this {type(estimator).__name__} starts from a fitted {type(estimator.init_).__name__} (init), which "
                "has no digest; expected one without init. Predict the parts yourself."
            )
        single = copy(estimator)
        single.n_jobs = 1  # the engine has the threads
        classes = tuple(estimator.classes_.tolist()) if hasattr(estimator, "classes_") else ()
        return cls(single, classes, options or {})

    @property
    def identity(self) -> dict[str, Any]:
        """The digest of the model, and the options."""
        return {"model": _digest(self.estimator), **self.options}

    def __call__(self, table: Table) -> dict[str, Any]:
        """Predict the rows of a table."""
        if not self.classes:
            return {"prediction": self.estimator.predict(table)}
        from hornbeam.estimators.inputs.prediction_columns import class_columns

        codes, probability = self.estimator._decided(table)
        columns = class_columns(self.classes, codes, list(probability.T))
        return columns | self.estimator._more_columns(table, **self.options) if self.options else columns


def _digest(estimator: Any) -> str:
    """Return a hash of the trees and parameters of an estimator, without the number of threads."""
    from hornbeam.estimators.persistence.files import pack_learned
    from hornbeam.storage.file import encode

    twin = copy(estimator)
    twin.n_jobs = None
    return fingerprint(np.frombuffer(encode(pack_learned(twin), as_tensors=True), np.uint8))
