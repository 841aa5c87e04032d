"""Calibration of the intervals of a fitted tree."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hornbeam.data.table import Table
from hornbeam.estimators.methods.locks import serialised
from hornbeam.estimators.parameters.recipes import tree_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.tuning import calibrate_intervals as calibrate

__all__ = ["calibrate_intervals"]


@serialised
def calibrate_intervals(self: Any, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None) -> Any:
    """Calibrate the width of the intervals, so that they contain the true rate or mean as often as they claim.

    `fit` does this if smoothing is cross-fitted, which is the default, or if the tree has a teacher. With any other
    smoothing call this method; it takes about as long as a default fit.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        The rows of `fit`.
    y : array-like of shape (n_rows,)
        The target of `fit`.
    sample_weight : array-like of shape (n_rows,), default=None
        The weights of `fit`.
    groups : array-like of shape (n_rows,) or str, default=None
        The groups of `fit`.

    Returns
    -------
    estimator
        Itself; in `tree_` only the last step of the history is new.

    See Also
    --------
    predict_interval : the intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = TreeClassifier(smoothing="hgs").fit(X, y).calibrate_intervals(X, y)
    >>> print(clf.tree_.history[-1])
    interval-calibration(borrowed=0.35, own=0.35)
    """
    check_is_fitted(self)
    target, schema = self._read_target(y), self.tree_.schema
    if schema.is_regression:
        table = Table.read(X, target, sample_weight=sample_weight, groups=groups, schema=schema)
    else:
        weights = {"sample_weight": sample_weight, "class_weight": self.class_weight}
        table = Table.read(X, target, groups=groups, schema=schema, **weights)
    fitter = tree_fitter(self, table)
    self.tree_ = calibrate(self.tree_, table, fitter, n_jobs=n_threads(self.n_jobs))
    return self
