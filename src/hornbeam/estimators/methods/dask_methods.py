"""Methods of the estimators of trees and forests that are fitted on a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.rows import is_source_like
from hornbeam.data.table import Table
from hornbeam.engines import DaskEngine
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.errors import ParameterError, shown
from hornbeam.estimators.inputs.dask_rows import is_array, is_lazy, shared_folder, write_collection
from hornbeam.estimators.methods.estimator import ClassifierMethods, HornbeamEstimator
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.tree.tree import Tree

if TYPE_CHECKING:
    from hornbeam.out_of_core.predict import Predictions

__all__ = ["DaskClassifierMethods", "DaskForestMethods", "DaskTreeMethods"]


class _DaskMethods(MetaEstimatorMixin, HornbeamEstimator):
    """Fit and predictions of an estimator on a Dask cluster; `_of` is the class of that estimator."""

    _of: ClassVar[Any]  # a type
    _is_forest: ClassVar[
        bool
    ]  # has no cache of encoded rows; the cluster grows its trees from rows in memory too

    def __init__(self, estimator: Any = None, *, client: Any = None) -> None:
        self.estimator = estimator
        self.client = client

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the estimator."""
        inner: Any = self.estimator if isinstance(self.estimator, self._of) else self._of()
        return inner.__sklearn_tags__()

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
        """Fit the estimator.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or path, paths or Source
            The rows. A dask collection is first written as Parquet, one file per partition. Rows in memory, as for the
            estimator, are accepted too: a tree is then fitted in this process, the trees of a forest on the cluster.
        y : dask Series or Array of shape (n_rows,), or str
            Class labels or numbers, or the name of the column.
        sample_weight : dask Series or Array of shape (n_rows,) or str, default=None
            Row weights, or the name of the column: a row of weight 2 counts as two rows.
        groups : dask Series or Array of shape (n_rows,) or str, default=None
            Rows that belong together, such as the visits of a patient, or the name of their column. "copies": equal
            rows are a group.
        engine : Engine, default=None
            What reads and counts the rows, and grows the trees of a forest; None: ``DaskEngine(client)``.
        grow_rows : int, default=None
            Grow on a sample of this size, then count all rows. None: a tree on all rows if they fit in memory or are
            at most 20 million, else on a sample of up to 5 million; a forest on all rows if they fit in memory, else
            on a sample of as many as fit, up to 5 million.
        memory : int, default=None
            Bytes of memory for rows in this process; more rows stay on the cluster. None: 2**29.
        cache : path or False, default=None
            Folder that all workers see under this name. The files of a dask collection are written there and deleted
            after the fit; None: the folder for temporary files, which works if all workers are on this machine.
            A tree keeps encoded rows of files there; None or False: the files are read again for each level.

        Returns
        -------
        DaskTreeClassifier, DaskTreeRegressor, DaskForestClassifier or DaskForestRegressor
            Itself, fitted.
        """
        estimator, is_collection = self._unfitted(), is_lazy(X)
        options: dict[str, Any] = {"grow_rows": grow_rows, "memory": memory}
        if not self._is_forest:
            options["cache"] = cache
        if is_collection or is_source_like(X) or self._is_forest:
            client = _client(self.client)
            options["engine"] = engine or DaskEngine(client)
        if is_collection:
            with shared_folder(cache, client) as folder:
                rows = f"{folder}/rows"
                if not self._is_forest:
                    options["cache"] = cache is not False and f"{folder}/codes"
                target, weight, group = write_collection(X, y, sample_weight, groups, rows, client)
                estimator.fit(rows, target, weight, groups=group, **options)
            if is_array(X):
                del estimator.feature_names_in_  # generated for the files
        else:
            estimator.fit(X, y, sample_weight, groups=groups, **options)
        self.estimator_ = estimator
        return self

    def _predict_to(self, X: Any, target: str | PathLike[str], engine: Any, **options: Any) -> Predictions:
        check_is_fitted(self)
        if is_lazy(X):
            raise ParameterError(
                "X is a dask collection; expected the paths of files. Write it with X.to_parquet, or call predict."
            )
        engine = DaskEngine(_client(self.client)) if engine is None else engine
        return self.estimator_.predict_to(X, target, engine=engine, **options)  # type: ignore[no-any-return]

    def to_local(self) -> Any:
        """Return the fitted estimator, which needs no cluster: to explain, export and save.

        Returns
        -------
        TreeClassifier, TreeRegressor, ForestClassifier or ForestRegressor
            A copy of `estimator_`.
        """
        check_is_fitted(self)
        return copy(self.estimator_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return self.estimator_.n_features_in_  # type: ignore[no-any-return]

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if X had names."""
        return self.estimator_.feature_names_in_  # type: ignore[no-any-return]

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

    def _predict_parts(self, method: str, X: Any, empty: NDArray[Any], **options: Any) -> Any:
        """Call a method of the fitted estimator per partition; `empty` is its result for no rows."""
        if not is_lazy(X):
            return getattr(self.estimator_, method)(X, **options)
        from dask import delayed

        prediction = delayed(_Prediction(self.estimator_, method, empty, options), pure=False)
        if not is_array(X):
            return X.map_partitions(_predict_part, prediction, meta=empty)
        X = X.rechunk({1: -1})
        chunks = (X.chunks[0], *((size,) for size in empty.shape[1:]))
        return X.map_blocks(
            _predict_part, prediction, chunks=chunks, drop_axis=[1][empty.ndim - 1 :], meta=empty
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the client: a connection cannot be pickled."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters, but share the client: a connection cannot be copied."""
        without_client = copy(self)
        without_client.client = None
        twin: Self = super(_DaskMethods, without_client).__sklearn_clone__()
        twin.client = self.client
        return twin


class DaskTreeMethods(_DaskMethods):
    """Methods of one tree on a Dask cluster."""

    _is_forest = False

    def predict_to(
        self,
        X: Any,
        target: str | PathLike[str],
        *,
        keep: Sequence[str] = (),
        level: float | None = None,
        leaf: bool = False,
        reasons: int = 0,
        engine: Any = None,
    ) -> Predictions:
        """Predict the rows of files on the cluster and write the predictions to a folder of Parquet files.

        Parameters
        ----------
        X : path, paths or Source
            The rows.
        target : str or path
            The folder, which all workers see under this name.
        keep, level, leaf, reasons
            As in `TreeClassifier.predict_to`.
        engine : Engine, default=None
            What reads, predicts and writes; None: ``DaskEngine(client)``.

        Returns
        -------
        Predictions
            The files and the number of rows.
        """
        return self._predict_to(X, target, engine, keep=keep, level=level, leaf=leaf, reasons=reasons)

    @property
    def tree_(self) -> Tree:
        """The fitted tree as data."""
        return self.estimator_.tree_  # type: ignore[no-any-return]


class DaskForestMethods(_DaskMethods):
    """Methods of a forest on a Dask cluster."""

    _is_forest = True

    def predict_to(
        self, X: Any, target: str | PathLike[str], *, keep: Sequence[str] = (), engine: Any = None
    ) -> Predictions:
        """Predict the rows of files on the cluster and write the predictions to a folder of Parquet files.

        Parameters
        ----------
        X : path, paths or Source
            The rows.
        target : str or path
            The folder, which all workers see under this name.
        keep : sequence of str, default=()
            As in `ForestClassifier.predict_to`.
        engine : Engine, default=None
            What reads, predicts and writes; None: ``DaskEngine(client)``.

        Returns
        -------
        Predictions
            The files and the number of rows.
        """
        return self._predict_to(X, target, engine, keep=keep)

    @property
    def forest_(self) -> Forest:
        """The fitted trees as data."""
        return self.estimator_.forest_  # type: ignore[no-any-return]


class DaskClassifierMethods(ClassifierMethods):
    """Class labels of a classifier on a Dask cluster."""

    estimator_: Any

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        return self.estimator_.classes_  # type: ignore[no-any-return]

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return self.estimator_.n_classes_  # type: ignore[no-any-return]


class _Prediction(NamedTuple):
    """A method call that is the same for every partition."""

    model: Any
    method: str
    empty: NDArray[Any]
    options: dict[str, Any]


def _predict_part(rows: Any, prediction: _Prediction) -> NDArray[Any]:
    if len(rows) == 0:
        return prediction.empty
    predict = getattr(prediction.model, prediction.method)
    return predict(rows, **prediction.options)  # type: ignore[no-any-return]


def _client(client: Any) -> Any:
    if client is not None:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError as error:
        raise ParameterError(
            "client is None, and there is no current client; expected one. Connect first: "
            "distributed.Client(address), or Client() for processes on this machine."
        ) from error
