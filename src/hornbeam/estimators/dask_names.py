"""`DaskTreeClassifier` and its siblings: an estimator beside a client, whose cluster all its fits use.

``TreeClassifier().fit(X, y)`` does the same for a dask collection: these names hold no algorithm.
"""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.rows import is_collection, is_source_like
from hornbeam.data.table import Table
from hornbeam.engines.dask import DaskEngine, current_client, writing_engine
from hornbeam.errors import ParameterError, shown
from hornbeam.estimators.forest_classifier import ForestClassifier
from hornbeam.estimators.forest_regressor import ForestRegressor
from hornbeam.estimators.methods.ensemble_methods import ForestMethods
from hornbeam.estimators.methods.estimator import ClassifierMethods, HornbeamEstimator
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.tree_classifier import TreeClassifier
from hornbeam.estimators.tree_regressor import TreeRegressor

if TYPE_CHECKING:
    from hornbeam.out_of_core.predict import Predictions


class _OnDask(MetaEstimatorMixin, HornbeamEstimator):
    """An estimator that is fitted on the cluster of a client; `_of` is the class of that estimator."""

    _of: ClassVar[Any]  # a type

    def __init__(self, estimator: Any = None, *, client: Any = None) -> None:
        self.estimator = estimator
        self.client = client

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the estimator."""
        inner: Any = self.estimator if isinstance(self.estimator, self._of) else self._of()
        return inner.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        """Return a fitted attribute of `estimator_`, such as `classes_`."""
        if name.endswith("_") and not name.startswith("_") and "estimator_" in vars(self):
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @exclusive
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        engine: Any = None,
        grow_rows: int | None = None,
        memory: int | None = None,
        cache: Any = None,
    ) -> Self:
        """Fit a clone of the estimator on the cluster.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit` of the estimator. One tree is fitted to rows in memory in this process.
        engine : Engine, default=None
            What reads and counts the rows, and grows the trees of a forest; None: ``DaskEngine(client)``.
        grow_rows, memory
            As in `fit` of the estimator.
        cache : path or False, default=None
            As in `TreeClassifier.fit`; for a forest, the folder for the files of a dask collection.

        Returns
        -------
        estimator
            Itself, fitted.
        """
        estimator = self._unfitted()
        options: dict[str, Any] = {"groups": groups, "grow_rows": grow_rows, "memory": memory}
        is_forest, current = isinstance(estimator, ForestMethods), nullcontext()
        if is_forest or is_collection(X) or is_source_like(X):
            client = self._client()
            engine, current = engine or DaskEngine(client), client.as_current()
            if is_forest and cache and isinstance(engine, DaskEngine):
                engine = writing_engine(engine, cache)
            options["engine"] = engine
        if not is_forest:
            options["cache"] = cache
        with current:
            self.estimator_ = estimator.fit(X, y, sample_weight, **options)
        return self

    def predict(self, X: Any, **options: Any) -> Any:
        """Predict rows as the estimator does: a dask Array, computed on demand, if X is a dask collection.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in the estimator
            Rows like those of `fit`.
        **options
            As in `predict` of the estimator.

        Returns
        -------
        dask Array or ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        return self.estimator_.predict(X, **options)

    @available_if(lambda self: hasattr(self._of, "predict_proba"))
    def predict_proba(self, X: Any, **options: Any) -> Any:
        """Predict class probabilities: a dask Array, computed on demand, if X is a dask collection.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in the estimator
            Rows like those of `fit`.
        **options
            As in `predict_proba` of the estimator.

        Returns
        -------
        dask Array or ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X, **options)

    def predict_to(
        self, X: Any, target: str | PathLike[str], *, engine: Any = None, **options: Any
    ) -> Predictions:
        """Predict the rows of files on the cluster and write the predictions to a folder of Parquet files.

        Parameters
        ----------
        X : path, paths or Source
            The rows.
        target : str or path
            The folder, which all workers see under this name.
        engine : Engine, default=None
            What reads, predicts and writes; None: ``DaskEngine(client)``.
        **options
            As in `predict_to` of the estimator.

        Returns
        -------
        Predictions
            The files and the number of rows.
        """
        check_is_fitted(self)
        if is_collection(X):
            raise ParameterError(
                "X is a dask collection; expected the paths of files. Write it with X.to_parquet, or call predict."
            )
        engine = DaskEngine(self._client()) if engine is None else engine
        return self.estimator_.predict_to(X, target, engine=engine, **options)  # type: ignore[no-any-return]

    def to_local(self) -> Any:
        """Return the fitted estimator, which needs no cluster: to explain, export and save.

        Returns
        -------
        estimator
            A copy of `estimator_`.
        """
        check_is_fitted(self)
        return copy(self.estimator_)

    def _client(self) -> Any:
        return current_client() if self.client is None else self.client

    def _unfitted(self) -> Any:
        """Return a clone of the estimator; None stands for the default."""
        name = self._of.__name__
        if self.estimator is None:
            return self._of()
        if not isinstance(self.estimator, self._of):
            raise ParameterError(
                f"estimator={shown(self.estimator)}: expected a {name}, or None for {name}(). Pass its parameters to "
                f"it: {type(self).__name__}({name}(max_depth=3))."
            )
        return clone(self.estimator)

    def _read(self, X: Any, y: Any = None) -> Table:  # for `hornbeam.report`
        return self.estimator_._read(X, y)  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the client: a connection cannot be pickled."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters, but share the client: a connection cannot be copied."""
        without_client = copy(self)
        without_client.client = None
        twin: Self = super(_OnDask, without_client).__sklearn_clone__()
        twin.client = self.client
        return twin


class DaskTreeClassifier(_OnDask, ClassifierMethods):
    """A `TreeClassifier` with the client of a Dask cluster.

    `TreeClassifier` itself fits dask collections on the cluster of the current client, and files with ``engine=``. This
    one keeps the client, and uses it for files too. The tree is the same, bit for bit.

    Parameters
    ----------
    estimator : TreeClassifier, default=None
        The tree to fit, with all its parameters; it is cloned. None: ``TreeClassifier()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : TreeClassifier
        The fitted tree classifier; its fitted attributes, such as `tree_` and `classes_`, are found here too.

    Notes
    -----
    The tree does not depend on the cluster, on the partitions, or on workers that die during the fit: Dask repeats
    their tasks. If the rows do not fit `memory`, cross-fitted smoothing is fitted on another sample of them than in
    memory.

    A pickle of the estimator does not contain the client. A copy in another process uses the current client there.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from distributed import Client
    >>> from hornbeam import DaskTreeClassifier, TreeClassifier
    >>> rows = pd.DataFrame({"heat": [36.6, 36.8, 39.0, 39.5], "is": ["well", "well", "ill", "ill"]})
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     frame = dd.from_pandas(rows, npartitions=2)
    ...     clf = DaskTreeClassifier(TreeClassifier(smoothing="laplace")).fit(frame, "is")
    ...     clf.predict(frame[["heat"]]).compute().tolist()
    ['well', 'well', 'ill', 'ill']
    """

    _of = TreeClassifier


class DaskTreeRegressor(_OnDask, RegressorMixin):
    """A `TreeRegressor` with the client of a Dask cluster; `DaskTreeClassifier` has notes.

    Parameters
    ----------
    estimator : TreeRegressor, default=None
        The tree to fit, with all its parameters; it is cloned. None: ``TreeRegressor()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : TreeRegressor
        The fitted tree regressor; its fitted attributes, such as `tree_`, are found here too.

    Examples
    --------
    >>> from hornbeam import DaskTreeRegressor, TreeRegressor
    >>> DaskTreeRegressor(TreeRegressor("cart")).fit([[2.0], [5.0]], [90.0, 300.0]).predict([[5.5]])
    array([300.])
    """

    _of = TreeRegressor


class DaskForestClassifier(_OnDask, ClassifierMethods):
    """A `ForestClassifier` with the client of a Dask cluster, whose workers share the trees.

    `DaskTreeClassifier` has notes.

    Parameters
    ----------
    estimator : ForestClassifier, default=None
        The forest to fit, with all its parameters; it is cloned. None: ``ForestClassifier()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : ForestClassifier
        The fitted forest classifier; its fitted attributes, such as `forest_` and `classes_`, are found here too.

    Notes
    -----
    The rows that are grown on pass through this process and the scheduler: one or two bytes for each value, once for
    each worker.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from hornbeam import DaskForestClassifier, ForestClassifier
    >>> X, y = da.array([[2.0], [2.0], [5.0], [6.0]]), da.array([0, 0, 1, 1])
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     DaskForestClassifier(ForestClassifier(20, bootstrap=False)).fit(X, y).predict(X).compute()
    array([0, 0, 1, 1])
    """

    _of = ForestClassifier


class DaskForestRegressor(_OnDask, RegressorMixin):
    """A `ForestRegressor` with the client of a Dask cluster; `DaskForestClassifier` has notes.

    Parameters
    ----------
    estimator : ForestRegressor, default=None
        The forest to fit, with all its parameters; it is cloned. None: ``ForestRegressor()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : ForestRegressor
        The fitted forest regressor; its fitted attributes, such as `forest_`, are found here too.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from hornbeam import DaskForestRegressor, ForestRegressor
    >>> X, y = da.array([[2.0], [2.0], [5.0], [6.0]]), da.array([90.0, 90.0, 300.0, 300.0])
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     DaskForestRegressor(ForestRegressor(20, bootstrap=False)).fit(X, y).predict(X).compute()
    array([ 90.,  90., 300., 300.])
    """

    _of = ForestRegressor
