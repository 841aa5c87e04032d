"""`RuleClassifier`: an ordered list of rules as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from hornbeam.checks import check_flags
from hornbeam.data.rows import require_in_memory
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.errors import ParameterError, shown, warn
from hornbeam.estimators.inputs.fit_warnings import warn_about_columns
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.classifier import ClassifierMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.predict_to import EstimatorColumns, PredictsTo
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.parameters.recipes import tree_fitter
from hornbeam.estimators.parameters.validators import has_own_teacher, number, resolve_seed
from hornbeam.estimators.tree_classifier import TreeClassifier
from hornbeam.rules.extract import extract
from hornbeam.rules.rule_set import RuleSet, decided_by
from hornbeam.tree.decision import Costs, DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path_tests
from hornbeam.typing import Floats, Indices

if TYPE_CHECKING:
    from hornbeam.out_of_core.predict import Predictions
    from hornbeam.rules.fired import FiredRules

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
        The rules in order: print them, or convert them with `to_frame`, `to_json` and so on.
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
    TreeClassifier.rules : all leaves of a tree as rules; its result has the single steps.

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
    >>> iris = load_iris(as_frame=True)
    >>> clf = RuleClassifier().fit(iris.data, iris.target_names[iris.target])
    >>> clf.rules_
    RuleSet(4 rules, 6 conditions, default 'setosa')
    >>> print(clf.rules_)
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
            own = None
            if has_own_teacher(estimator):
                from hornbeam.estimators.methods.teacher import Teacher  # imports ensembles, which are slow

                own = Teacher.of(estimator, table, X, y, sample_weight, groups)
            tree = tree_fitter(estimator, table, own_teacher=own).fit(table, n_jobs=n_threads(self.n_jobs))
        assert tree is not None
        _warn_about_long_paths(tree)
        decision = DecisionRule.of(self.costs, None, table.schema.classes)
        most_probable = with_decision(tree, DecisionRule())
        confidence, alpha = number("confidence", self.confidence, 0.25), number("alpha", self.alpha, 1.0)
        rules = extract(most_probable, merge=False).simplify(table, None, confidence=confidence)
        rules = rules.choose(table, None, alpha=alpha, random_state=resolve_seed(self.random_state))
        self._set_fitted(decided_by(rules, decision), table.names)
        self.source_tree_ = tree
        self.classes_ = labels.all_classes(table.schema.classes)
        self.n_classes_ = len(self.classes_)
        return self

    def _probabilities(self, X: Any) -> Floats:
        table = self._read(X)
        return self.rules_.predict_proba(table)

    @property
    def _trained_rates(self) -> Floats:
        covered = self.rules_.default.covered
        return covered / covered.sum()

    def _codes(self, X: Any) -> NDArray[np.intp]:
        position = self.apply(X)  # first: it checks that the estimator is fitted
        codes: NDArray[np.intp] = np.array([rule.code for rule in self.rules_.listed])[position]
        return codes

    def _decided(self, X: Any) -> tuple[NDArray[np.intp], Floats]:
        return self._codes(X), self._probabilities(X)

    def _decide_by(self, rule: DecisionRule) -> None:
        # The default decision rule would leave the classes as they are.
        costs = Costs.of(None, self.classes_) if rule.is_default else rule.costs
        self.rules_ = decided_by(self.rules_, DecisionRule(costs))

    @accepts_source
    def predict_interval(self, X: Any, *, level: float = 0.9) -> tuple[Floats, Floats]:
        """Compute an interval for each probability of `predict_proba`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.
        level : float, default=0.9
            Probability with which an interval is to contain the true rate among the rows that the rule decides.

        Returns
        -------
        low, high : ndarrays of shape (n_rows, n_classes)
            Bounds of each probability.
        """
        table = self._read(X)
        decided = self.rules_.apply(table)
        bounds = [rule.interval(level=level) for rule in self.rules_.listed]
        low, high = (np.stack(side)[decided] for side in zip(*bounds, strict=True))
        return low, high

    @accepts_source
    def apply(self, X: Any) -> Indices:
        """Find the rule that decides each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            Position of the rule in `rules_`; the number of rules where the default decides.
        """
        table = self._read(X)
        return self.rules_.apply(table)

    def rules(self) -> RuleSet:
        """Return the rules in order, as `TreeClassifier.rules` does for a tree.

        Returns
        -------
        RuleSet
            `rules_`: print them, or convert them with `to_frame`, `to_dict`, `to_text` or `to_sql`.

        Examples
        --------
        >>> from hornbeam import RuleClassifier
        >>> clf = RuleClassifier().fit([[36.6], [36.8], [39.0], [39.5]] * 5, ["well", "well", "ill", "ill"] * 5)
        >>> [str(rule) for rule in clf.rules()]
        ['if x0 > 36.8 then ill 0.923', 'if x0 ≤ 36.8 then well 0.923']
        """
        check_is_fitted(self, "rules_")
        return self.rules_

    def explain(self, X: Any) -> FiredRules:
        """Explain the prediction of each row: the rule that decided it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        FiredRules
            A table with a rule per row: print it, or convert it with `to_frame` or `to_dict`.

        Examples
        --------
        >>> from hornbeam import RuleClassifier
        >>> clf = RuleClassifier().fit([[36.6], [36.8], [39.0], [39.5]] * 5, ["well", "well", "ill", "ill"] * 5)
        >>> clf.explain([[38.9]])
        row 0: rule 1: if x0 > 36.8 then ill 0.923
        """
        table = self._read(X)
        from hornbeam.rules.fired import FiredRules

        return FiredRules(self.rules_, self.rules_.apply(table))._from_rows(X)

    def predict_to(
        self,
        X: Any,
        path: str | PathLike[str],
        *,
        keep: Sequence[str] = (),
        level: float | None = None,
        rule: bool = False,
        engine: Any = None,
    ) -> Predictions:
        """Predict the rows of files and write the predictions to a folder of Parquet files.

        Parameters
        ----------
        X : path, paths or Source, or array-like or data frame of shape (n_rows, n_features)
            The rows. Of files, only the columns that the rules use are read, one row group at a time.
        path : str or path
            The folder; created if it does not exist. It has one file for each row group of X, in the same order.
        keep : sequence of str, default=()
            Columns of the files to copy beside the predictions, an identifier for example.
        level : float, default=None
            Add the bounds of intervals of this level: ``low_<class>`` and ``high_<class>``.
        rule : bool, default=False
            Add ``rule``, the position of the rule that decided the row, as from `apply`.
        engine : Engine, default=None
            What reads, predicts and writes; None: `n_jobs` threads.

        Returns
        -------
        Predictions
            The files and the number of rows.

        Raises
        ------
        StorageError
            If the folder has predictions of another model, of other rows or with other columns, or other Parquet files.

        See Also
        --------
        TreeClassifier.predict_to : what is written, and how an interrupted call continues.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> from hornbeam import RuleClassifier
        >>> rows = pd.DataFrame({"heat": [36.6, 36.8, 39.0, 39.5] * 5})
        >>> clf = RuleClassifier().fit(rows, ["well", "well", "ill", "ill"] * 5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = clf.predict_to(rows[:2], folder, rule=True)
        ...     pd.read_parquet(folder)["rule"].tolist()
        [1, 1]
        """
        _ = self._schema  # checks that the estimator is fitted
        check_flags(rule=rule)
        return self._write(X, path, EstimatorColumns.of(self, {"level": level, "rule": rule}), keep, engine)

    def _more_columns(self, table: Table, *, level: float | None, rule: bool) -> dict[str, Any]:
        """Return the columns that the options of `predict_to` add."""
        columns: dict[str, Any] = {}
        if level is not None:
            sides = zip(("low", "high"), self.predict_interval(table, level=level), strict=True)
            bounds = dict(sides)
            for code, label in enumerate(self.classes_.tolist()):
                columns |= {f"{side}_{label}": bounds[side][:, code] for side in ("low", "high")}
        return columns | ({"rule": self.apply(table)} if rule else {})


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
