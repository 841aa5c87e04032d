"""`TreeClassifier`: one classification tree as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.labels import Labels
from hornbeam.data.table import Table
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.estimator import ClassifierMethods
from hornbeam.estimators.methods.locks import serialised
from hornbeam.estimators.methods.progress import CallbackSupportMixin
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.methods.tree_methods import TreeMethods
from hornbeam.estimators.parameters.fields import TreeClassifierParameters
from hornbeam.estimators.parameters.validators import n_threads
from hornbeam.smoothing.interval_calibration import effective_size
from hornbeam.tree.decision import Costs, DecisionRule
from hornbeam.tree.edit import with_decision
from hornbeam.tree.evidence.base_rate import adjust_to_prior, prior_factors
from hornbeam.tree.route import decide_rows, predict_rows
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.rules import RuleSet


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
        - ``readable``: at most 16 leaves and depth 7 unless you set others, two slopes per leaf, fitted to the
          predictions of a forest and boosted trees.
        - ``cart``: Gini, subset splits, missing values to the better child.
        - ``c4.5``: gain ratio, multiway splits, fractional rows for missing values, error-based pruning with subtree
          raising.
        - ``c4.4``: as ``c4.5``, but Laplace smoothing instead of pruning.
        - ``id3``: entropy, multiway splits.
    criterion : {"auto", "entropy", "gain_ratio", "gini", "hellinger"}, default="auto"
        The measure of a split's quality.
    nominal : {"auto", "multiway", "subset"}, default="auto"
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
        weight. The preset ``readable`` has 2 % of the rows, from 5 to 10, unless another number
        than 1 is given.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight of each child. The presets ``c4.5`` and ``c4.4`` also require a weight of 2.
    min_impurity_decrease : float, default=0.0
        Least gain of a split, times the node's share of the total weight.
    max_leaf_nodes : int, default=None
        Maximum number of leaves, grown best first; with a teacher, found by a search with lookahead.
    max_bins : int, None or "auto", default="auto"
        Quantile bins per numeric feature; None: every distinct value. "auto": every value up to 20,000 rows, 255 bins
        beyond.
    smoothing : str, a smoother or None, default="auto"
        How to estimate probabilities from the counts of a node and its ancestors. "cross-fitted" (in the preset
        ``default``) fits the strength of borrowing on held-out rows, with trees grown without them. Or "raw",
        "laplace", "m-estimate", "m-branch", "shrinkage", "hgs", "hgs-gradient", "hgs-loo", "hdp", or a smoother of
        `hornbeam.smoothing`. None: raw frequencies.
    pruning : str, a pruner or None, default="auto"
        How to prune the tree: "bayes-risk", "collapse", "cost-complexity", "error-based", "minimum-error", or a pruner
        of `hornbeam.pruning`; None: not at all. "auto" is the preset's method; with cross-fitted smoothing it removes
        leaves by `tolerance`. "bayes-risk" uses `costs` and the smoothed probabilities. "cost-complexity" takes
        the smallest tree within one standard error of the best in 5-fold cross-validation, by squared loss or by
        `costs`.
    tolerance : float, default=0.0
        With cross-fitted smoothing, the smallest tree is chosen whose log loss on held-out rows is at most this share
        above that of the tree with 0: 0.02 for 2 %. 0 removes only leaves that save next to nothing.
        `size_path_` has the loss of every size.
    slopes : int, None or "auto", default="auto"
        Most slopes of a leaf, 0 to 3: terms by which its probabilities change with the value of a feature. None: 0.
        "auto": 2 in the preset ``readable``, else 0. Slopes need a teacher.
    teacher : {"auto", "ensemble"} or None, default="auto"
        "ensemble": the tree is fitted to the predictions of a forest, mixed with boosted trees if held-out rows are
        predicted better so. None: to the rows. "auto": "ensemble" with slopes and in the preset ``readable``.
        `hornbeam.distill` has other teachers. Parameters of growing, pruning and smoothing must have their
        defaults, but for sizes and `min_weight_fraction_leaf`; `class_weight` changes only the decisions.
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
        (decreasing) or 0 (free); or a dict by feature name. Smoothed probabilities obey it too.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of groups of features, or None, default=None
        Groups of features, by name or index, that may occur together on a path from the root to a leaf, as in
        scikit-learn and XGBoost. Features in no group form one more group. "pairwise": at most two features on a path;
        "no_interactions": one.
    once_per_path : bool, default=False
        Whether a feature splits at most one node of a path.
    forbidden_below : dict or None, default=None
        ``{"income": ["assets"]}``: no split on assets below a split on income.
    forced_splits : dict, Tree or None, default=None
        The splits that the tree begins with; growing goes on below them. A tree, or a dict with the keys of LightGBM:
        ``{"feature": "income", "threshold": 50_000, "left": {...}, "right": {...}}``. A nominal feature has ``groups``
        of categories instead of a threshold. Missing values get a child of their own, unless ``missing`` is "left" or
        "right". Pruning may remove a forced split that does not improve the predictions; ``pruning=None`` and no
        ``max_leaf_nodes`` keep all.
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
    decision_ : DecisionRule
        The rule from probabilities to the predicted class. It is stored in `tree_`, so exports, reports and files
        use it too.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature: its share of the gain of all splits.
    size_path_ : SizePath
        Sizes of the tree down to one leaf, each with its log loss on held-out rows; if sizes were compared.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    See Also
    --------
    TreeRegressor : the same for a numeric target.
    RuleClassifier : a short list of rules instead of a tree.
    ForestClassifier : more accurate, but many trees.
    distill : one tree that approximates another model.

    Notes
    -----
    The same rows give the same tree, bit for bit, in any order and on any number of threads.

    A row stops at an inner node if its category did not occur there in training, or if its value is missing and no
    training value was. It gets the probabilities of that node.

    Weights with a sum of at most 1 are taken as shares, as boosting passes them, and are scaled to the number of rows.
    Otherwise no leaf would reach C4.5's least weight of 2, and smoothing would outweigh the data.

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
    """

    @accepts_source
    def predict_proba(self, X: Any, *, prior: Any = None) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            Base rates of the classes among these rows, if they differ from training. The probabilities are adjusted
            by Bayes' theorem.

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
        return self._probabilities(table, prior)

    @accepts_source
    def predict(self, X: Any, *, prior: Any = None, costs: Any = None) -> NDArray[Any]:
        """Predict the class of each row: the most probable one, or with costs the one of least expected cost.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, instead of the estimator's.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels. Probabilities are multiplied by the class weights; a tie goes to the first of `classes_`.
        """
        table = self._read(X)
        if prior is None and costs is None:
            return self.classes_[decide_rows(self.tree_, table, n_threads(self.n_jobs))]
        rule = self.tree_.decision
        if costs is not None:
            rule = DecisionRule.of(costs, self.class_weight_, self.classes_.tolist(), table.n_rows)
        return self.classes_[rule(self._probabilities(table, prior))]

    @serialised
    def set_costs(self, costs: Any) -> Self:
        """Replace the costs of a fitted tree; splits and probabilities do not change.

        Parameters
        ----------
        costs : array-like of shape (n_classes, n_classes), mapping or None
            As the parameter of the estimator.

        Returns
        -------
        TreeClassifier
            Itself; `predict`, exports, reports and files use the new costs.

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
    def expected_cost(self, X: Any, *, prior: Any = None, costs: Any = None) -> Floats:
        """Compute the expected cost of predicting each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        prior : dict from label to rate, or array-like of shape (n_classes,), default=None
            As in `predict_proba`.
        costs : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes), or mapping, default=None
            Costs for these rows, or for each of them, instead of the estimator's. Without any costs every error
            costs 1.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Expected costs in the order of `classes_`. Without class weights the smallest of a row is that of the class
            `predict` returns.

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
        probability = self._probabilities(table, prior)
        costs = self.tree_.decision.costs if costs is None else costs
        return Costs.of(costs, self.classes_.tolist(), len(probability)).expected(probability)

    @accepts_source
    def predict_interval(self, X: Any, *, level: float = 0.9, prior: Any = None) -> tuple[Floats, Floats]:
        """Compute an interval for each probability of `predict_proba`.

        The intervals are calibrated by `fit` if smoothing is cross-fitted or the tree has a teacher, and else by
        `calibrate_intervals`. Without calibration they can be far too narrow or too wide. In a leaf with slopes the
        promise is about the mean probability of all rows of the leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            Probability with which an interval is to contain the true rate of the node where the row ends.
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
        from hornbeam.explain import predict_interval  # imported only when needed: it is slow to import

        return predict_interval(self.tree_, table, level, factors=factors, n_jobs=n_threads(self.n_jobs))

    def rules(self, *, inner: bool = False) -> RuleSet:
        """Write the tree as a set of rules, one per leaf; `RuleClassifier` finds fewer and shorter ones.

        Parameters
        ----------
        inner : bool, default=False
            Whether to append rules of inner nodes, for rows that stop there.

        Returns
        -------
        RuleSet
            Rules with the counts and probabilities of the leaves; `hornbeam.export.rules_text` formats them.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
        >>> clf.rules()
        RuleSet(2 rules, 2 conditions, default 'yes')
        """
        check_is_fitted(self, "tree_")
        from hornbeam.export.rule_list import ShownRules
        from hornbeam.rules import extract

        found = extract(self.tree_, inner=inner, size=effective_size(self.tree_))
        return ShownRules(found.schema, found.rules, found.default)

    @property
    def decision_(self) -> DecisionRule:
        """The rule from probabilities to the predicted class, by costs and class weights."""
        check_is_fitted(self, "tree_")
        return self.tree_.decision

    def _read_target(self, y: Any) -> Labels:
        return read_classes(self, y)

    def _probabilities(self, table: Table, prior: Any) -> Floats:
        probability = predict_rows(self.tree_, table, n_threads(self.n_jobs))
        return (
            probability if prior is None else adjust_to_prior(probability, prior_factors(self.tree_, prior))
        )
