"""A forest of regression trees in scikit-learn's manners."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.estimators.inputs.sources import accepts_source, in_memory
from hornbeam.estimators.inputs.targets import read_numeric
from hornbeam.estimators.methods.ensemble_methods import ForestMethods, oob_mask
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.typing import Floats

__all__ = ["ForestRegressor"]


class ForestRegressor(CallbackSupportMixin, ForestMethods, RegressorMixin, HornbeamEstimator):
    """A random forest for a number, for numeric and nominal features with missing values.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees there are.
    nominal : {"subset", "multiway"}, default="subset"
        How a nominal feature splits: two children for the best subset, or a child for each category.
    missing : {"own", "learned"}, default="own"
        Where rows go whose tested value is missing: to a child of their own, or to the better child.
    max_depth : int, default=None
        Tests on a path at most.
    min_samples_split : int or float, default=2
        Different rows a node must hold to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Different rows each child of a split must hold; between 0 and 1, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of all weight each child of a split must hold.
    min_impurity_decrease : float, default=0.0
        Decrease of the squared error times the node's share of all weight must reach this.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
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
        Whether to ask each row of the trees that have not seen it, and keep the answers and their R².
    smoothing : str, a smoother or None, default="auto"
        How the trees estimate their means, before these are averaged. "out-of-bag": raw, or with rows that the
        ancestors lend, few or many, whichever has the least squared error on rows that the trees have not seen. None
        or "raw": raw means. Or "m-branch", "shrinkage", or a step of `hornbeam.smoothing` that knows means. "auto":
        "out-of-bag", or None without `bootstrap`.
    monotonic_cst : array-like of int, dict or None, default=None
        +1 where the answer must not fall as the feature rises, -1 where it must not rise, 0 elsewhere; or a dict
        from feature names.
    random_state : int, RandomState instance or None, default=None
        Another number, another forest. None is 0: the same rows give the same forest.
    n_jobs : int, default=None
        Threads; -1 for all cores. Neither the forest nor its answers depend on them.

    Attributes
    ----------
    forest_ : Forest
        The fitted trees as data.
    smoother_ : Smoother or None
        What smooths the trees: chosen, or given.
    oob_score_ : float
        R², by weight, of the answers of trees to rows they have not seen; with `oob_score`.
    oob_prediction_ : ndarray of shape (n_rows,)
        These answers for every row that counts; NaN where every tree has seen the row. With `oob_score`.
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
    >>> from sklearn.datasets import load_diabetes
    >>> from hornbeam import ForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = ForestRegressor(oob_score=True).fit(X, y)
    >>> reg.predict(X[:2]).round(), round(reg.oob_score_, 2)
    (array([188.,  88.]), 0.45)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        nominal: str = "subset",
        missing: str = "own",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        max_bins: Any = "auto",
        bootstrap: bool = True,
        max_samples: float | None = None,
        oob_score: bool = False,
        smoothing: Any = "auto",
        monotonic_cst: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
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
            Numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            A row of weight 2 counts as two rows.

        Returns
        -------
        ForestRegressor
            Itself, fitted.
        """
        in_memory(self, X)
        with Progress(self, X, y, sample_weight) as progress:
            numbers = read_numeric(self, y)
            table = Table.read(X, numbers, sample_weight=sample_weight, target=Kind.NUMERIC)
            result = self._train(table, progress)
            if result.out_of_bag is not None:
                self._score_out_of_bag(result.out_of_bag, table)
        return self

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Answer each row with the mean of the trees' answers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._read(X)
        return self.forest_.answer(table, n_threads(self.n_jobs))[:, 0]

    def _score_out_of_bag(self, answers: Floats, table: Table) -> None:
        assert table.numeric_target is not None
        heard = oob_mask(answers)
        self.oob_prediction_ = answers[:, 0]
        self.oob_score_ = np.nan
        if heard.any():
            weight = None if table.weight is None else table.weight[heard]
            self.oob_score_ = float(
                r2_score(table.numeric_target.values[heard], answers[heard], sample_weight=weight)
            )
