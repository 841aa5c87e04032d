"""`AdaBoostClassifier`: AdaBoost over trees of any preset, as a scikit-learn estimator."""

from collections.abc import Iterator
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.groups import split_group_column
from hornbeam.data.rows import require_in_memory
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.ensembles.adaboost import VotingTrees, probabilities
from hornbeam.estimators.inputs.fit_warnings import warn_about_columns
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.classifier import ClassifierMethods
from hornbeam.estimators.methods.ensemble_methods import EnsembleMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.parameters.fields import AdaBoostParameters
from hornbeam.estimators.parameters.forest import adaboost_trainer
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.typing import Floats


class AdaBoostClassifier(CallbackSupportMixin, EnsembleMethods, ClassifierMethods, AdaBoostParameters):
    """AdaBoost: small trees that vote, each grown on rows whose weights rise where the trees before it are wrong.

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed. For two
    classes it is AdaBoost.M1, for more classes SAMME: the algorithm of scikit-learn's ``AdaBoostClassifier``.

    Parameters
    ----------
    n_estimators : int, default=50
        Maximum number of trees. Fewer are grown if one makes no error, or is no better than a guess.
    preset : {"cart", "c4.5", "c4.4", "id3", "default"}, default="cart"
        The trees: splits, missing values and pruning as in `TreeClassifier` with this preset, without smoothing.
    max_depth : int or None, default=1
        Maximum depth of each tree; 1 is a stump, None no limit.
    criterion : {"auto", "entropy", "gini", "gain_ratio"}, default="auto"
        How to compare splits. "auto": as the preset.
    nominal_split : {"auto", "subset", "multiway"}, default="auto"
        How to split a nominal feature: two children for the best subset, or one child per category. "auto": as the
        preset.
    missing : {"auto", "own", "learned", "fractional"}, default="auto"
        Where rows with a missing value go: to a child of their own, to the better child, or to every child in
        proportion. "auto": as the preset.
    min_samples_split : int or float, default=2
        Least number of different rows of a node to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Least number of different rows of each child; between 0 and 1, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight of each child.
    min_impurity_decrease : float, default=0.0
        Least gain of a split, times the node's share of the total weight.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of each tree, grown best first.
    max_bins : int, None or "auto", default="auto"
        Quantile bins per numeric feature, shared by all trees; None: every distinct value. "auto": as the preset.
    learning_rate : float, default=1.0
        Factor of the weight of each tree.
    resample : bool, default=False
        Whether each tree is grown on as many rows drawn with the weights as probabilities, or on all rows with the
        weights.
    smoothing : str, a smoother or None, default="auto"
        How each tree estimates the probabilities that its votes are decided by: a name that `TreeClassifier` accepts,
        except "cross-fitted", or a smoother of `hornbeam.smoothing`. "auto" or None: raw frequencies.
    monotonic_cst : array-like of int, dict or None, default=None
        For two classes, the sign of each feature's effect on the probability of the second class: 1 (increasing), -1
        (decreasing) or 0 (free); or a dict by feature name.
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        Cost of each kind of error, as in `TreeClassifier`. `predict` returns the class of least expected cost; trees
        and probabilities do not change.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of `resample`. None means 0: the same rows always give the same trees.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The trees and their predictions do not depend on it.

    Attributes
    ----------
    voting_ : VotingTrees
        The fitted trees as data.
    estimator_weights_ : ndarray of shape (n_trees,)
        Weight of each tree in the vote, ``log((1 - e) / e) + log(n_classes - 1)`` for the error e, times
        `learning_rate`. For two classes that is twice the alpha of most textbooks.
    estimator_errors_ : ndarray of shape (n_trees,)
        Share of the weight of the training rows on which each tree was wrong, when it was grown.
    training_error_bound_ : ndarray of shape (n_trees,)
        Upper bound of the training error after each tree: the product of the factors Z, by which the weights of the
        rows are divided in each round.
    n_iter_ : int
        Number of trees.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    Notes
    -----
    The same rows give the same trees, bit for bit, in any order and on any number of threads. A row of weight 2 is the
    same as two rows.

    Probabilities are those of scikit-learn: the softmax of the mean votes. They order rows by the votes, and are far
    from 0 and 1; `BoostedTreesClassifier` and `ForestClassifier` estimate probabilities.

    If the first tree is no better than a guess, it is the only one.

    References
    ----------
    Freund and Schapire (1997) :cite:p:`freund1997`; more than two classes: Zhu, Zou, Rosset and Hastie (2009)
    :cite:p:`zhu2009`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaBoostClassifier(20).fit(X[::2], y[::2])
    >>> clf.predict(X[1:4:2]), round(clf.score(X[1::2], y[1::2]), 2)
    (array([0, 0]), 0.94)
    """

    _fitted = "voting_"
    voting_: VotingTrees

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Grow the trees, one after the other.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, strings or categories, with missing values in any form.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights: a row of weight 2 counts as two rows.
        groups : array-like of shape (n_rows,) or str, default=None
            Rows that belong together. No rows are held out, so the trees do not depend on them; a name is that of a
            column of a data frame, which is then no feature.

        Returns
        -------
        AdaBoostClassifier
            Itself, fitted.
        """
        require_in_memory(X, type(self).__name__)
        X, groups = split_group_column(X, groups)
        with Progress(self, X, y, sample_weight) as progress:
            labels = read_classes(self, y)
            table = Table.read(X, labels, sample_weight=sample_weight, groups=groups)
            DecisionRule.of(self.costs, None, labels.classes.tolist())  # wrong costs raise an error here
            trainer, threads = adaboost_trainer(self, table), n_threads(self.n_jobs)
            warn_about_columns(table)
            voting = trainer.fit(table, n_jobs=threads, on_progress=progress.listener(trainer.n_trees))
            self._set_fitted(voting, table.names)
            self.classes_ = labels.classes
            self.n_classes_ = len(labels.classes)
        return self

    @property
    def estimator_weights_(self) -> Floats:
        """Weight of each tree in the vote."""
        check_is_fitted(self, "voting_")
        return self.voting_.weights

    @property
    def estimator_errors_(self) -> Floats:
        """Weighted training error of each tree."""
        check_is_fitted(self, "voting_")
        return self.voting_.errors

    @property
    def training_error_bound_(self) -> Floats:
        """Upper bound of the training error after each tree."""
        check_is_fitted(self, "voting_")
        return self.voting_.training_error_bound

    @property
    def n_iter_(self) -> int:
        """Number of trees."""
        check_is_fitted(self, "voting_")
        return len(self.voting_.trees)

    @accepts_source
    def decision_function(self, X: Any) -> Floats:
        """Compute the mean vote of the trees for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            As in scikit-learn: for two classes, from -2 (all trees vote for the first) to 2; else for each class the
            mean of 1 for each vote for it, and -1 / (n_classes - 1) for each other vote.
        """
        shares, others = self._shares(X), max(self.n_classes_ - 1, 1)
        votes: Floats = shares - (1 - shares) / others
        return votes[:, 1] - votes[:, 0] if self.n_classes_ == 2 else votes

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predict the class of each row by the first tree, the first two, and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        iterator of ndarray of shape (n_rows,)
            As from `predict`.

        Examples
        --------
        >>> from hornbeam import AdaBoostClassifier
        >>> X, y = [[0], [1], [2], [3]], [0, 1, 0, 0]
        >>> [predicted.tolist() for predicted in AdaBoostClassifier(3).fit(X, y).staged_predict(X)]
        [[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]]
        """
        return (self.classes_[self._decision(one)] for one in self.staged_predict_proba(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Predict the class probabilities of each row by the first tree, the first two, and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        iterator of ndarray of shape (n_rows, n_classes)
            As from `predict_proba`.
        """
        table = self._read(X)
        return map(probabilities, self.voting_.staged_shares(table, n_jobs=self.n_jobs))

    def _shares(self, X: Any) -> Floats:
        table = self._read(X)
        return self.voting_.shares(table, n_jobs=self.n_jobs)

    def _probabilities(self, X: Any) -> Floats:
        return probabilities(self._shares(X))

    @property
    def _trained_rates(self) -> Floats:
        check_is_fitted(self, "voting_")
        return base_rate(self.voting_.trees[0])
