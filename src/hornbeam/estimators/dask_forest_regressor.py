"""`DaskForestRegressor`: a `ForestRegressor` fitted to rows on a Dask cluster."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hornbeam.estimators.forest_regressor import ForestRegressor
from hornbeam.estimators.methods.dask_methods import DaskForestMethods

__all__ = ["DaskForestRegressor"]


class DaskForestRegressor(DaskForestMethods, RegressorMixin):
    """A `ForestRegressor` fitted on a Dask cluster.

    The rows are a dask collection, or files that the workers read; the workers share the trees. The fitted forest is
    the same, bit for bit, as that of the `ForestRegressor` fitted to the same files, or to the same rows in memory
    if they fit `memory`.

    Parameters
    ----------
    estimator : ForestRegressor, default=None
        The forest to fit, with all its parameters; it is cloned. None: ``ForestRegressor()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : ForestRegressor
        The fitted forest regressor.
    forest_ : Forest
        The fitted trees as data.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    See Also
    --------
    ForestRegressor : the parameters, and all methods of a fitted forest (`to_local`).
    DaskForestClassifier : the same for classes, with notes on both.
    DaskTreeRegressor : one tree.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from distributed import Client
    >>> from hornbeam import DaskForestRegressor, ForestRegressor
    >>> rows = pd.DataFrame({"rooms": [2, 2, 5, 6], "price": [90.0, 110.0, 300.0, 320.0]})
    >>> forest = ForestRegressor(20, bootstrap=False, max_depth=1)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     frame = dd.from_pandas(rows, npartitions=2)
    ...     reg = DaskForestRegressor(forest).fit(frame, "price")
    ...     reg.predict(frame[["rooms"]]).compute().tolist()
    [100.0, 100.0, 310.0, 310.0]
    """

    _of = ForestRegressor

    def predict(self, X: Any) -> Any:
        """Predict each row: the mean over the trees.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `ForestRegressor`
            Rows like those of `fit`.

        Returns
        -------
        dask Array of shape (n_rows,)
            Means, computed by Dask on demand; an ndarray if X is in memory or in files.
        """
        check_is_fitted(self)
        return self._predict_parts("predict", X, np.empty(0))
