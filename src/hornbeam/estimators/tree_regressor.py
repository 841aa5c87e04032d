"""A regression tree in scikit-learn's manners."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.estimators.inputs.column_warnings import warn_of_columns
from hornbeam.estimators.inputs.sources import accepts_source, is_source_like, read_regression
from hornbeam.estimators.inputs.targets import read_numeric
from hornbeam.estimators.interval_calibration import calibrate_intervals
from hornbeam.estimators.methods import explain_methods, update
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.html_repr import HtmlRepr
from hornbeam.estimators.methods.locks import exclusive, serialised
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.methods.tree_methods import TreeMethods
from hornbeam.estimators.parameters.recipes import regression_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.estimators.parameters.validators import number, size
from hornbeam.explain import predict_interval
from hornbeam.tree.route import predict_rows, row_predictor
from hornbeam.typing import Floats

__all__ = ["TreeRegressor"]


class TreeRegressor(HtmlRepr, CallbackSupportMixin, TreeMethods, RegressorMixin, HornbeamEstimator):
    """One decision tree for a number, for numeric and nominal features with missing values.

    Parameters
    ----------
    preset : {"default", "cart"}, default="default"
        The recipe to start from; every other parameter set to "auto" is what the preset says. ``default``: subset
        splits, missing values to a child of their own, cross-fitted smoothing. ``cart``: subset splits, learned
        direction for missing values, raw means.
    nominal : {"auto", "multiway", "subset"}, default="auto"
        How a nominal feature splits: a child for each category, or two for the best subset.
    missing : {"auto", "own", "learned"}, default="auto"
        Where rows go whose tested value is missing: to a child of their own, or to the better child.
    max_depth : int, default=None
        Tests on a path at most.
    min_samples_split : int or float, default=2
        Rows a node must hold to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows each child of a split must hold; between 0 and 1, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of all weight each child of a split must hold.
    min_impurity_decrease : float, default=0.0
        Decrease of the squared error times the node's share of all weight must reach this.
    max_leaf_nodes : int, default=None
        Leaves at most, best first.
    max_bins : int, None or "auto", default="auto"
        Quantile bins for each numeric feature; None tries every distinct value. "auto": every value up to
        20,000 rows, 255 bins beyond.
    smoothing : str, a smoother or None, default="auto"
        How means are estimated. "cross-fitted" (the preset ``default``): how much to borrow from the nodes above is found on
        rows held out of regrown trees. Or "raw", "m-branch", "shrinkage", or a step of `hornbeam.smoothing`; None for
        raw means.
    pruning : {"auto", "cost-complexity"}, a pruner or None, default="auto"
        What cuts the tree back. "cost-complexity": the smallest tree on CART's path that is within one standard
        error of the best, by squared error in 5-fold cross-validation. Or a step of `hornbeam.pruning`, such as
        ``CostComplexity(alpha)``; None for nothing. "auto": what the preset says; with cross-fitted smoothing, leaves
        that make no difference are cut, and `simplicity` says what that means.
    simplicity : float, default=0.0
        With cross-fitted smoothing, a dial from 0, the most accurate tree, to 1, the smallest one whose squared loss on
        held-out rows is within one standard error of it.
    monotonic_cst : array-like of int, dict or None, default=None
        +1 where the answer must not fall as the feature rises, -1 where it must not rise, 0 elsewhere; or a dict
        from feature names.
    random_state : int, RandomState instance or None, default=None
        Deals the rows to other folds when cross-fitted smoothing asks them. Nothing else is random, and nothing depends
        on the order of rows.
    n_jobs : int, default=None
        Threads; -1 for all cores. The tree does not depend on them.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree as data.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.
    feature_importances_ : ndarray of shape (n_features,)
        What the tests of each feature took of the squared error; they add up to 1.

    Notes
    -----
    The same rows give the same tree, bit for bit, in any order and on any number of threads: targets are added up
    in integer steps (`hornbeam.data.numeric_target`). A category never seen at a node, or a missing value where training
    had none, stops there: the row is answered with that node's mean.

    A node is split only if that reduces the squared error of its rows.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> reg = TreeRegressor("cart").fit([[1], [2], [3], [4]], [1.0, 1.5, 7.0, 8.0])
    >>> reg.predict([[2.4], [9]])
    array([1.5, 8. ])
    """

    _shares = None  # a row of a number is never shared out

    def __init__(
        self,
        preset: str = "default",
        *,
        nominal: Any = "auto",
        missing: Any = "auto",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_bins: Any = "auto",
        smoothing: Any = "auto",
        pruning: Any = "auto",
        simplicity: float = 0.0,
        monotonic_cst: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.preset = preset
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_bins = max_bins
        self.smoothing = smoothing
        self.pruning = pruning
        self.simplicity = simplicity
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state
        self.n_jobs = n_jobs

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, memory: int | None = None) -> Self:
        """Grow, prune and smooth a tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), or path or paths
            Numbers, booleans, strings, categories; missing values in any form. Or Parquet files, folders or patterns,
            whose rows are read into memory.
        y : array-like of shape (n_rows,), or str
            Numbers; of files, the name of their column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows; of files, the name of their column.
        memory : int, default=None
            Bytes that the rows of files may take; more are refused before they are read. None: 2**29.

        Returns
        -------
        TreeRegressor
            Itself, fitted.
        """
        memory = size("memory", memory, "2**30")
        with Progress(self, X, y, sample_weight) as progress:
            if is_source_like(X):
                table = read_regression(X, y, sample_weight, memory, n_threads(self.n_jobs))
            else:
                numbers = read_numeric(self, y)
                table = Table.read(X, numbers, sample_weight=sample_weight, target=Kind.NUMERIC)
            recipe = regression_fitter(self, table)
            warn_of_columns(table)
            listener = progress.listener(table.n_rows)
            self._remember(
                recipe.fit(table, n_jobs=n_threads(self.n_jobs), on_progress=listener), table.names
            )
        return self

    @serialised
    def update(self, X: Any, y: Any, *, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Add rows to the evidence of the tree, whose tests stay as they are.

        Nothing is grown, pruned or tuned: the rows are added up at the nodes they pass, and means are estimated from
        all sums as in `fit`, with the strengths found there.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        y : array-like of shape (n_rows,)
            Numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            In rows, and whole unless the tree was fitted to parts of rows.
        decay : float, default=1.0
            What each row counted so far is worth from now on, above 0; 1 keeps them as they are.

        Returns
        -------
        TreeRegressor
            Itself, with the same skeleton and new evidence in `tree_`.

        Raises
        ------
        DataError
            If the sums have no room left in the steps that `fit` chose: there is some for as many rows again.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> reg = TreeRegressor("cart").fit([[0], [1]], [2.0, 4.0])
        >>> reg.update([[1]], [7.0]).predict([[1]])
        array([5.5])
        >>> reg.update([[1]], [8.0], decay=0.5).predict([[1]])
        array([6.75])
        """
        table = self._read(X, read_numeric(self, y))
        update.update(self, table, sample_weight, number("decay", decay, 1.0))
        return self

    @serialised
    def forget(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Take rows out of the evidence of the tree, whose tests stay as they are.

        The sums are then exactly those of the other rows. What the rows did to the choice of tests, and to the
        strengths of smoothing, stays.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows that came with `fit` or `update`.
        y : array-like of shape (n_rows,)
            The numbers they had.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights they had; what a `decay` has made of them since.

        Returns
        -------
        TreeRegressor
            Itself, with the same skeleton and less evidence in `tree_`.

        Raises
        ------
        DataError
            If what would be left is not the sums of any rows; it names the leaf.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> reg = TreeRegressor().fit([[0], [0], [1], [1]], [1.0, 2.0, 8.0, 9.0])
        >>> before = reg.tree_.digest
        >>> reg.update([[1]], [7.0]).forget([[1]], [7.0]).tree_.digest == before
        True
        """
        table = self._read(X, read_numeric(self, y))
        update.forget(self, table, sample_weight)
        return self

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Answer each row with the mean of the node where it stops.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._read(X)
        return predict_rows(self.tree_, table, n_threads(self.n_jobs))[:, 0]

    @accepts_source
    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Floats, Floats]:
        """Say how sure `predict` is of the mean; single rows lie further apart.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            How often the true mean of the node that answers is to be within.

        Returns
        -------
        low, high : ndarrays of shape (n_rows,)

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> low, high = TreeRegressor("cart").fit([[0]] * 4, [1.0, 2.0, 3.0, 4.0]).predict_interval([[0]])
        >>> low.round(2), high.round(2)
        (array([1.31]), array([3.69]))
        """
        table = self._read(X)
        low, high = predict_interval(self.tree_, table, level, n_jobs=n_threads(self.n_jobs))
        return low[:, 0], high[:, 0]

    calibrate_intervals = calibrate_intervals
    explain = explain_methods.explain
    counterfactuals = explain_methods.counterfactuals
    shap_values = explain_methods.shap_values
    feature_importances_ = property(explain_methods.feature_importances)
    leaves = explain_methods.leaves
    drift = explain_methods.drift

    def row_predictor(self) -> Callable[[Floats | Sequence[float]], tuple[float, ...]]:
        """Return a function from one row of numbers to its mean, with nothing around it.

        Returns
        -------
        callable
            Takes a float64 array or a tuple of numbers (a nominal value as its position in the schema's
            categories) and returns a tuple of one number.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> TreeRegressor("cart").fit([[0.0], [1.0]], [2.0, 4.0]).row_predictor()((1.0,))
        (4.0,)
        """
        check_is_fitted(self, "tree_")
        return row_predictor(self.tree_)
