"""`DaskForestClassifier`: a `ForestClassifier` fitted to rows on a Dask cluster."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hornbeam.estimators.forest_classifier import ForestClassifier
from hornbeam.estimators.methods.dask_methods import DaskClassifierMethods, DaskForestMethods

__all__ = ["DaskForestClassifier"]


class DaskForestClassifier(DaskForestMethods, DaskClassifierMethods):
    """A `ForestClassifier` fitted on a Dask cluster.

    The rows are a dask collection, or files that the workers read; the workers share the trees. The fitted forest is
    the same, bit for bit, as that of the `ForestClassifier` fitted to the same files, or to the same rows in memory
    if they fit `memory`.

    Parameters
    ----------
    estimator : ForestClassifier, default=None
        The forest to fit, with all its parameters; it is cloned. None: ``ForestClassifier()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : ForestClassifier
        The fitted forest classifier.
    forest_ : Forest
        The fitted trees as data.
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
    ForestClassifier : the parameters, and all methods of a fitted forest (`to_local`).
    DaskTreeClassifier : one tree.

    Notes
    -----
    The forest does not depend on the cluster, on the partitions, or on workers that die during the fit: Dask repeats
    their tasks. If the rows do not fit `memory`, the trees are grown on a sample, and all rows are counted.

    The rows that are grown on pass through this process and the scheduler: one or two bytes for each value, once for
    each worker.

    A pickle of the estimator does not contain the client. A copy in another process uses the current client there.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from distributed import Client
    >>> from hornbeam import DaskForestClassifier, ForestClassifier
    >>> rows = pd.DataFrame({"heat": [36.6, 36.8, 39.0, 39.5], "is": ["well", "well", "ill", "ill"]})
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     frame = dd.from_pandas(rows, npartitions=2)
    ...     clf = DaskForestClassifier(ForestClassifier(20)).fit(frame, "is")
    ...     clf.predict(frame[["heat"]]).compute().tolist()
    ['well', 'well', 'ill', 'ill']
    """

    _of = ForestClassifier

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities: the average over the trees, at the temperature.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `ForestClassifier`
            Rows like those of `fit`.

        Returns
        -------
        dask Array of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`, computed by Dask on demand; an ndarray if X is in memory or in
            files.
        """
        check_is_fitted(self)
        return self._predict_parts("predict_proba", X, np.empty((0, self.n_classes_)))

    def predict(self, X: Any) -> Any:
        """Predict the class of largest probability times class weight.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `ForestClassifier`
            Rows like those of `fit`.

        Returns
        -------
        dask Array of shape (n_rows,)
            Labels, computed by Dask on demand; an ndarray if X is in memory or in files.
        """
        check_is_fitted(self)
        return self._predict_parts("predict", X, self.classes_[:0])
