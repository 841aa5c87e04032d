"""Reading of rows by the schema of a fitted estimator: into memory, or in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.reading.raw_columns import is_named_rows, renamed_columns_error
from hornbeam.data.rows import is_collection, is_source_like, open_rows, read_rows
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Source, blank_columns, read_features
from hornbeam.data.table import Table
from hornbeam.errors import DataError, warn
from hornbeam.estimators.methods.column_names import ColumnsByName, required_columns
from hornbeam.tree.decision import Costs

if TYPE_CHECKING:
    from hornbeam.explain.unseen import Unseen


class ReadsRows(ColumnsByName):
    """A fitted estimator that reads rows by its schema, and checks names of columns as scikit-learn does."""

    _fitted = "tree_"  # the fitted attribute with the schema

    def __sklearn_tags__(self) -> Any:
        """Return tags: missing values, categories, strings and sparse matrices are accepted."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    @property
    def _schema(self) -> Schema:
        if not hasattr(self, self._fitted):
            check_is_fitted(self, self._fitted)
        return getattr(self, self._fitted).schema  # type: ignore[no-any-return]

    def _used_features(self) -> frozenset[str]:
        return required_columns(getattr(self, self._fitted))

    def unseen(self, X: Any) -> Unseen:
        """Count the unseen categories and the missing values of each feature.

        A row with an unseen category gets the prediction of the node where it stops, without an error or a warning.
        Monitor these counts when a model is in service.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        Unseen
            Counts, without any values of the rows: print it, log it, or convert it with `to_frame` or `to_dict`.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([["red"], ["blue"]] * 3, ["no", "yes"] * 3)
        >>> found = clf.unseen([["red"], ["mauve"], [None]])
        >>> found.n_affected, found.to_dict()
        (1, {'feature': ['x0'], 'tested': [True], 'unseen': [1], 'missing': [1]})
        """
        table = self._read(X)
        from hornbeam.explain.unseen import unseen  # imported only when needed

        return unseen(table, self._used_features())._from_rows(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy of a classifier, or the coefficient of determination (R²) of a regressor.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths, Source or dask collection
            Rows like those of `fit`.
        y : array-like of shape (n_rows,) or str, default=None
            The classes or numbers to compare with; the name of a column of files, or of a dask frame.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            Row weights, as `y`.

        Returns
        -------
        float
            At most 1.
        """
        if is_collection(X):
            from hornbeam.engines.dask_rows import compute_columns  # imported only for collections

            predicted = self.predict(X)  # type: ignore[attr-defined]
            predicted, y, sample_weight = compute_columns(X, predicted, y=y, sample_weight=sample_weight)
        elif is_source_like(X):
            y, predicted, sample_weight = self._scored(X, y, sample_weight)
        else:
            predicted = self.predict(X)  # type: ignore[attr-defined]
        from sklearn.metrics import accuracy_score, r2_score  # slow to import

        measure = r2_score if isinstance(self, RegressorMixin) else accuracy_score
        try:
            return float(measure(y, predicted, sample_weight=sample_weight))
        except (TypeError, ValueError) as error:
            raise DataError(
                "y and sample_weight cannot be compared with the predictions; expected one label or number, and one "
                "weight, per row of X."
            ) from error

    def _scored(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return the target, the predictions and the weights of all rows of files."""
        schema, used = self._schema, self._used_features()
        source = open_rows(X, y, sample_weight, schema=schema, needed=used, target_kind=schema.target_kind)
        parts = []
        for partition in source.partitions():
            table = read_features(source, partition, schema, used)
            numbers = table.numeric_target
            true = self.classes_[table.target] if numbers is None else numbers.values  # type: ignore[attr-defined]
            parts.append((true, self.predict(table), table.row_weights))  # type: ignore[attr-defined]
        true, predicted, weight = map(np.concatenate, zip(*parts, strict=True))
        return true, predicted, weight

    def _read(self, X: Any, y: Any = None, weight: Any = None) -> Table:
        """Read rows in any form into a table, with the checks of names for rows in memory."""
        schema = self._schema
        if not isinstance(X, np.ndarray):
            if isinstance(X, Table) or is_source_like(X):
                return read_rows(X, y, weight, schema=schema)
            if is_named_rows(X):
                return Table.read(X, y, sample_weight=weight, schema=schema, needed=self._used_features())
        table = Table.read(X, y, sample_weight=weight, schema=schema)
        named = hasattr(self, "feature_names_in_")
        if named != (table.names is not None):
            own = type(self).__name__
            warn(
                f"X does not have valid feature names, but {own} was fitted with feature names"
                if named
                else f"X has feature names, but {own} was fitted without feature names"
            )
        elif named and table.names != schema.names:
            raise renamed_columns_error(table.names or (), schema.names)
        return table

    def _open_rows(
        self, X: Any, y: Any = None, weight: Any = None, *, engine: Any = None, keep: Sequence[str] = ()
    ) -> Source:
        """Open rows in any form; of files, the features that the model uses are read."""
        schema = self._schema
        if not is_source_like(X):
            X, y, weight = self._read(X, y, weight), None, None
        return open_rows(X, y, weight, schema=schema, needed=self._used_features(), engine=engine, keep=keep)

    def _set_fitted(self, fitted: Any, names: tuple[str, ...] | None) -> None:
        """Set the fitted tree, forest or rules, and the names of the columns if X had names."""
        setattr(self, self._fitted, fitted)
        self.n_features_in_ = fitted.schema.n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def accepts_source[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a prediction method accept paths and sources, read partition by partition, and dask collections too.

    Predictions of a collection are dask Arrays, which are computed on demand.
    """

    @wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(X, np.ndarray):
            return method(self, X, *args, **kwargs)
        costs = kwargs.get("costs")
        if is_collection(X):
            from hornbeam.engines.dask_rows import predict_collection  # imported only for collections

            kwargs = kwargs if costs is None else {**kwargs, "costs": Costs.of(costs, self.classes_.tolist())}
            empty = method(self, _no_rows(self._schema), *args, **kwargs)
            return predict_collection(X, self, method.__name__, args, kwargs, empty)
        if not is_source_like(X):
            return method(self, X, *args, **kwargs)
        source, schema, used = self._open_rows(X), self._schema, self._used_features()
        matrix = None if costs is None else Costs.of(costs, self.classes_.tolist(), source.n_rows).matrix
        whole: Any = None
        for partition in source.partitions():
            if matrix is not None and matrix.ndim == 3:
                kwargs["costs"] = matrix[partition.begin : partition.end]
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
