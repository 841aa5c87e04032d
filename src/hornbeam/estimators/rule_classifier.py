"""`RuleClassifier`: an ordered list of rules as a scikit-learn estimator."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from hornbeam.data.rows import require_in_memory
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError, shown, warn
from hornbeam.estimators.inputs.fit_warnings import warn_about_columns
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.estimator import ClassifierMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.predict_to import PredictsTo
from hornbeam.estimators.parameters.recipes import tree_fitter
from hornbeam.estimators.parameters.validators import n_threads, number, resolve_seed
from hornbeam.estimators.tree_classifier import TreeClassifier
from hornbeam.rules import RuleSet, choose_rules, extract, simplify
from hornbeam.tree.decision import Costs, DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path_tests
from hornbeam.typing import Floats, Indices

_MANY_CONDITIONS = 30_000


class RuleClassifier(PredictsTo, ClassifierMethods):
    """A short ordered list of rules, made from a tree as in C4.5rules; the first rule that applies decides.

    Each leaf becomes a rule. Conditions that do not lower the expected error are dropped, for each class the subset of
    rules with the shortest description is kept, and the rules are ordered by their errors. Probabilities are smoothed.

    Parameters
    ----------
    estimator : TreeClassifier, FrozenEstimator or Tree, default=None
        The tree to make rules from. A `TreeClassifier` is grown on the rows of `fit`; None is
        ``TreeClassifier("c4.5", pruning="collapse")``, C4.5's tree before pruning. A fitted one inside a
        `sklearn.frozen.FrozenEstimator`, or a `Tree`, is used as it is.
    confidence : float, default=0.25
        Confidence level of the pessimistic error estimate, as in C4.5; smaller values drop more conditions.
    alpha : float, default=1.0
        Strength of smoothing: the pseudo-count that a rule borrows from each wider set of rows. These are all rows that
        satisfy its conditions, those that satisfy all but one, and so on, to all rows.
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        Cost of each kind of error, as in `TreeClassifier`. `predict` returns the class of least expected cost; rules
        and probabilities do not change.
    random_state : int, RandomState instance or None, default=None
        Seed of the search for the best subset of rules. None means 0: the same rows always give the same rules. It has
        an effect only if a class has more than ten rules.
    n_jobs : int, default=None
        Number of threads that grow the tree; -1 for all cores. The rules do not depend on it.

    Attributes
    ----------
    rules_ : RuleSet
        The rules in order; `hornbeam.export.rules_text` formats them.
    source_tree_ : Tree
        The tree that the rules were made from. Its predictions are not those of the rules.
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
    hornbeam.rules : the single steps.
    TreeClassifier.rules : all leaves of a tree as rules.

    Notes
    -----
    A missing value satisfies a condition only if the tree sends it to the same child (`missing` of `TreeClassifier`).
    If it goes to every child, as in ``c4.5``, it satisfies no condition. Nor does an unseen category.

    References
    ----------
    Quinlan (1993), chapter 5 :cite:p:`quinlan1993`; Quinlan (1995) :cite:p:`quinlan1995`.

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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Grow a tree unless one is given, and make rules from it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, strings or categories, with missing values in any form.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights: a row of weight 2 counts as two rows.
        groups : array-like of shape (n_rows,) or str, default=None
            Rows that belong together, such as the visits of a patient: they are held out together. Or the name of
            their column in a data frame, which is then no feature. "copies": equal rows are a group.

        Returns
        -------
        RuleClassifier
            Itself, fitted.
        """
        require_in_memory(X, type(self).__name__)
        estimator, tree = _estimator_or_tree(self.estimator)
        labels = read_classes(self, y)
        table = Table.read(
            X,
            labels,
            sample_weight=sample_weight,
            class_weight=None if estimator is None else estimator.class_weight,
            groups=groups,
            schema=None if tree is None else tree.schema,
        )
        if estimator is not None:
            warn_about_columns(table)
            tree = tree_fitter(estimator, table).fit(table, n_jobs=n_threads(self.n_jobs))
        assert tree is not None
        _warn_about_long_paths(tree)
        decision = DecisionRule.of(self.costs, None, table.schema.classes)
        most_probable = with_decision(tree, DecisionRule())
        confidence, alpha = number("confidence", self.confidence, 0.25), number("alpha", self.alpha, 1.0)
        rules = simplify(extract(most_probable, merge=False), table, confidence=confidence)
        chosen = choose_rules(rules, table, alpha=alpha, seed=resolve_seed(self.random_state))
        self._set_fitted(chosen.with_decision(decision), table.names)
        self.source_tree_ = tree
        self.classes_ = labels.all_classes(table.schema.classes)
        self.n_classes_ = len(self.classes_)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities: those of the first rule that applies.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        table = self._read(X)
        return self.rules_.predict(table)

    def predict(self, X: Any, *, costs: Any = None) -> NDArray[Any]:
        """Predict the class of the first rule that applies; with costs, the class of least expected cost.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, instead of the estimator's.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.
        """
        table = self._read(X)
        if costs is None:
            codes = self._codes(table)
        else:
            probability = self.rules_.predict(table)
            codes = Costs.of(costs, self.classes_.tolist(), len(probability)).cheapest(probability)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _codes(self, table: Table) -> NDArray[np.intp]:
        targets = np.array([rule.target for rule in (*self.rules_, self.rules_.default)])
        codes: NDArray[np.intp] = targets[self.rules_.decide(table)]
        return codes

    def _decided(self, table: Table) -> tuple[NDArray[np.intp], Floats]:
        return self._codes(table), self.rules_.predict(table)

    def predict_interval(self, X: Any, *, level: float = 0.9) -> tuple[Floats, Floats]:
        """Compute an interval for each probability of `predict_proba`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.
        level : float, default=0.9
            Probability with which an interval is to contain the true rate among the rows that the rule decides.

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
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            Position of the rule in `rules_`; the number of rules where the default decides.
        """
        table = self._read(X)
        return self.rules_.decide(table)


def _warn_about_long_paths(tree: Tree) -> None:
    """Warn before making rules from a tree for which that takes minutes."""
    n_conditions = path_tests(tree.skeleton)
    if n_conditions > _MANY_CONDITIONS:
        warn(
            f"The paths to the {tree.n_leaves:,} leaves of the tree have {n_conditions:,} tests together, and each "
            "rule is tried without each of its tests: this may take minutes. Grow a smaller tree, with max_depth, "
            "min_samples_leaf or pruning."
        )


def _estimator_or_tree(estimator: Any) -> tuple[TreeClassifier | None, Tree | None]:
    """Return the estimator that grows the tree, or the tree itself."""
    if estimator is None:
        return TreeClassifier("c4.5", pruning="collapse"), None
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
