"""A classification tree in scikit-learn's manners."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.estimators.inputs.class_warning import warn_of_classes
from hornbeam.estimators.inputs.column_warnings import warn_of_columns
from hornbeam.estimators.inputs.sources import accepts_source, fit_source, is_source_like, open_source
from hornbeam.estimators.inputs.targets import read_classes
from hornbeam.estimators.interval_calibration import calibrate_intervals
from hornbeam.estimators.methods import explain_methods, update
from hornbeam.estimators.methods.estimator import ClassifierMethods
from hornbeam.estimators.methods.html_repr import HtmlRepr
from hornbeam.estimators.methods.locks import exclusive, serialised
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.methods.tree_methods import TreeMethods
from hornbeam.estimators.parameters.recipes import classification_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.estimators.parameters.validators import number, size
from hornbeam.tree.decision.base_rate import prior_factors, shift
from hornbeam.tree.decision.costs import Costs
from hornbeam.tree.decision.rule import DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tree.route import predict_rows, row_predictor
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

__all__ = ["TreeClassifier"]


class TreeClassifier(HtmlRepr, CallbackSupportMixin, TreeMethods, ClassifierMethods):
    """One decision tree with class probabilities, for numeric and nominal features with missing values.

    Parameters
    ----------
    preset : {"default", "cart", "c4.5", "c4.4", "id3"}, default="default"
        The recipe to start from; every other parameter set to "auto" is what the preset says. ``default``:
        entropy, subset splits, missing values to a child of their own, cross-fitted smoothing. ``cart``:
        Gini, subset splits, learned direction for missing values. ``c4.5``: gain ratio, multiway splits,
        fractional rows, collapse; ``c4.4``: the same without collapse, with Laplace. ``id3``: entropy,
        multiway splits.
    criterion : {"auto", "entropy", "gain_ratio", "gini", "hellinger"}, default="auto"
        What a split is worth.
    nominal : {"auto", "multiway", "subset"}, default="auto"
        How a nominal feature splits: a child for each category, or two for the best subset.
    missing : {"auto", "own", "learned", "fractional"}, default="auto"
        Where rows go whose tested value is missing: to a child of their own, to the better child, or to every
        child in proportion.
    max_depth : int, default=None
        Tests on a path at most.
    min_samples_split : int or float, default=2
        Rows a node must hold to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows each child of a split must hold; between 0 and 1, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of all weight each child of a split must hold; beside it ``c4.5`` and ``c4.4`` ask for a weight
        of 2.
    min_impurity_decrease : float, default=0.0
        Gain times the node's share of all weight must reach this.
    max_leaf_nodes : int, default=None
        Leaves at most, best first.
    max_bins : int, None or "auto", default="auto"
        Quantile bins for each numeric feature; None tries every distinct value. "auto": every value up to
        20,000 rows, 255 bins beyond.
    smoothing : str, a smoother or None, default="auto"
        How probabilities are estimated. "cross-fitted" (the preset ``default``): how much to borrow from the nodes above
        is found on rows held out of regrown trees. Or "raw", "laplace", "m-estimate", "m-branch", "shrinkage", "hgs",
        "hgs-gradient", "hgs-loo", "hdp", or a step of `hornbeam.smoothing`; None for raw frequencies.
    pruning : str, a pruner or None, default="auto"
        What cuts the tree back: "bayes-risk", "collapse", "cost-complexity", "error-based", "minimum-error", or
        a step of `hornbeam.pruning`, which has parameters; None for nothing. "auto": what the preset says;
        with cross-fitted smoothing, leaves that make no difference are cut, and `simplicity` says what that means.
        "bayes-risk" takes `costs` and the probabilities of `smoothing`. "cost-complexity" takes the smallest
        tree on CART's path that is within one standard error of the best, by squared loss, or by `costs`, in
        5-fold cross-validation.
    simplicity : float, default=0.0
        With cross-fitted smoothing, a dial from 0, the most accurate tree, to 1, the smallest one whose squared loss
        on held-out rows is within one standard error of it.
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        What it costs to predict one class where another is true: ``costs[true][predicted]`` in the order of
        `classes_`, or ``{(true label, predicted label): cost}``, where a pair that is not named costs 1, and 0
        if its labels are the same. Negative costs are benefits. `predict` names the class of least expected
        cost, and so do all exports of the fitted tree; probabilities do not change. None: every mistake costs 1.
    class_weight : dict, "balanced" or None, default=None
        What a mistake about each class costs beside the others. It steers the choice of tests, and `predict`
        names the class whose probability times weight is largest. Evidence, pruning, smoothing and
        probabilities know nothing of it: they are on the base rate of the rows. A class of weight 0 is left
        out.
    monotonic_cst : array-like of int, dict or None, default=None
        For two classes: +1 where the second class's probability must not fall as the feature rises, -1 where
        it must not rise, 0 elsewhere; or a dict from feature names. Smoothed probabilities keep to it too.
    random_state : int, RandomState instance or None, default=None
        Deals the rows to other folds when cross-fitted smoothing or cost-complexity pruning asks them. Nothing else is
        random, and nothing depends on the order of rows.
    n_jobs : int, default=None
        Threads; -1 for all cores. The tree does not depend on them.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree as data.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of every class when `predict` decides.
    decision_ : DecisionRule
        How probabilities become the class that `predict` names. Part of `tree_`, so that exports, reports and files
        decide alike.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Notes
    -----
    The same rows give the same tree, bit for bit, in any order and on any number of threads. A category never
    seen at a node, or a missing value where training had none, stops there: the row is answered with that
    node's probabilities.

    Weights that add up to 1 at most are taken for shares, as boosting hands them out, and count as if they
    added up to the number of rows: otherwise no leaf would reach C4.5's least weight of 2, and smoothing
    would outweigh all data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = TreeClassifier(max_depth=2).fit(X, y)
    >>> clf.predict(X[:2])
    array([0, 0])
    >>> clf.predict_proba(X[:1]).round(3)
    array([[0.981, 0.009, 0.009]])
    """

    def __init__(
        self,
        preset: str = "default",
        *,
        criterion: Any = "auto",
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
        costs: Any = None,
        class_weight: Any = None,
        monotonic_cst: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.preset = preset
        self.criterion = criterion
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
        self.costs = costs
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state
        self.n_jobs = n_jobs

    @exclusive
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        engine: Any = None,
        grow_rows: int | None = None,
        memory: int | None = None,
        cache: Any = None,
    ) -> Self:
        """Grow, prune and smooth a tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), or path, paths or Source
            Numbers, booleans, strings, categories; missing values in any form. Or where rows are that need not
            fit memory: Parquet files, folders or patterns.
        y : array-like of shape (n_rows,), or str
            Class labels; of files, the name of their column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows; of files, the name of their column.
        engine : Engine, default=None
            Where the rows of files are read and counted; None: `n_jobs` threads of this process. The tree does
            not depend on it.
        grow_rows : int, default=None
            Grow on a sample of so many rows, and count all. None: on all rows that fit memory or are at most 20
            million, else on a sample of up to 5 million.
        memory : int, default=None
            Bytes that the rows of files may take in this process before they stay where they are; None: 2**29.
        cache : path or False, default=None
            A folder to keep codes of the rows in, where they do not fit memory; None: a temporary one; False:
            read the files again for each level.

        Returns
        -------
        TreeClassifier
            Itself, fitted.
        """
        grow_rows, memory = size("grow_rows", grow_rows, "1_000_000"), size("memory", memory, "2**30")
        with Progress(self, X, y, sample_weight) as progress:
            if is_source_like(X):
                source = open_source(X, y, sample_weight, self.class_weight, engine)
                listener = progress.listener(source.n_rows)
                fitted = fit_source(self, source, engine, grow_rows, cache, memory, listener)
                self._learn(*fitted)
                return self
            labels = read_classes(self, y)
            table = Table.read(X, labels, sample_weight=sample_weight, class_weight=self.class_weight)
            warn_of_classes(table)
            listener = progress.listener(table.n_rows)
            if grow_rows is None:
                warn_of_columns(table)
                tree = classification_fitter(self, table).fit(
                    table, n_jobs=n_threads(self.n_jobs), on_progress=listener
                )
            else:
                here = MemorySource(table)
                tree = fit_source(self, here, engine, grow_rows, cache, sys.maxsize, listener).tree
            shares = update.known_shares(tree, table)
            rule = DecisionRule.of(self.costs, table.class_weight, labels.classes.tolist())
            self._learn(with_decision(tree, rule), labels.classes, table.names, table.class_weight, shares)
        return self

    @serialised
    def update(self, X: Any, y: Any, *, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Add rows to the evidence of the tree, whose tests stay as they are.

        This is no `partial_fit`: nothing is grown, pruned or tuned. The rows are counted at the nodes they
        pass, and probabilities are estimated from all counts as in `fit`, with the strengths found there.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`. One with an unseen category counts up to the node where it stops.
        y : array-like of shape (n_rows,)
            Class labels, all of them among `classes_`.
        sample_weight : array-like of shape (n_rows,), default=None
            In rows, and whole unless the tree was fitted to parts of rows.
        decay : float, default=1.0
            What each row counted so far is worth from now on, above 0; 1 keeps them as they are.

        Returns
        -------
        TreeClassifier
            Itself, with the same skeleton and new evidence in `tree_`.

        See Also
        --------
        forget : takes rows out again.
        drift : says whether the tests still fit the rows.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier(smoothing="laplace").fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
        >>> clf.predict_proba([[1]]), clf.update([[1], [1]], ["yes", "no"]).predict_proba([[1]]).round(3)
        (array([[0.25, 0.75]]), array([[0.333, 0.667]]))
        """
        table = self._read(X, read_classes(self, y))
        update.update(self, table, sample_weight, number("decay", decay, 1.0))
        return self

    @serialised
    def forget(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Take rows out of the evidence of the tree, whose tests stay as they are.

        The counts are then exactly those of the other rows. What the rows did to the choice of tests, and
        to the strengths of smoothing, stays.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows that came with `fit` or `update`.
        y : array-like of shape (n_rows,)
            The labels they had.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights they had; what a `decay` has made of them since.

        Returns
        -------
        TreeClassifier
            Itself, with the same skeleton and less evidence in `tree_`.

        Raises
        ------
        DataError
            If fewer such rows were counted than are to be forgotten; it names the leaf and the class.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier().fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
        >>> before = clf.tree_.digest
        >>> clf.update([[1]], ["no"]).forget([[1]], ["no"]).tree_.digest == before
        True
        """
        table = self._read(X, read_classes(self, y))
        update.forget(self, table, sample_weight)
        return self

    @accepts_source
    def predict_proba(self, X: Any, prior: Any = None) -> Floats:
        """Estimate class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            How common the classes are where these rows come from, if not as in training: probabilities are
            moved there by Bayes' theorem.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier(smoothing=None).fit([[0]] * 10, ["ill"] * 5 + ["well"] * 5)
        >>> clf.predict_proba([[0]], prior={"ill": 0.1, "well": 0.9})
        array([[0.1, 0.9]])
        """
        table = self._read(X)
        return self._answer(table, prior)

    @accepts_source
    def predict(self, X: Any, prior: Any = None, costs: Any = None) -> NDArray[Any]:
        """Name the class each row is best taken for.

        That is the most probable one, or with costs the one whose prediction is expected to cost least.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, in the place of the estimator's.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels of the largest probability, or the least expected cost, each class counting by its
            weight; on a tie, the first of `classes_`.
        """
        table = self._read(X)
        rule = self.tree_.decision
        if costs is not None:
            rule = DecisionRule.of(costs, self.class_weight_, self.classes_.tolist(), table.n_rows)
        return self.classes_[rule(self._answer(table, prior))]

    @serialised
    def set_costs(self, costs: Any) -> Self:
        """Decide by other costs from now on; splits and probabilities of the fitted tree do not change.

        Parameters
        ----------
        costs : array-like of shape (n_classes, n_classes), mapping or None
            As of the estimator.

        Returns
        -------
        TreeClassifier
            Itself, whose `predict`, exports, report and file now decide by these costs.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier(smoothing="laplace").fit([[0.0], [1.0]] * 4, ["ill", "well"] * 4)
        >>> clf.predict([[1.0]]).tolist(), clf.set_costs({("ill", "well"): 20}).predict([[1.0]]).tolist()
        (['well'], ['ill'])
        """
        check_is_fitted(self, "tree_")
        rule = DecisionRule.of(costs, self.class_weight_, self.classes_.tolist())
        self.tree_ = with_decision(self.tree_, rule)
        self.costs = costs
        return self

    @accepts_source
    def expected_cost(self, X: Any, prior: Any = None, costs: Any = None) -> Floats:
        """Estimate what each answer would cost.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, in the place of the estimator's; where that has none,
            every mistake costs 1.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The expected cost of predicting each class, in the order of `classes_`. The least of a row is that
            of the class `predict` names, unless class weights count beside the costs.

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
        table = self._read(X)
        belief = self._answer(table, prior)
        costs = self.tree_.decision.costs if costs is None else costs
        return Costs.of(costs, self.classes_.tolist(), len(belief)).expected(belief)

    @accepts_source
    def predict_interval(self, X: Any, level: float = 0.9, prior: Any = None) -> tuple[Floats, Floats]:
        """Give bounds for each probability of `predict_proba`.

        With cross-fitted smoothing they are calibrated in `fit`; with any other, `calibrate_intervals` does it, and without
        it they can be far too narrow or too wide.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            How often the true rate of the node that answers is to be within.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.

        Returns
        -------
        low, high : ndarrays of shape (n_rows, n_classes)
            Bounds of each probability.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier(smoothing=None).fit([[0]] * 20, ["ill"] * 5 + ["well"] * 15)
        >>> low, high = clf.predict_interval([[0]])
        >>> low.round(2), high.round(2)
        (array([[0.11, 0.56]]), array([[0.44, 0.89]]))
        """
        table = self._read(X)
        factors = None if prior is None else prior_factors(self.tree_, prior)
        from hornbeam.explain import predict_interval  # loaded for those who ask

        return predict_interval(self.tree_, table, level, factors=factors, n_jobs=n_threads(self.n_jobs))

    calibrate_intervals = calibrate_intervals
    explain = explain_methods.explain
    shap_values = explain_methods.shap_values
    counterfactuals = explain_methods.counterfactuals
    feature_importances_ = property(explain_methods.feature_importances)
    leaves = explain_methods.leaves
    rules = explain_methods.rules
    drift = explain_methods.drift

    def row_predictor(self) -> Callable[[Floats | Sequence[float]], tuple[float, ...]]:
        """Return a function from one row of numbers to its probabilities, with nothing around it.

        Returns
        -------
        callable
            Takes a float64 array or a tuple of numbers (a nominal value as its position in the schema's
            categories) and returns a tuple of probabilities.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> score = TreeClassifier(smoothing=None).fit([[0.0], [1.0]], ["no", "yes"]).row_predictor()
        >>> score((1.0,))
        (0.0, 1.0)
        """
        check_is_fitted(self, "tree_")
        return row_predictor(self.tree_)

    @property
    def decision_(self) -> DecisionRule:
        """How probabilities become the class that `predict` names: by the costs and class weights of `fit`."""
        check_is_fitted(self, "tree_")
        return self.tree_.decision

    def _answer(self, table: Table, prior: Any) -> Floats:
        probability = predict_rows(self.tree_, table, n_threads(self.n_jobs))
        return probability if prior is None else shift(probability, prior_factors(self.tree_, prior))

    def _learn(
        self,
        tree: Tree,
        classes: NDArray[Any],
        names: tuple[str, ...] | None,
        class_weight: Floats | None = None,
        shares: Counts | None = None,
    ) -> None:
        """Remember a fit; nothing is touched before it is certain."""
        self._remember(tree, names)
        self._shares = shares
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.class_weight_ = np.ones(len(classes)) if class_weight is None else class_weight
