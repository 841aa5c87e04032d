"""`DaskTreeRegressor`: a `TreeRegressor` fitted to rows on a Dask cluster."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hornbeam.estimators.methods.dask_methods import DaskTreeMethods
from hornbeam.estimators.tree_regressor import TreeRegressor

__all__ = ["DaskTreeRegressor"]


class DaskTreeRegressor(DaskTreeMethods, RegressorMixin):
    """A `TreeRegressor` fitted on a Dask cluster.

    The rows are a dask collection, or files that the workers read. The fitted tree is the same, bit for bit, as that of
    the `TreeRegressor` fitted to the same files, or to the same rows in memory if they fit `memory`.

    Parameters
    ----------
    estimator : TreeRegressor, default=None
        The tree to fit, with all its parameters; it is cloned. None: ``TreeRegressor()``.
    client : distributed.Client, default=None
        Client of the cluster; None: the current one (`distributed.get_client`).

    Attributes
    ----------
    estimator_ : TreeRegressor
        The fitted tree regressor.
    tree_ : Tree
        The fitted tree as data.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    See Also
    --------
    TreeRegressor : the parameters, and all methods of a fitted tree (`to_local`).
    DaskTreeClassifier : the same for classes.

    Notes
    -----
    The tree does not depend on the cluster, on the partitions, or on workers that die during the fit: Dask repeats
    their tasks. With cross-fitted smoothing this holds too, but the tree is that of rows in memory only if the rows fit
    `memory`: otherwise the strengths are fitted on another sample of the rows.

    A pickle of the estimator does not contain the client. A copy in another process uses the current client there.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from distributed import Client
    >>> from hornbeam import DaskTreeRegressor, TreeRegressor
    >>> rows = pd.DataFrame({"rooms": [2, 2, 5, 6], "price": [90.0, 110.0, 300.0, 320.0]})
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     frame = dd.from_pandas(rows, npartitions=2)
    ...     reg = DaskTreeRegressor(TreeRegressor("cart", max_depth=1)).fit(frame, "price")
    ...     reg.predict(frame[["rooms"]]).compute().tolist()
    [100.0, 100.0, 310.0, 310.0]
    """

    _of = TreeRegressor

    def predict(self, X: Any) -> Any:
        """Predict the mean of the node where each row ends.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_rows, n_features), or as in `TreeRegressor`
            Rows like those of `fit`.

        Returns
        -------
        dask Array of shape (n_rows,)
            Means, computed by Dask on demand; an ndarray if X is in memory or in files.
        """
        check_is_fitted(self)
        return self._predict_parts("predict", X, np.empty(0))
