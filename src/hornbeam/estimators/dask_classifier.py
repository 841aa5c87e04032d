"""`DaskTreeClassifier`: a `TreeClassifier` fitted to rows on a Dask cluster."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hornbeam.estimators.methods.dask_methods import DaskClassifierMethods, DaskTreeMethods
from hornbeam.estimators.tree_classifier import TreeClassifier

__all__ = ["DaskTreeClassifier"]


class DaskTreeClassifier(DaskTreeMethods, DaskClassifierMethods):
    """A `TreeClassifier` fitted on a Dask cluster.

    The rows are a dask collection, or files that the workers read. The fitted tree is the same, bit for bit, as that of
    the `TreeClassifier` fitted to the same files, or to the same rows in memory if they fit `memory`.

    Parameters
    ----------
    estimator : TreeClassifier, default=None
        The tree to fit, with all its parameters; it is cloned. None: ``TreeClassifier()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : TreeClassifier
        The fitted tree classifier.
    tree_ : Tree
        The fitted tree as data.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    See Also
    --------
    TreeClassifier : the parameters, and all methods of a fitted tree (`to_local`).

    Notes
    -----
    The tree does not depend on the cluster, on the partitions, or on workers that die during the fit: Dask repeats
    their tasks.

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

    def predict_proba(self, X: Any, *, prior: Any = None) -> Any:
        """Predict class probabilities.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `TreeClassifier`
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            Base rates of the classes among these rows, if they differ from training.

        Returns
        -------
        dask Array of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`, computed by Dask on demand; an ndarray if X is in memory or in
            files.
        """
        check_is_fitted(self)
        return self._predict_parts("predict_proba", X, np.empty((0, self.n_classes_)), prior=prior)

    def predict(self, X: Any, *, prior: Any = None, costs: Any = None) -> Any:
        """Predict the class of each row: the most probable one, or with costs the one of least expected cost.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `TreeClassifier`
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or mapping, default=None
            Costs for these rows, instead of the estimator's.

        Returns
        -------
        dask Array of shape (n_rows,)
            Labels, computed by Dask on demand; an ndarray if X is in memory or in files.
        """
        check_is_fitted(self)
        return self._predict_parts("predict", X, self.classes_[:0], prior=prior, costs=costs)
