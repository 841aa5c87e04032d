"""Boosted trees for classes in scikit-learn's manners."""

from typing import Any, Self

from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.losses import BinaryLogLoss, Loss, SoftmaxLoss
from hornbeam.estimators.inputs.sources import accepts_source, in_memory
from hornbeam.estimators.inputs.targets import read_classes
from hornbeam.estimators.methods.boosting_methods import BoostingMethods
from hornbeam.estimators.methods.estimator import ClassifierMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.typing import Floats

__all__ = ["BoostedTreesClassifier"]


class BoostedTreesClassifier(CallbackSupportMixin, BoostingMethods, ClassifierMethods):
    """Gradient boosted trees with class probabilities, for numeric and nominal features with missing values.

    Parameters
    ----------
    learning_rate : float, default=0.1
        The part of each Newton step that is taken.
    n_estimators : int, default=100
        Rounds at most, each of one tree, or with more than two classes of one for each.
    max_leaf_nodes : int or None, default=31
        Leaves of each tree at most, best first; None for no limit.
    max_depth : int or None, default=None
        Tests on a path at most.
    min_samples_leaf : int, default=20
        Rows each child of a split must hold; a row of weight 2 is two rows, where weights are whole.
    l2_regularization : float, default=0.0
        Added to the hessians of every node: leaves of few rows answer less.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Features a node looks at, drawn anew for each node: so many, or such a share of all; None for all. It looks
        at more while none of them offers a split.
    subsample : float, default=1.0
        Share of the rows each round is grown on, drawn without replacement.
    max_bins : int, default=255
        Quantile bins for each numeric feature, shared by all trees.
    monotonic_cst : array-like of int, dict or None, default=None
        For two classes: +1 where the second class's probability must not fall as the feature rises, -1 where it must
        not rise, 0 elsewhere; or a dict from feature names.
    early_stopping : "auto" or bool, default="auto"
        Whether to hold rows out and stop when trees no longer help them; "auto": with more than 10,000 rows.
    validation_fraction : float, default=0.1
        Share of the rows that is held out, the same of every class.
    n_iter_no_change : int, default=10
        Rounds to wait for a smaller loss of the rows held out.
    tol : float, default=1e-7
        By how much it must be smaller.
    random_state : int, RandomState instance or None, default=None
        Another number, other draws. None is 0: the same rows give the same trees.
    n_jobs : int, default=None
        Threads; -1 for all cores. Neither the trees nor their answers depend on them.

    Attributes
    ----------
    boosted_ : Boosted
        The fitted trees as data.
    n_iter_ : int
        Rounds that were kept.
    validation_losses_ : ndarray of shape (n_rounds + 1,)
        Log loss of the rows held out, before the first round and after each; with early stopping.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Notes
    -----
    The same rows give the same trees, bit for bit, in any order and on any number of threads: gradients are added up
    as integers, and every draw depends on the seed, the round, and the row or node alone. A row of weight 2 is a row
    given twice, unless rows are drawn. Missing values go the way that lowers the loss more; where a node has seen
    none, a row that lacks the value stops and is answered by that node, and so is one of a category it has not seen.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import BoostedTreesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = BoostedTreesClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> clf.predict(X[1:4:2]), round(clf.score(X[1::2], y[1::2]), 2)
    (array([0, 1]), 0.9)
    """

    def __init__(
        self,
        *,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: Any = None,
        subsample: float = 1.0,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost the trees.

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
        BoostedTreesClassifier
            Itself, fitted.
        """
        in_memory(self, X)
        with Progress(self, X, y, sample_weight) as progress:
            labels = read_classes(self, y)
            table = Table.read(X, labels, sample_weight=sample_weight)
            self._boost(table, _loss(len(labels.classes)), progress)
            self.classes_ = labels.classes
            self.n_classes_ = len(labels.classes)
        return self

    @accepts_source
    def decision_function(self, X: Any) -> Floats:
        """Add up the scores of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Of two classes the logarithm of the odds of the second; else a score for each.
        """
        scores = self._scores(X)
        return scores[0] if self.n_classes_ == 2 else scores.T

    @accepts_source
    def predict_proba(self, X: Any) -> Floats:
        """Estimate class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        scores = self._scores(X)
        return _loss(self.n_classes_).predict(scores)

    @accepts_source
    def predict(self, X: Any) -> NDArray[Any]:
        """Name the most probable class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels; on a tie, the first of `classes_`.
        """
        scores = self._scores(X)
        best = (scores[0] > 0).astype(int) if self.n_classes_ == 2 else scores.argmax(axis=0)
        named: NDArray[Any] = self.classes_[best]
        return named


def _loss(n_classes: int) -> Loss:
    return BinaryLogLoss() if n_classes == 2 else SoftmaxLoss(n_classes)
