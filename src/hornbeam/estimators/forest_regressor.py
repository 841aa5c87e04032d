"""`ForestRegressor`: a random forest for a numeric target as a scikit-learn estimator."""

from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from hornbeam.checks import check_choice
from hornbeam.data.table import Table
from hornbeam.estimators.methods.ensemble_methods import ForestMethods, oob_mask
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.predicts_distribution import PredictsDistribution
from hornbeam.estimators.methods.progress import CallbackSupportMixin
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.parameters.fields import ForestRegressorParameters
from hornbeam.typing import Floats


class ForestRegressor(
    CallbackSupportMixin,
    ForestMethods,
    PredictsDistribution,
    RegressorMixin,
    HornbeamEstimator,
    ForestRegressorParameters,
):
    """A random forest for a numeric target, with smoothed means.

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed. By default
    the smoothing of the trees is chosen out of bag.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    nominal_split : {"auto", "subset", "multiway"}, default="auto"
        How to split a nominal feature: two children for the best subset, or one child per category.
        "auto": "subset".
    missing : {"auto", "own", "learned"}, default="auto"
        Where rows with a missing value go: to a child of their own, or to the better child. "auto": "own".
    max_depth : int, default=None
        Maximum depth of each tree.
    min_samples_split : int or float, default=2
        Least number of different rows of a node to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Least number of different rows of each child; between 0 and 1, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight of each child.
    min_impurity_decrease : float, default=0.0
        Least decrease of the squared error by a split, times the node's share of the total weight.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        Number, or share, of the features to try at each node, drawn anew for each node; None for all. More are tried
        while none of them gives a split.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of each tree, grown best first.
    max_bins : int, None or "auto", default="auto"
        Quantile bins per numeric feature, shared by all trees; None: every distinct value. "auto": 255.
    bootstrap : bool, default=True
        Whether each tree is grown on a sample of the rows, drawn with replacement, or on all rows.
    max_samples : int, float or None, default=None
        Number, or share, of the rows to draw for each tree; None: as many as there are.
    oob_score : bool, default=False
        Whether to compute out-of-bag predictions and their R².
    smoothing : str, a smoother or None, default="auto"
        How the trees estimate means, before these are averaged. "out-of-bag" chooses how much to borrow from the
        ancestors (nothing, little or much) by the squared error of out-of-bag predictions. Or "m-branch",
        "hierarchical-shrinkage", "borrowing", or a smoother of `hornbeam.smoothing` for means; None or "raw": raw
        means. "auto": "out-of-bag", or None without `bootstrap`.
    monotonic_cst : array-like of int, dict or None, default=None
        Sign of each feature's effect on the prediction: 1 (increasing), -1 (decreasing) or 0 (free); or a dict by
        feature name.
    distribution : bool, default=False
        Whether to count the rows by value of the target too, for `predict_quantile`, `predict_interval`,
        `predict_distribution` and `sample`. The trees and their means are the same. It needs `bootstrap`: how many rows
        a node must have, and the levels of ranges, are found out of the bag.
    random_state : int, RandomState instance or None, default=None
        Seed of all draws. None means 0: the same rows always give the same forest.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The forest and its predictions do not depend on it.

    Attributes
    ----------
    forest_ : Forest
        The fitted trees as data.
    smoother_ : Smoother or None
        The smoother of the trees: chosen out of bag, or the parameter.
    oob_score_ : float
        Weighted R² of the out-of-bag predictions; with `oob_score`.
    oob_prediction_ : ndarray of shape (n_rows,)
        Out-of-bag predictions of the rows of weight above 0; NaN for rows in every bootstrap sample. With
        `oob_score`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    Notes
    -----
    The same rows give the same forest, bit for bit, in any order and on any number of threads. A row of weight 2 is the
    same as two rows. Fractional weights are multiplied by how often a row is drawn.

    Rows of files that do not fit `memory` are sampled: the trees are grown on the sample, their smoothing is chosen on
    it, and then all rows are counted in every tree. Out-of-bag attributes, and the distribution of the target, are
    those of the sample.

    References
    ----------
    Breiman (2001) :cite:p:`breiman2001`; distributions: Meinshausen (2006) :cite:p:`meinshausen2006`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hornbeam import ForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = ForestRegressor(oob_score=True).fit(X, y)
    >>> reg.predict(X[:2]).round(), round(reg.oob_score_, 2)
    (array([188.,  88.]), 0.45)
    """

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Predict each row: the mean over the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._read(X)
        return self.forest_.predict(table, n_jobs=self.n_jobs)[:, 0]

    @accepts_source
    def predict_interval(
        self, X: Any, *, level: float = 0.9, kind: Literal["row"] = "row"
    ) -> tuple[Floats, Floats]:
        """Compute a range for the target of each row; the forest must be fitted with ``distribution=True``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            Share of the rows that their ranges are to hold.
        kind : {"row"}, default="row"
            A range for the target of a single row. Intervals of means are those of trees alone.

        Returns
        -------
        low, high : ndarrays of shape (n_rows,)

        Notes
        -----
        Ranges are conformal, as those of `TreeRegressor`: they are widened or narrowed until they hold the stated share
        of rows that are predicted out of the bag, each without itself, or without its group. Fewer trees predict a row
        out of the bag than a new one, so the share is approximate.

        Examples
        --------
        >>> import numpy as np
        >>> from hornbeam import ForestRegressor
        >>> waits = np.array([1, 2, 2, 3, 9] * 20, float)
        >>> reg = ForestRegressor(20, distribution=True).fit(np.zeros((100, 1)), waits)
        >>> reg.predict_interval([[0.0]], level=0.5)
        (array([2.]), array([3.]))
        """
        check_choice("kind", kind, ("row",))
        return self._row_interval(X, level)

    def _score_out_of_bag(self, predicted: Floats, table: Table) -> None:
        assert table.numeric_target is not None
        mask = oob_mask(predicted)
        self.oob_prediction_ = predicted[:, 0]
        self.oob_score_ = np.nan
        if mask.any():
            true, weight = (
                table.numeric_target.values[mask],
                None if table.weight is None else table.weight[mask],
            )
            self.oob_score_ = float(r2_score(true, predicted[mask], sample_weight=weight))
