"""A list of rules in scikit-learn's manners."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError, shown
from hornbeam.estimators.inputs.fit_warnings import warn, warn_of_columns
from hornbeam.estimators.inputs.sources import in_memory
from hornbeam.estimators.inputs.targets import read_classes
from hornbeam.estimators.methods.estimator import ClassifierMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.reads_rows import ReadsRows
from hornbeam.estimators.parameters.recipes import classification_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.estimators.parameters.validators import number, seed_of
from hornbeam.estimators.tree_classifier import TreeClassifier
from hornbeam.rules import RuleSet, choose_rules, extract, simplify
from hornbeam.tree.decision.costs import Costs
from hornbeam.tree.decision.rule import DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path_tests
from hornbeam.typing import Floats, Indices

__all__ = ["RuleClassifier"]

_MANY_TESTS = 30_000


class RuleClassifier(ReadsRows, ClassifierMethods):
    """A short list of rules made from a tree, of which the first that fires decides, as C4.5rules makes it.

    Each leaf is a rule. Conditions that a rule is better off without are dropped, of each class the rules are
    kept that are worth their length, and they are put in order, those first that are wrong about the fewest
    rows. Probabilities are smoothed.

    Parameters
    ----------
    estimator : TreeClassifier, FrozenEstimator or Tree, default=None
        What the rules are made from. A `TreeClassifier` is grown on the rows of `fit`; None is
        ``TreeClassifier("c4.5")``. A fitted one inside a `sklearn.frozen.FrozenEstimator`, or a `Tree`, stays
        as it is.
    confidence : float, default=0.25
        The smaller, the more errors are expected of rules for few rows, and the more conditions go.
    alpha : float, default=1.0
        Rows that each wider circle lends to a rule: all rows that meet its conditions, those that meet all
        but one, and so on, to all rows.
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        What it costs to predict one class where another is true, as in `TreeClassifier`. `predict` gives the
        answer of least expected cost; rules and probabilities are not touched.
    random_state : int, RandomState instance or None, default=None
        Where a class has more than ten rules, other starts of the search for the best of them.
    n_jobs : int, default=None
        Threads that grow the tree; -1 for all cores. Nothing depends on them.

    Attributes
    ----------
    rules_ : RuleSet
        The list; `hornbeam.export.rules_text` writes it for people.
    tree_ : Tree
        The tree it was made from.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    See Also
    --------
    hornbeam.rules : the steps.
    TreeClassifier.rules : the leaves of a tree as rules, all of them.

    Notes
    -----
    A missing value meets a condition only where the tree sends it the same way (`missing` of `TreeClassifier`);
    where it goes to every child, as in ``c4.5``, it meets none. A category never seen meets none either.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import RuleClassifier
    >>> from hornbeam.export import rules_text
    >>> iris = load_iris(as_frame=True)
    >>> clf = RuleClassifier().fit(iris.data, iris.target_names[iris.target])
    >>> clf.rules_
    RuleSet(4 rules, 6 conditions, default 'setosa')
    >>> print(rules_text(clf.rules_))
    1. if petal width (cm) ≤ 0.6
       then setosa, 0.975 (0.915 to 0.998); covers 50 rows, 0 wrong; decides 50
    2. if petal length (cm) ≤ 4.9 and 0.6 < petal width (cm) ≤ 1.7
       then versicolor, 0.944 (0.868 to 0.986); covers 48 rows, 1 wrong; decides 48
    3. if petal width (cm) > 1.7
       then virginica, 0.952 (0.877 to 0.990); covers 46 rows, 1 wrong; decides 46
    4. if petal length (cm) > 4.9
       then virginica, 0.625 (0.266 to 0.909); covers 46 rows, 2 wrong; decides 6
    otherwise setosa, 0.333 (0.000 to 1.000); covers 150 rows, 100 wrong; decides 0
    """

    _fitted = "rules_"
    rules_: RuleSet

    def __init__(
        self,
        estimator: Any = None,
        *,
        confidence: float = 0.25,
        alpha: float = 1.0,
        costs: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.alpha = alpha
        self.costs = costs
        self.random_state = random_state
        self.n_jobs = n_jobs

    @exclusive
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow a tree unless there is one, and make rules of it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, strings, categories; missing values in any form.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            A row of weight 2 counts as two rows.

        Returns
        -------
        RuleClassifier
            Itself, fitted.
        """
        in_memory(self, X)
        given, tree = _given(self.estimator)
        labels = read_classes(self, y)
        table = Table.read(
            X,
            labels,
            sample_weight=sample_weight,
            class_weight=None if given is None else given.class_weight,
            schema=None if tree is None else tree.schema,
        )
        if given is not None:
            warn_of_columns(table)
            tree = classification_fitter(given, table).fit(table, n_jobs=n_threads(self.n_jobs))
        assert tree is not None
        _warn_of_long_paths(tree)
        decision = DecisionRule.of(self.costs, None, table.schema.classes)
        most_probable = with_decision(tree, DecisionRule())
        confidence, alpha = number("confidence", self.confidence, 0.25), number("alpha", self.alpha, 1.0)
        rules = simplify(extract(most_probable, merge=False), table, confidence=confidence)
        chosen = choose_rules(rules, table, alpha=alpha, seed=seed_of(self.random_state))
        self._set_fitted(chosen.decided_by(decision), table.names)
        self.tree_ = tree
        self.classes_ = labels.widened(table.schema.classes)
        self.n_classes_ = len(self.classes_)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Estimate class probabilities: what the first rule that fires believes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        table = self._read(X)
        return self.rules_.answer(table)

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Name the class of the first rule that fires; with costs, the one expected to cost least.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, in the place of the estimator's.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.
        """
        table = self._read(X)
        if costs is None:
            named = np.array([rule.target for rule in (*self.rules_, self.rules_.default)])
            codes = named[self.rules_.decide(table)]
        else:
            belief = self.rules_.answer(table)
            codes = Costs.of(costs, self.classes_.tolist(), len(belief)).cheapest(belief)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Floats, Floats]:
        """Say how sure `predict_proba` is.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            How often the true rate among the rows that a rule decides is to be within.

        Returns
        -------
        low, high : ndarrays of shape (n_rows, n_classes)
            Bounds of each probability.
        """
        table = self._read(X)
        decided = self.rules_.decide(table)
        bounds = [rule.interval(level) for rule in (*self.rules_, self.rules_.default)]
        low, high = (np.stack(side)[decided] for side in zip(*bounds, strict=True))
        return low, high

    def apply(self, X: Any) -> Indices:
        """Find the rule that decides each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            Its position in `rules_`; the number of rules where none fires.
        """
        table = self._read(X)
        return self.rules_.decide(table)


def _warn_of_long_paths(tree: Tree) -> None:
    """Warn before rules are made of a tree for which that takes minutes."""
    tests = path_tests(tree.skeleton)
    if tests > _MANY_TESTS:
        warn(
            f"The paths to the {tree.n_leaves:,} leaves of the tree have {tests:,} tests together, and each rule is "
            "tried without each of its tests: this may take minutes. Grow a smaller tree, with max_depth, "
            "min_samples_leaf or pruning."
        )


def _given(estimator: Any) -> tuple[TreeClassifier | None, Tree | None]:
    """What grows a tree, or the tree itself."""
    if estimator is None:
        return TreeClassifier("c4.5"), None
    if isinstance(estimator, TreeClassifier):
        return estimator, None
    inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    tree = inner if isinstance(inner, Tree) else getattr(inner, "tree_", None)
    if isinstance(tree, Tree):
        return None, tree
    raise ParameterError(
        f"estimator={shown(estimator)}: expected a TreeClassifier, a fitted one inside a FrozenEstimator, or a Tree. "
        "Trees of other libraries become one with hornbeam.interop."
    )
