"""A forest of classification trees in scikit-learn's manners."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.table import Table
from hornbeam.estimators.inputs.sources import accepts_source, in_memory
from hornbeam.estimators.inputs.targets import read_classes
from hornbeam.estimators.methods.ensemble_methods import ForestMethods, oob_mask
from hornbeam.estimators.methods.estimator import ClassifierMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.typing import Floats

__all__ = ["ForestClassifier"]


class ForestClassifier(CallbackSupportMixin, ForestMethods, ClassifierMethods):
    """A random forest with class probabilities, for numeric and nominal features with missing values.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees there are.
    criterion : {"entropy", "gini", "gain_ratio", "hellinger"}, default="entropy"
        What a split is worth.
    nominal : {"subset", "multiway"}, default="subset"
        How a nominal feature splits: two children for the best subset, or a child for each category.
    missing : {"own", "learned", "fractional"}, default="own"
        Where rows go whose tested value is missing: to a child of their own, to the better child, or to every
        child in proportion.
    max_depth : int, default=None
        Tests on a path at most.
    min_samples_split : int or float, default=2
        Different rows a node must hold to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Different rows each child of a split must hold; between 0 and 1, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of all weight each child of a split must hold.
    min_impurity_decrease : float, default=0.0
        Gain times the node's share of all weight must reach this.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features a node looks at, drawn anew for each node: so many, or such a share of all; None for all. It looks
        at more while none of them offers a split.
    max_leaf_nodes : int, default=None
        Leaves of each tree at most, best first.
    max_bins : int, None or "auto", default="auto"
        Quantile bins for each numeric feature, shared by all trees; None tries every distinct value. "auto": 255.
    bootstrap : bool, default=True
        Whether each tree sees a sample of the rows, drawn with replacement, or all of them.
    max_samples : int, float or None, default=None
        Rows drawn for each tree, or their share of all; None: as many as there are.
    oob_score : bool, default=False
        Whether to ask each row of the trees that have not seen it, and keep the answers and their accuracy.
    smoothing : str, a smoother or None, default="auto"
        How the trees estimate their probabilities, before these are averaged. "out-of-bag": raw, or with few or many
        rows borrowed from the ancestors, whichever has the least squared error on rows that the trees have not seen;
        then a temperature of the averaged probabilities is chosen by the same rows. None: raw frequencies. Or a name
        that `TreeClassifier` knows, but for "cross-fitted", or a step of `hornbeam.smoothing`. With None or one of these the
        temperature is 1. "auto": "out-of-bag", or None without `bootstrap`.
    class_weight : dict, "balanced" or None, default=None
        What a mistake about each class costs beside the others. It steers the choice of tests, and `predict` names
        the class whose probability times weight is largest; probabilities know nothing of it.
    monotonic_cst : array-like of int, dict or None, default=None
        For two classes: +1 where the second class's probability must not fall as the feature rises, -1 where it must
        not rise, 0 elsewhere; or a dict from feature names.
    random_state : int, RandomState instance or None, default=None
        Another number, another forest. None is 0: the same rows give the same forest.
    n_jobs : int, default=None
        Threads; -1 for all cores. Neither the forest nor its answers depend on them.

    Attributes
    ----------
    forest_ : Forest
        The fitted trees as data.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of every class when `predict` decides.
    smoother_ : Smoother or None
        What smooths the trees: chosen, or given.
    temperature_ : float
        The mean of the trees' probabilities is raised to the power 1 / `temperature_` and scaled to a sum of 1. Below 1
        where the mean is under-confident; 1 unless it was chosen out of bag.
    oob_score_ : float
        Share of the rows, by weight, that the trees which have not seen them name rightly; with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Their probabilities for every row that counts; NaN where every tree has seen the row. With `oob_score`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Notes
    -----
    The same rows give the same forest, bit for bit, in any order and on any number of threads, and a row of weight 2
    is a row given twice. Weights that are not whole are multiplied with how often a row is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import ForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = ForestClassifier(oob_score=True).fit(X, y)
    >>> clf.predict(X[:2]), round(clf.oob_score_, 2)
    (array([0, 0]), 0.95)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "entropy",
        nominal: str = "subset",
        missing: str = "own",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        max_bins: Any = "auto",
        bootstrap: bool = True,
        max_samples: float | None = None,
        oob_score: bool = False,
        smoothing: Any = "auto",
        class_weight: Any = None,
        monotonic_cst: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.max_bins = max_bins
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.smoothing = smoothing
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state
        self.n_jobs = n_jobs

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

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
        ForestClassifier
            Itself, fitted.
        """
        in_memory(self, X)
        with Progress(self, X, y, sample_weight) as progress:
            labels = read_classes(self, y)
            table = Table.read(X, labels, sample_weight=sample_weight, class_weight=self.class_weight)
            result = self._train(table, progress)
            self.classes_ = labels.classes
            self.n_classes_ = len(labels.classes)
            self.class_weight_ = (
                np.ones(self.n_classes_) if table.class_weight is None else table.class_weight
            )
            if result.out_of_bag is not None:
                self._score_out_of_bag(result.out_of_bag, table)
        return self

    @property
    def temperature_(self) -> float:
        """Temperature of the averaged probabilities; 1 leaves them as they are."""
        check_is_fitted(self, "forest_")
        return self.forest_.temperature

    @accepts_source
    def predict_proba(self, X: Any) -> Floats:
        """Estimate class probabilities: the mean of the trees', scaled by the temperature.

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
        return self.forest_.answer(table, n_threads(self.n_jobs))

    @accepts_source
    def predict(self, X: Any) -> NDArray[Any]:
        """Name the most probable class of each row, each class counting by its weight.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels; on a tie, the first of `classes_`.
        """
        table = self._read(X)
        stake = self.forest_.answer(table, n_threads(self.n_jobs)) * self.class_weight_
        named: NDArray[Any] = self.classes_[stake.argmax(axis=1)]
        return named

    def _score_out_of_bag(self, answers: Floats, table: Table) -> None:
        self.oob_decision_function_ = answers
        assert table.target is not None
        heard = oob_mask(answers)
        right = (answers * self.class_weight_)[heard].argmax(axis=1) == table.target[heard]
        weight = None if table.weight is None else table.weight[heard]
        self.oob_score_ = float(np.average(right, weights=weight)) if heard.any() else np.nan
