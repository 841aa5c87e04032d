"""`TreeClassifier`: one classification tree as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.labels import Labels
from hornbeam.data.threads import n_threads
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.classifier import ClassifierMethods
from hornbeam.estimators.methods.progress import CallbackSupportMixin
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.methods.tree_methods import TreeMethods
from hornbeam.estimators.parameters.fields import TreeClassifierParameters
from hornbeam.smoothing.interval_calibration import effective_size
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.tree.route import decide_rows, decides_by_prediction
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.explain.leaves import Leaves
    from hornbeam.explain.scorecard import Scorecard
    from hornbeam.pruning.cost_complexity import CostComplexityPath
    from hornbeam.rules.rule_set import RuleSet


class TreeClassifier(CallbackSupportMixin, TreeMethods, ClassifierMethods, TreeClassifierParameters):
    """A single decision tree with well calibrated class probabilities.

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed. The default
    grows one tree, estimates on held-out rows how much each node should borrow from its ancestors, and prunes
    leaves that do not improve the prediction. The presets reproduce CART, C4.5, C4.4 and ID3.

    Parameters
    ----------
    preset : {"default", "readable", "cart", "c4.5", "c4.4", "id3"}, default="default"
        The algorithm to start from. A parameter set to "auto" has the preset's value:

        - ``default``: entropy, subset splits, a child for missing values, cross-fitted smoothing.
        - ``readable``: at most 16 leaves and depth 7 unless you set others, with at most twice as many terms,
          fitted to the predictions of a forest and boosted trees.
        - ``cart``: Gini, subset splits, missing values to the better child.
        - ``c4.5``: gain ratio, multiway splits, fractional rows for missing values, error-based pruning with subtree
          raising.
        - ``c4.4``: as ``c4.5``, but Laplace smoothing instead of pruning.
        - ``id3``: entropy, multiway splits.

        ``from_tree`` is the preset of an estimator that `from_tree` made; its `fit` raises an error.
    criterion : {"auto", "entropy", "gain_ratio", "gini", "hellinger"}, default="auto"
        The measure of a split's quality.
    nominal_split : {"auto", "multiway", "subset"}, default="auto"
        How to split a nominal feature: one child per category, or two children for the best subset.
    missing : {"auto", "own", "learned", "fractional"}, default="auto"
        Where rows with a missing value go: to a child of their own, to the better child, or to every child in
        proportion. "own" in the preset ``default``: to the
        better child where fewer than ten rows of the node have no value.
    max_depth : int, default=None
        Maximum depth of the tree.
    min_samples_split : int or float, default=2
        Least number of rows of a node to be split; between 0 and 1, a share of all rows.
    min_samples_leaf : int or float, default=1
        Least number of rows of each child; between 0 and 1, a share of all rows. Of a split with a branch for each
        category, as in C4.5, two branches need that many. With a teacher these are real rows, which count by their
        weight; 1 sets no minimum beyond 64 leaves. The preset ``readable`` has 2 % of the rows, from 5 to 10, unless
        another number than 1 is given.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight of each child. The presets ``c4.5`` and ``c4.4`` also require a weight of 2.
    min_impurity_decrease : float, default=0.0
        Least gain of a split, times the node's share of the total weight.
    max_leaf_nodes : int, default=None
        Maximum number of leaves, grown best first; with a teacher, found by a search with lookahead up to 64. None: no
        limit, or with a teacher a leaf for each ten different rows (or groups), and 16 at least.
    max_bins : int, None or "auto", default="auto"
        Quantile bins per numeric feature; None: every distinct value. "auto": every value up to 20,000 rows, 255 bins
        beyond.
    smoothing : str, a smoother or None, default="auto"
        How to estimate probabilities from the counts of a node and its ancestors. "cross-fitted" (in the preset
        ``default``) fits the strength of borrowing on held-out rows, with trees grown without them. Or "raw",
        "laplace", "m-estimate", "m-branch", "hierarchical-shrinkage", "hgs", "gradient-hgs", "leave-one-out-hgs",
        "hdp", "borrowing", "hgs-published" (HGS as in its paper), or a smoother of `hornbeam.smoothing`. None: raw
        frequencies.
    pruning : str, a pruner or None, default="auto"
        How to prune the tree: "bayes-risk", "bayes-risk-note" (the rule of Chou's note), "collapse", "cost-complexity",
        "error-based", "minimum-error", or a pruner of `hornbeam.pruning`; None or "none": not at all. "auto" is the
        preset's method; with cross-fitted smoothing it removes leaves by `tolerance`. The two Bayes risks use `costs`
        and the smoothed probabilities. "cost-complexity" takes the smallest tree within one standard error of the best
        in 5-fold cross-validation, by squared loss or by `costs`.
    tolerance : float, default=0.0
        With cross-fitted smoothing, the smallest tree is chosen whose log loss on held-out rows is at most this share
        above that of the tree with 0: 0.02 for 2 %. 0 removes only leaves that save next to nothing.
        `size_path_` has the loss of every size.
    slopes : int, None or "auto", default="auto"
        Most terms of the tree for each of its leaves, 0 to 3. A term belongs to any node, and changes the probabilities
        of its rows with the value of a feature. None: 0. "auto": 2 in the preset ``readable``; with a
        teacher and without a limit of up to 64 leaves, up to eight terms at the root; else 0. Terms need a teacher.
    teacher : {"auto", "ensemble"}, estimator or None, default="auto"
        The model whose predictions the tree is fitted to. "ensemble": a forest, mixed with boosted trees if held-out
        rows are predicted better so. Or a classifier with `predict_proba`: a fitted one is used as it is, another is
        cloned and fitted in `fit`; see the notes. None: no teacher, the tree is fitted to the rows.
        "auto": "ensemble" with slopes and in the preset ``readable``, else None. With a teacher, `smoothing`,
        `tolerance`, `criterion` and `forced_splits` must have their defaults; `pruning` may be None, which is
        ``fidelity=1.0``. `nominal_split`, `missing`, `min_impurity_decrease` and `max_bins` must have theirs in a tree
        with a limit of up to 64 leaves, and constraints of features theirs in any other; `class_weight` counts in the
        splits of the teacher and in decisions.
    fidelity : float, default=0.98
        With a teacher and without `max_leaf_nodes` up to 64, the smallest tree is chosen that keeps this share of the
        full tree's fit to the teacher (the decrease of the squared distance), or the largest one within the limit of
        leaves; smaller values give smaller trees. `tree_.history` has the number of leaves and the limit.
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        Cost of each kind of error: ``costs[true][predicted]`` in the order of `classes_`, or
        ``{(true label, predicted label): cost}``, where missing pairs of different labels cost 1. Negative
        costs are benefits. `predict` and all exports choose the class of least expected cost; probabilities do not
        change. None: every error costs 1.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class in the choice of splits and in `predict`, which chooses the largest probability times
        weight. Probabilities, pruning and smoothing do not use it: they keep the base rate of the rows. Rows of a
        class of weight 0 are ignored.
    monotonic_cst : array-like of int, dict or None, default=None
        For two classes, the sign of each feature's effect on the probability of the second class: 1 (increasing), -1
        (decreasing) or 0 (free); or a dict by feature name. Smoothed probabilities obey it too. With a teacher it
        needs slopes: a feature with a constraint has terms and splits no node.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of groups of features, or None, default=None
        Groups of features, by name or index, that may occur together on a path from the root to a leaf, as in
        scikit-learn and XGBoost. Features in no group form one more group. "pairwise": at most two features on a path;
        "no_interactions": one. A node has terms of the features that may split it.
    once_per_path : bool, default=False
        Whether a feature splits at most one node of a path.
    forbidden_below : dict or None, default=None
        ``{"income": ["assets"]}``: no split on assets below a split on income.
    forced_splits : dict, Tree or None, default=None
        The splits that the tree begins with; growing goes on below them. A tree, or a dict with the keys of LightGBM:
        ``{"feature": "income", "threshold": 50_000, "left": {...}, "right": {...}}``. A nominal feature has
        ``categories`` of each child instead of a threshold. Missing values get a child of their own, unless ``missing``
        is "left" or "right". Pruning may remove a forced split that does not improve the predictions; ``pruning=None``
        and no ``max_leaf_nodes`` keep all.
    feature_costs : dict or None, default=None
        Price of each column that is not free, ``{"lab test": 3}``; or from any name to a price that columns share,
        ``{"blood sample": (2, ["sugar", "fat"])}``. Each path pays a price once, when it first tests one of the
        columns. A split must gain more than its rows pay for it, and pruning cuts what does not. `path_costs` has what
        each row pays, `size_path_` and the report the mean.
    feature_cost_weight : float, default=1.0
        What one unit of price is worth, in per cent of the impurity of all rows: with 1, a split that costs 3 must
        lower the loss of its rows by more than 3 % of that. 0: prices change nothing and are only recorded.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds. None means 0: the same rows always give the same tree. Nothing else is
        random, and the order of the rows does not matter.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The tree does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree as data.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    class_weight_ : ndarray of shape (n_classes,)
        Weight of each class in `predict`.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature: its share of the gain of all splits.
    size_path_ : SizePath
        Sizes of the tree down to one leaf, each with its log loss on held-out rows, and its mean price if columns have
        prices; if sizes were compared.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    See Also
    --------
    TreeRegressor : the same for a numeric target.
    RuleClassifier : a short list of rules instead of a tree.
    ForestClassifier : more accurate, but many trees.

    Notes
    -----
    The same rows give the same tree, bit for bit, in any order and on any number of threads.

    A row stops at an inner node if its category did not occur there in training, or if its value is missing and no
    training value was. It gets the probabilities of that node.

    Weights with a sum of at most 1 are taken as shares, as boosting passes them, and are scaled to the number of rows.
    Otherwise no leaf would reach C4.5's least weight of 2, and smoothing would outweigh the data.

    With a teacher, synthetic rows are made and predicted too, thirty per training row, at least 10,000 and at most
    300,000 (15,000 if `max_leaf_nodes` is at most 64; 50 million values). The evidence of the tree is that of the
    training rows, and the mean prediction of the teacher at a node counts as thirty rows. An estimator as teacher
    predicts the training rows out of bag (`oob_decision_function_`) if it has them for as many rows; a forest of
    30 trees or more is fitted with them; any other is cloned and cross-validated in 5 folds. `clone`, and with it
    cross-validation, fits the teacher again in each fold; `sklearn.frozen.FrozenEstimator` keeps a fitted one. A model
    file has the class name of the teacher, not the teacher.

    References
    ----------
    CART: Breiman, Friedman, Olshen and Stone (1984) :cite:p:`breiman1984`. ID3: Quinlan (1986) :cite:p:`quinlan1986`.
    C4.5: Quinlan (1993) :cite:p:`quinlan1993`. C4.4: Provost and Domingos (2003) :cite:p:`provost2003`.

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

    One tree that is fitted to the predictions of a forest:

    >>> from hornbeam import ForestClassifier
    >>> TreeClassifier(teacher=ForestClassifier(30), max_leaf_nodes=3).fit(X, y).tree_.n_leaves
    3
    """

    @accepts_source
    def predict_interval(
        self, X: Any, *, level: float = 0.9, base_rates: Any = None
    ) -> tuple[Floats, Floats]:
        """Compute an interval for each probability of `predict_proba`.

        The intervals are calibrated by `fit` if smoothing is cross-fitted or the tree has a teacher, and else by
        `calibrate_intervals`. Without calibration they can be far too narrow or too wide. With terms the
        promise is about rows of the node with the same values of the terms: the interval is wider, the farther they
        are from the centres, because slopes are estimates too.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            Probability with which an interval is to contain the true rate of the node where the row ends.
        base_rates : dict from label to rate, or array-like of shape (n_classes,), default=None
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
        factors = None if base_rates is None else self._factors(base_rates)
        from hornbeam.explain.intervals import (
            predict_interval,  # imported only when needed: it is slow to import
        )

        return predict_interval(self.tree_, table, level, factors=factors, n_jobs=n_threads(self.n_jobs))

    def rules(self, *, inner: bool = False, merge: bool = True) -> RuleSet:
        """Write the tree as a set of rules, one per leaf; `RuleClassifier` finds fewer and shorter ones.

        Parameters
        ----------
        inner : bool, default=False
            Whether to append rules of inner nodes, for rows that stop there.
        merge : bool, default=True
            Whether to merge the conditions on each feature; otherwise there is one condition per split.

        Returns
        -------
        RuleSet
            Rules with the counts and probabilities of the leaves: print them, or convert them with `to_frame` or
            `to_dict`.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
        >>> print(clf.rules())
        1. if x0 ≤ 0.5
           then no, 1.000 (0.098 to 1.000); covers 1 row, 0 wrong; decides 1
        2. if x0 > 0.5
           then yes, 1.000 (0.342 to 1.000); covers 2 rows, 0 wrong; decides 2
        otherwise yes, 0.667 (0.168 to 0.980); covers 3 rows, 1 wrong; decides 0
        """
        check_is_fitted(self, "tree_")
        from hornbeam.rules.extract import extract

        return extract(self.tree_, inner=inner, merge=merge, size=effective_size(self.tree_))

    def leaves(
        self,
        *,
        level: float = 0.9,
        positive: Any = None,
        by: Literal["node", "risk"] = "node",
        inner: bool = False,
    ) -> Leaves:
        """List the leaves: rows, raw and smoothed rate, interval, borrowed rows, rule.

        Parameters
        ----------
        level : float, default=0.9
            Probability with which each interval is to contain the true rate.
        positive : label, default=None
            The class of interest: every printed line shows the rates of this class. None: each line shows the rates
            of the class predicted there.
        by : {"node", "risk"}, default="node"
            The order: by node number, or by falling probability of `positive`.
        inner : bool, default=False
            Whether to list the inner nodes too.

        Returns
        -------
        Leaves
            A table: print it, convert it with `to_frame` or `to_dict`, or write it as rules with `as_rules`.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="hgs")
        >>> clf.fit([[36.6], [36.8], [39.0], [39.5]] * 5, ["well", "well", "ill", "ill"] * 5)
        TreeClassifier(preset='cart', smoothing='hgs')
        >>> clf.leaves(positive="ill", by="risk")
        rates of ill
         node   rows  borrowed  decided    raw  smoothed    90 % interval  rule
            2     10       2.0  ill      1.000     0.917   0.679 to 0.997  x0 > 38
            1     10       2.0  well     0.000     0.083   0.003 to 0.321  x0 ≤ 38
        """
        check_is_fitted(self, "tree_")
        from hornbeam.explain.leaves import leaves

        return leaves(self.tree_, level, positive=positive, by=by, inner=inner)

    def scorecard(
        self,
        *,
        positive: Any = None,
        base_points: float = 600.0,
        base_odds: float = 50.0,
        points_to_double: float = 20.0,
        bins: bool = False,
    ) -> Scorecard:
        """Write a tree of two classes as a scorecard: whole-number points per segment, and per step of each term.

        Parameters
        ----------
        positive : label, default=None
            The class of interest: more points mean a higher probability of this class. None: the last class.
        base_points : float, default=600.0
            Points of a row with the odds `base_odds`.
        base_odds : float, default=50.0
            Probability of `positive` divided by that of the other class at `base_points`.
        points_to_double : float, default=20.0
            Points that double the odds; with a negative number more points mean a lower probability of `positive`.
            With a larger number rounding matters less.
        bins : bool, default=False
            Points of bins of a number instead of points per step.

        Returns
        -------
        Scorecard
            A table with a segment for each leaf, for each inner node with terms, and for rows that stop above the
            leaves: print it, compute the `points` and `reasons` of rows, or convert it with `to_markdown`, `to_html`,
            `to_csv`, `to_sql`, `to_frame` or `to_dict`.

        Notes
        -----
        Points are near ``offset + factor * log odds``, with ``factor = points_to_double / log(2)`` and
        ``offset = base_points - factor * log(base_odds)``. All numbers of the card are whole, and `Scorecard.points`
        adds up what is printed; `Scorecard.rounding` is the largest difference.

        By hand: find the segments whose condition the row fulfils, "every row" among them. Begin with the base points
        of the leaf. For each feature with a step, limit the value to the range, multiply the points per step with the
        number of steps from the value with 0 points, and round to a whole number, halves up; a missing value adds
        nothing. For a category or bin, add its points.

        The steps of a feature are the same in all segments: the smallest of 1, 2, 5, 10, ... for which whole points per
        step are accurate to one point. A range that is narrow for that has the points of both ends. Bins are the same
        in all segments too: the widest that are accurate to a quarter of `points_to_double`, at most ten of them.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[0], [0], [3], [3]], ["good", "good", "bad", "bad"]
        >>> card = TreeClassifier("cart", smoothing="laplace").fit(X, y).scorecard(positive="good")
        >>> card
        | segment | if | base points | feature | points | within | 0 points at |
        |--:|---|--:|---|---|---|--:|
        | 1 | `x0 ≤ 2` | 519 |  |  |  |  |
        | 2 | `x0 > 2` | 455 |  |  |  |  |
        | 0 | `x0 missing` | 487 |  |  |  |  |
        <BLANKLINE>
        Points are 487.123 + 28.8539 × log odds of `good`, rounded: at most 0.5 more or less, 1.02 times the odds.
        >>> card.points([[0], [9]])
        array([519., 455.])
        """
        check_is_fitted(self, "tree_")
        from hornbeam.explain.scorecard import scorecard

        scale = {"base_points": base_points, "base_odds": base_odds, "points_to_double": points_to_double}
        return scorecard(self.tree_, positive=positive, bins=bins, **scale)

    def cost_complexity_path(
        self, *, impurity: Literal["gini", "entropy", "error"] = "gini"
    ) -> CostComplexityPath:
        """Find every penalty per leaf at which cost-complexity pruning of the tree changes it.

        Parameters
        ----------
        impurity : {"gini", "entropy", "error"}, default="gini"
            Cost per row of a leaf.

        Returns
        -------
        CostComplexityPath
            A table with a line for each subtree, from `tree_` to its root. Fit with ``pruning=None`` for the subtrees
            of the whole tree.

        See Also
        --------
        hornbeam.pruning.CostComplexity : prunes with one of the penalties.

        Notes
        -----
        Links that are equally weak are cut together, so alphas increase strictly (scikit-learn's path repeats an alpha
        for each of them). One sweep from the leaves up finds all of them in S log S steps, whatever the depth of the
        tree.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[1], [2], [3], [4], [5], [6]], ["a", "a", "b", "a", "b", "b"]
        >>> path = TreeClassifier("cart").fit(X, y).cost_complexity_path()
        >>> path.alphas.round(4).tolist(), path.n_leaves.tolist()
        ([0.0, 0.125, 0.25], [4, 2, 1])
        """
        check_is_fitted(self, "tree_")
        from hornbeam.pruning.cost_complexity import cost_complexity_path  # imported only when needed

        return cost_complexity_path(self.tree_, impurity)

    def _read_target(self, y: Any) -> Labels:
        return read_classes(self, y)

    def _probabilities(self, X: Any) -> Floats:
        return self._predict_rows(X)

    def _codes(self, X: Any) -> NDArray[np.intp]:
        tree = getattr(self, "tree_", None)
        few = self._predict_few_rows(X) if tree is not None and decides_by_prediction(tree) else None
        if few is not None:
            return self.tree_.decision(few)
        table = self._read(X)
        return decide_rows(self.tree_, table, n_threads(self.n_jobs))

    @property
    def _trained_rates(self) -> Floats:
        return base_rate(self.tree_)

    @property
    def _decision(self) -> DecisionRule:
        return self.tree_.decision

    def _decide_by(self, rule: DecisionRule) -> None:
        self.tree_ = with_decision(self.tree_, rule)
