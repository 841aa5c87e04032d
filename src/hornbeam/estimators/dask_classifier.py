"""A classification tree of rows that are on a Dask cluster."""

from __future__ import annotations

from copy import copy
from inspect import Parameter, signature
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hornbeam.engines import DaskEngine
from hornbeam.errors import ParameterError
from hornbeam.estimators.inputs.dask_rows import is_array, is_lazy, shared_folder, write_collection
from hornbeam.estimators.inputs.sources import is_source_like
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.tree_classifier import TreeClassifier

__all__ = ["DaskTreeClassifier"]


class DaskTreeClassifier(TreeClassifier):
    """The tree of `TreeClassifier`, of rows that are on a Dask cluster or in files that its workers read.

    Parameters
    ----------
    preset : {"default", "cart", "c4.5", "c4.4", "id3"}, default="default"
        The recipe to start from.
    client : distributed.Client, default=None
        Connected to the cluster; None: the client of the moment, as `distributed.get_client` finds it.
    **settings : dict
        Every other parameter of `TreeClassifier`.

    See Also
    --------
    TreeClassifier : what the parameters mean, and the attributes of a fit.

    Notes
    -----
    The same rows give the same tree, bit for bit, as in memory: on any cluster, in any partitions, and
    whichever workers die meanwhile. Tasks are Dask's own, so that it does again what is lost with a worker.

    A pickle of the estimator and the workers of a grid search hold no client; they use that of the moment.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from distributed import Client
    >>> from hornbeam import DaskTreeClassifier
    >>> rows = pd.DataFrame({"heat": [36.6, 36.8, 39.0, 39.5], "is": ["well", "well", "ill", "ill"]})
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     frame = dd.from_pandas(rows, npartitions=2)
    ...     clf = DaskTreeClassifier(smoothing="laplace").fit(frame, "is")
    ...     clf.predict(frame[["heat"]]).compute().tolist()
    ['well', 'well', 'ill', 'ill']
    """

    def __init__(self, preset: str = "default", *, client: Any = None, **settings: Any) -> None:
        super().__init__(preset, **settings)
        self.client = client

    @exclusive
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        engine: Any = None,
        grow_rows: int | None = None,
        memory: int | None = None,
        cache: Any = None,
    ) -> Self:
        """Grow, prune and smooth a tree.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or path, paths or Source
            The rows. Those of a collection are laid down as Parquet files first, one for each partition.
        y : dask Series or Array of shape (n_rows,), or str
            Class labels, or the name of their column.
        sample_weight : dask Series or Array of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows; or the name of the column of weights.
        engine : Engine, default=None
            Where files are read and rows counted; None: ``DaskEngine(client)``.
        grow_rows : int, default=None
            Grow on a sample of so many rows, and count all. None: on all rows that fit memory or are at most 20
            million, else on a sample of up to 5 million.
        memory : int, default=None
            Bytes that rows may take in this process before they stay on the cluster; None: 2**29.
        cache : path or False, default=None
            A folder that all workers see under this name. What a collection needs there is deleted when the fit
            is over; None: in the folder for temporary files, which serves if all workers are on this machine.
            Codes of files are kept; None or False: the files are read again for each level.

        Returns
        -------
        DaskTreeClassifier
            Itself, fitted.
        """
        lazy = is_lazy(X)
        ways: dict[str, Any] = {"grow_rows": grow_rows, "memory": memory}
        if not lazy and not is_source_like(X):
            super().fit(X, y, sample_weight, cache=cache, **ways)
            return self
        client = _client(self.client)
        ways["engine"] = engine or DaskEngine(client)
        if not lazy:
            super().fit(X, y, sample_weight, cache=cache, **ways)
            return self
        with shared_folder(cache, client) as folder:
            rows, codes = f"{folder}/rows", False if cache is False else f"{folder}/codes"
            target, weight = write_collection(X, y, sample_weight, rows, client)
            super().fit(rows, target, weight, cache=codes, **ways)
        if is_array(X):
            del self.feature_names_in_
        return self

    def predict_proba(self, X: Any, prior: Any = None) -> Any:
        """Estimate class probabilities.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `TreeClassifier`
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            How common the classes are where these rows come from, if not as in training.

        Returns
        -------
        dask Array of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`, when they are asked for; an ndarray if X is in memory or
            in files.
        """
        check_is_fitted(self, "tree_")
        return self._answer_parts("predict_proba", X, np.empty((0, self.n_classes_)), prior=prior)

    def predict(self, X: Any, prior: Any = None, costs: Any = None) -> Any:
        """Name the class each row is best taken for.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `TreeClassifier`
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or mapping, default=None
            Costs for these rows, in the place of the estimator's.

        Returns
        -------
        dask Array of shape (n_rows,)
            Labels, when they are asked for; an ndarray if X is in memory or in files.
        """
        check_is_fitted(self, "tree_")
        return self._answer_parts("predict", X, self.classes_[:0], prior=prior, costs=costs)

    def to_local(self) -> TreeClassifier:
        """Return the same model without the cluster, to be saved, exported and used anywhere.

        Returns
        -------
        TreeClassifier
            With the same parameters and the same fit.
        """
        settings = self.get_params(deep=False)
        del settings["client"]
        local = TreeClassifier(**settings)
        names = tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        local._learn(self.tree_, self.classes_, names, self.class_weight_, self._shares)
        return local

    def _answer_parts(self, method: str, X: Any, none: NDArray[Any], **options: Any) -> Any:
        """Ask a method for each partition, or right here if there is none; `none` is its answer for no rows."""
        if not is_lazy(X):
            return getattr(super(), method)(X, **options)
        from dask import delayed

        asked = delayed(_Answer(self.to_local(), method, none, options), pure=False)
        if not is_array(X):
            return X.map_partitions(_call, asked, meta=none)
        X = X.rechunk({1: -1})
        chunks = (X.chunks[0], *((size,) for size in none.shape[1:]))
        return X.map_blocks(_call, asked, chunks=chunks, drop_axis=[1][none.ndim - 1 :], meta=none)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without the client: a connection does not."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        """Clone everything but the client, which is shared."""
        bare = copy(self)
        bare.client = None
        twin = super(DaskTreeClassifier, bare).__sklearn_clone__()
        twin.client = self.client
        return twin  # type: ignore[no-any-return]


_own = signature(TreeClassifier.__init__)
_client_parameter = Parameter("client", Parameter.KEYWORD_ONLY, default=None, annotation=Any)
DaskTreeClassifier.__init__.__signature__ = _own.replace(  # type: ignore[attr-defined]
    parameters=[*_own.parameters.values(), _client_parameter]
)


class _Answer(NamedTuple):
    """What is asked of each partition."""

    model: TreeClassifier
    method: str
    none: NDArray[Any]
    options: dict[str, Any]


def _call(rows: Any, asked: _Answer) -> NDArray[Any]:
    if len(rows) == 0:
        return asked.none
    return getattr(asked.model, asked.method)(rows, **asked.options)  # type: ignore[no-any-return]


def _client(client: Any) -> Any:
    if client is not None:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError as error:
        raise ParameterError(
            "client is None, and there is no client of the moment; expected one. Connect first: "
            "distributed.Client(address), or Client() for processes on this machine."
        ) from error
