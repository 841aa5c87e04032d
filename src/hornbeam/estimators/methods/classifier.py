"""Methods of all classifiers: probabilities for other base rates, decisions by costs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.locks import serialised
from hornbeam.estimators.methods.reads_rows import ReadsRows, accepts_source
from hornbeam.tree.decision import Costs, DecisionRule
from hornbeam.tree.evidence.base_rate import adjust_to_rates, rate_factors
from hornbeam.typing import Floats


class ClassifierMethods(ReadsRows, ClassifierMixin, HornbeamEstimator):
    """Base class of all classifiers: a classifier has `_probabilities` and `_trained_rates`, and may decide faster."""

    classes_: NDArray[Any]
    costs: Any

    @accepts_source
    def predict_proba(self, X: Any, *, base_rates: Any = None) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.
        base_rates : dict from label to rate, or array-like of shape (n_classes,), default=None
            Base rates of the classes among these rows, if they differ from training. The probabilities are adjusted
            by Bayes' theorem.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier(smoothing=None).fit([[0]] * 10, ["ill"] * 5 + ["well"] * 5)
        >>> clf.predict_proba([[0]], base_rates={"ill": 0.1, "well": 0.9})
        array([[0.1, 0.9]])
        """
        return self._adjusted(X, base_rates)

    def predict_log_proba(self, X: Any, *, base_rates: Any = None) -> Floats:
        """Predict the logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.
        base_rates : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Log probabilities in the order of `classes_`; minus infinity for a probability of 0.
        """
        with np.errstate(divide="ignore"):
            logarithm: Floats = np.log(self.predict_proba(X, base_rates=base_rates))
        return logarithm

    @accepts_source
    def predict(self, X: Any, *, base_rates: Any = None, costs: Any = None) -> NDArray[Any]:
        """Predict the class of each row: the most probable one, or with costs the one of least expected cost.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.
        base_rates : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, instead of the estimator's.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels. Probabilities are multiplied by the class weights; a tie goes to the first of `classes_`.
        """
        if base_rates is None and costs is None:
            codes = self._codes(X)  # first: it checks that the estimator is fitted
            return self.classes_[codes]
        probability, rule = self._adjusted(X, base_rates), self._decision
        if costs is not None:
            rule = self._rule(costs, len(probability))
        return self.classes_[rule(probability)]

    @serialised
    def set_costs(self, costs: Any) -> Self:
        """Replace the costs of a fitted classifier; splits and probabilities do not change.

        Parameters
        ----------
        costs : array-like of shape (n_classes, n_classes), mapping or None
            As the parameter of the estimator.

        Returns
        -------
        estimator
            Itself; `predict`, exports, reports and files use the new costs.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier(smoothing="laplace").fit([[0.0], [1.0]] * 4, ["ill", "well"] * 4)
        >>> clf.predict([[1.0]]).tolist(), clf.set_costs({("ill", "well"): 20}).predict([[1.0]]).tolist()
        (['well'], ['ill'])
        """
        _ = self._schema  # checks that the estimator is fitted
        self._decide_by(self._rule(costs))
        self.costs = costs
        return self

    @accepts_source
    def expected_cost(self, X: Any, *, base_rates: Any = None, costs: Any = None) -> Floats:
        """Compute the expected cost of predicting each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.
        base_rates : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, instead of the estimator's. Without any costs every error
            costs 1.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Expected costs in the order of `classes_`. Without class weights the smallest of a row is that of the class
            `predict` returns.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier(smoothing="laplace", costs={("ill", "well"): 20})
        >>> clf.fit([[36.6], [36.8], [39.0], [39.5]], ["well", "well", "ill", "ill"]).classes_.tolist()
        ['ill', 'well']
        >>> clf.predict_proba([[36.7]]), clf.expected_cost([[36.7]])
        (array([[0.25, 0.75]]), array([[0.75, 5.  ]]))
        >>> clf.predict([[36.7]]).tolist()
        ['ill']
        """
        probability = self._adjusted(X, base_rates)
        costs = self._decision.costs if costs is None else costs
        return Costs.of(costs, self.classes_.tolist(), len(probability)).expected(probability)

    def _probabilities(self, X: Any) -> Floats:
        """Predict the probabilities of rows in memory."""
        raise NotImplementedError

    @property
    def _trained_rates(self) -> Floats:
        """Share of each class among the rows of training."""
        raise NotImplementedError

    @property
    def _decision(self) -> DecisionRule:
        """The rule from probabilities to the predicted class, by costs and class weights."""
        return self._rule(self.costs)

    def _decide_by(self, rule: DecisionRule) -> None:
        """Change a fitted model that holds its decision rule."""

    def _decided(self, X: Any) -> tuple[NDArray[np.intp], Floats]:
        """Return the codes of the predicted classes, and the probabilities."""
        probability = self._probabilities(X)
        return self._decision(probability), probability

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return self._decided(X)[0]

    def _adjusted(self, X: Any, base_rates: Any) -> Floats:
        probability = self._probabilities(X)
        return probability if base_rates is None else adjust_to_rates(probability, self._factors(base_rates))

    def _factors(self, base_rates: Any) -> Floats:
        """Ratio of new to old base rate of each class."""
        return rate_factors(base_rates, self._trained_rates, self.classes_.tolist())

    def _rule(self, costs: Any, n_rows: int | None = None) -> DecisionRule:
        return DecisionRule.of(costs, getattr(self, "class_weight_", None), self.classes_.tolist(), n_rows)
