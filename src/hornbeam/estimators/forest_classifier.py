"""`ForestClassifier`: a random forest for classes as a scikit-learn estimator."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.table import Table
from hornbeam.estimators.methods.classifier import ClassifierMethods
from hornbeam.estimators.methods.ensemble_methods import ForestMethods, oob_mask
from hornbeam.estimators.methods.progress import CallbackSupportMixin
from hornbeam.estimators.parameters.fields import ForestClassifierParameters
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.typing import Floats


class ForestClassifier(CallbackSupportMixin, ForestMethods, ClassifierMethods, ForestClassifierParameters):
    """A random forest with smoothed class probabilities.

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed. By default
    the smoothing of the trees, and a temperature of their averaged probabilities, are chosen out of bag.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"auto", "entropy", "gini", "gain_ratio", "hellinger"}, default="auto"
        The measure of a split's quality; "auto": "entropy".
    nominal_split : {"auto", "subset", "multiway"}, default="auto"
        How to split a nominal feature: two children for the best subset, or one child per category.
        "auto": "subset".
    missing : {"auto", "own", "learned", "fractional"}, default="auto"
        Where rows with a missing value go: to a child of their own, to the better child, or to every child in
        proportion. "auto": "own".
    max_depth : int, default=None
        Maximum depth of each tree.
    min_samples_split : int or float, default=2
        Least number of different rows of a node to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Least number of different rows of each child; between 0 and 1, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight of each child.
    min_impurity_decrease : float, default=0.0
        Least gain of a split, times the node's share of the total weight.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
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
        Whether to compute out-of-bag predictions and their accuracy.
    smoothing : str, a smoother or None, default="auto"
        How the trees estimate probabilities, before these are averaged. "out-of-bag" chooses how much to borrow from
        the ancestors (nothing, little or much) by the squared error of out-of-bag predictions, and then a temperature
        of the averaged probabilities. Or a name that `TreeClassifier` accepts, except "cross-fitted", or a
        smoother of `hornbeam.smoothing`; None: raw frequencies. With these the temperature is 1. "auto":
        "out-of-bag", or None without `bootstrap` and with ``voting="hard"``.
    voting : {"soft", "hard"}, default="soft"
        What is averaged: the probabilities of the trees, or their votes, 1 for the most probable class of each tree
        ("hard": the majority vote of bagging). Votes are not smoothed.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class in the choice of splits and in `predict`, which chooses the largest probability times
        weight. Probabilities do not use it: they keep the base rate of the rows.
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        Cost of each kind of error, as in `TreeClassifier`. `predict` returns the class of least expected cost; trees
        and probabilities do not change.
    monotonic_cst : array-like of int, dict or None, default=None
        For two classes, the sign of each feature's effect on the probability of the second class: 1 (increasing), -1
        (decreasing) or 0 (free); or a dict by feature name.
    random_state : int, RandomState instance or None, default=None
        Seed of all draws. None means 0: the same rows always give the same forest.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The forest and its predictions do not depend on it.

    Attributes
    ----------
    forest_ : Forest
        The fitted trees as data.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    class_weight_ : ndarray of shape (n_classes,)
        Weight of each class in `predict`.
    smoother_ : Smoother or None
        The smoother of the trees: chosen out of bag, or the parameter.
    temperature_ : float
        Temperature of the averaged probabilities: they are raised to the power 1 / `temperature_` and normalised. Below
        1 if the average is under-confident; 1 unless chosen out of bag.
    oob_score_ : float
        Weighted accuracy of the out-of-bag predictions; with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Out-of-bag probabilities of the rows of weight above 0; NaN for rows in every bootstrap sample. With
        `oob_score`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    Notes
    -----
    The same rows give the same forest, bit for bit, in any order and on any number of threads. A row of weight 2 is the
    same as two rows. Fractional weights are multiplied by how often a row is drawn.

    Rows of files that do not fit `memory` are sampled: the trees are grown on the sample, smoothing and temperature are
    chosen on it, and then all rows are counted in every tree. Out-of-bag attributes are those of the sample.

    References
    ----------
    Breiman (2001) :cite:p:`breiman2001`; temperature: Guo, Pleiss, Sun and Weinberger (2017) :cite:p:`guo2017`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import ForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = ForestClassifier(oob_score=True).fit(X, y)
    >>> clf.predict(X[:2]), round(clf.oob_score_, 2)
    (array([0, 0]), 0.95)
    """

    @property
    def temperature_(self) -> float:
        """Temperature of the averaged probabilities; 1 leaves them as they are."""
        check_is_fitted(self, "forest_")
        return self.forest_.temperature

    def _probabilities(self, X: Any) -> Floats:
        table = self._read(X)
        return self.forest_.predict(table, n_jobs=self.n_jobs)

    @property
    def _trained_rates(self) -> Floats:
        return base_rate(*self.forest_.trees)

    def _score_out_of_bag(self, predicted: Floats, table: Table) -> None:
        self.oob_decision_function_ = predicted
        assert table.target is not None
        mask = oob_mask(predicted)
        correct = self._decision(predicted[mask]) == table.target[mask]
        weight = None if table.weight is None else table.weight[mask]
        self.oob_score_ = float(np.average(correct, weights=weight)) if mask.any() else np.nan
