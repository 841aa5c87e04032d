"""`TreeRegressor`: one regression tree as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hornbeam.checks import check_choice
from hornbeam.data.threads import n_threads
from hornbeam.estimators.inputs.training import read_numeric
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.predicts_distribution import PredictsDistribution
from hornbeam.estimators.methods.progress import CallbackSupportMixin
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.methods.tree_methods import TreeMethods
from hornbeam.estimators.parameters.fields import TreeRegressorParameters
from hornbeam.explain.intervals import predict_interval
from hornbeam.explain.leaves import Leaves, leaves
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.pruning.cost_complexity import CostComplexityPath


class TreeRegressor(
    CallbackSupportMixin,
    TreeMethods,
    PredictsDistribution,
    RegressorMixin,
    HornbeamEstimator,
    TreeRegressorParameters,
):
    """A single regression tree with smoothed means.

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed. The default
    grows one tree, estimates on held-out rows how much each node should borrow from its ancestors, and prunes
    leaves that do not improve the prediction. The preset ``cart`` is CART.

    Parameters
    ----------
    preset : {"default", "readable", "cart"}, default="default"
        The algorithm to start from. A parameter set to "auto" has the preset's value:

        - ``default``: subset splits, a child for missing values, cross-fitted smoothing.
        - ``readable``: at most 16 leaves and depth 7 unless you set others, with at most twice as many terms,
          fitted to the predictions of a forest and boosted trees.
        - ``cart``: subset splits, missing values to the better child, raw means.

        ``from_tree`` is the preset of an estimator that `from_tree` made; its `fit` raises an error.
    criterion : {"auto", "squared_error", "poisson", "gamma"}, default="auto"
        What splits, pruning and smoothing lower. "auto" is "squared_error". "poisson", half the mean Poisson deviance,
        is for counts, and for counts divided by an exposure, which is then the `sample_weight`; targets must be 0 or
        more. "gamma", half the mean gamma deviance, is for amounts above 0 whose spread grows with their mean. See the
        notes.
    nominal_split : {"auto", "multiway", "subset"}, default="auto"
        How to split a nominal feature: one child per category, or two children for the best subset.
    missing : {"auto", "own", "learned"}, default="auto"
        Where rows with a missing value go: to a child of their own, or to the better child. "own" in the preset
        ``default``: to the better child where fewer than ten rows of the node have no value.
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
        Least share of the total weight of each child.
    min_impurity_decrease : float, default=0.0
        Least decrease of the criterion by a split, times the node's share of the total weight.
    max_leaf_nodes : int, default=None
        Maximum number of leaves, grown best first; with a teacher, found by a search with lookahead up to 64. None: no
        limit, or with a teacher a leaf for each ten different rows (or groups), and 16 at least.
    max_bins : int, None or "auto", default="auto"
        Quantile bins per numeric feature; None: every distinct value. "auto": every value up to 20,000 rows, 255 bins
        beyond.
    smoothing : str, a smoother or None, default="auto"
        How to estimate the mean of a node from its rows and its ancestors. "cross-fitted" (in the preset ``default``)
        fits the strength of borrowing on held-out rows, with trees grown without them. Or "raw", "m-branch",
        "hierarchical-shrinkage", "borrowing", or a smoother of `hornbeam.smoothing`. None: raw means.
    pruning : {"auto", "cost-complexity", "none"}, a pruner or None, default="auto"
        How to prune the tree. "cost-complexity" takes the smallest tree within one standard error of the best in
        5-fold cross-validation. Or a pruner of `hornbeam.pruning`, such as ``CostComplexity(alpha)``; None or
        "none": not at all. "auto" is the preset's method; with cross-fitted smoothing it removes leaves by `tolerance`.
    tolerance : float, default=0.0
        With cross-fitted smoothing, the smallest tree is chosen whose loss on held-out rows, the squared error or the
        deviance of `criterion`, is at most this share above that of the tree with 0: 0.02 for 2 %. 0 removes only
        leaves that save next to nothing. `size_path_` has the loss of every size.
    slopes : int or "auto", default="auto"
        Most terms of the tree for each of its leaves, 0 to 3. A term belongs to any node, and changes the mean of its
        rows with the value of a feature. "auto": 2 in the preset ``readable``; with a
        teacher and without a limit of up to 64 leaves, up to eight terms at the root; else 0. Terms need a teacher.
    teacher : {"auto", "ensemble"}, estimator or None, default="auto"
        The model whose predictions the tree is fitted to. "ensemble": a forest, mixed with boosted trees if held-out
        rows are predicted better so. Or a regressor: a fitted one is used as it is, another is cloned and fitted in
        `fit`; see the notes. None: no teacher, the tree is fitted to the rows.
        "auto": "ensemble" with slopes and in the preset ``readable``, else None. With a teacher, `smoothing`,
        `tolerance` and `forced_splits` must have their defaults; `pruning` may be None, which is
        ``fidelity=1.0``. `nominal_split`, `missing`, `min_impurity_decrease` and `max_bins` must have theirs in a tree
        with a limit of up to 64 leaves, and constraints of features theirs in any other.
    fidelity : float, default=0.98
        With a teacher and without `max_leaf_nodes` up to 64, the smallest tree is chosen that keeps this share of the
        full tree's fit to the teacher (the decrease of the squared distance), or the largest one within the limit of
        leaves; smaller values give smaller trees. `tree_.history` has the number of leaves and the limit.
    monotonic_cst : array-like of int, dict or None, default=None
        Sign of each feature's effect on the prediction: 1 (increasing), -1 (decreasing) or 0 (free); or a dict by
        feature name. With a teacher it needs slopes: a feature with a constraint has terms and splits no node.
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
        What one unit of price is worth, in per cent of the variance of all rows (with a deviance as criterion, of half
        its dispersion): with 1, a split that costs 3 must lower the loss of its rows by more than 3 % of that. 0:
        prices change nothing and are only recorded.
    distribution : bool, default=False
        Whether each node also counts its rows by value of the target, for `predict_quantile`, `sample` and the ranges
        of single rows of `predict_interval`. The tree and its means are the same; `fit` takes about twice as long, and
        six times with a teacher, which is fitted again without each of five folds: it must be "ensemble".
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds. None means 0: the same rows always give the same tree. Nothing else is
        random, and the order of the rows does not matter.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The tree does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree as data.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature: its share of the decrease of the criterion.
    size_path_ : SizePath
        Sizes of the tree down to one leaf, each with its squared error or deviance on held-out rows, and its mean price
        if columns have prices; if sizes were compared.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    See Also
    --------
    TreeClassifier : the same for classes.
    ForestRegressor : more accurate, but many trees.

    Notes
    -----
    The same rows give the same tree, bit for bit, in any order and on any number of threads: targets are summed as
    integers (`hornbeam.data.numeric_target`).

    A row stops at an inner node if its category did not occur there in training, or if its value is missing and no
    training value was. It gets the mean of that node.

    A node is split only if that reduces the criterion of its rows.

    Deviances need sums of weights and of weighted targets alone, as the squared error, so a target divided by an
    exposure with the exposure as weight has the splits of the counts. No split makes a child whose targets are all 0:
    its mean would say that nothing can happen there. With cross-fitted smoothing predictions are above 0 in any case;
    raw means may be 0 in leaves of a forced split. Deviances are not for trees with a teacher.

    With a teacher, synthetic rows are made and predicted too, thirty per training row, at least 10,000 and at most
    300,000 (15,000 if `max_leaf_nodes` is at most 64; 50 million values). The evidence of the tree is that of the
    training rows, and the mean prediction of the teacher at a node counts as thirty rows. An estimator as teacher
    predicts the training rows out of bag (`oob_prediction_`) if it has them for as many rows; a forest of 30
    trees or more is fitted with them; any other is cloned and cross-validated in 5 folds. `clone`, and with it
    cross-validation, fits the teacher again in each fold; `sklearn.frozen.FrozenEstimator` keeps a fitted one. A
    model file has the class name of the teacher, not the teacher.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), chapter 8 :cite:p:`breiman1984`.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> reg = TreeRegressor("cart").fit([[1], [2], [3], [4]], [1.0, 1.5, 7.0, 8.0])
    >>> reg.predict([[2.4], [9]])
    array([1.5, 8. ])
    """

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Predict the mean of the node where each row ends.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._predict_rows(X)[:, 0]

    @accepts_source
    def predict_interval(
        self, X: Any, *, level: float = 0.9, kind: Literal["mean", "row"] = "mean"
    ) -> tuple[Floats, Floats]:
        """Compute an interval for each mean of `predict`, or a range for the target of each row.

        The intervals of means are calibrated by `fit` if smoothing is cross-fitted or the tree has a teacher, and else
        by `calibrate_intervals`. With terms the promise is about rows of the node with the same values of the terms:
        the interval is wider, the farther they are from the centres, because slopes are estimates too.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            Probability with which an interval is to contain the true mean of the node where the row ends, or share of
            the rows that their ranges are to hold.
        kind : {"mean", "row"}, default="mean"
            "row": a range for the target of a single row, of a tree fitted with ``distribution=True``.

        Returns
        -------
        low, high : ndarrays of shape (n_rows,)

        Notes
        -----
        Ranges of rows are conformal: they are widened or narrowed until they hold the stated share of held-out rows,
        at most half of the others on either side, with a correction for the number of rows. They hold
        for rows like those of `fit`, on average over all rows, not in each leaf, and not after the target has changed.
        The held-out rows are predicted by trees that are grown without them, not by this tree, so the share is
        approximate. If `fit` had groups, it is that of rows of new groups. Ranges are infinite with
        fewer than ``2 / (1 - level) - 1`` rows, or groups. `update` and `forget` change the counts, and do not
        calibrate again.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> low, high = TreeRegressor("cart").fit([[0]] * 4, [1.0, 2.0, 3.0, 4.0]).predict_interval([[0]])
        >>> low.round(2), high.round(2)
        (array([1.31]), array([3.69]))
        """
        check_choice("kind", kind, ("mean", "row"))
        if kind == "row":
            return self._row_interval(X, level)
        table = self._read(X)
        low, high = predict_interval(self.tree_, table, level, n_jobs=n_threads(self.n_jobs))
        return low[:, 0], high[:, 0]

    def leaves(
        self, *, level: float = 0.9, by: Literal["node", "risk"] = "node", inner: bool = False
    ) -> Leaves:
        """List the leaves: rows, raw and smoothed mean, interval, borrowed rows, rule.

        Parameters
        ----------
        level : float, default=0.9
            Probability with which each interval is to contain the true mean; and the share of single rows in their
            range, with ``distribution=True``.
        by : {"node", "risk"}, default="node"
            The order: by node number, or by falling mean.
        inner : bool, default=False
            Whether to list the inner nodes too.

        Returns
        -------
        Leaves
            A table: print it, convert it with `to_frame` or `to_dict`, or write it as rules with `as_rules`.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> reg = TreeRegressor("cart", max_depth=1).fit([[1], [2], [3], [4]], [1.0, 2.0, 7.0, 9.0])
        >>> reg.leaves(by="risk").to_frame()[["node", "rows", "prediction", "rule"]]
           node  rows  prediction      rule
        0     2     2         8.0  x0 > 2.5
        1     1     2         1.5  x0 ≤ 2.5
        """
        check_is_fitted(self, "tree_")
        return leaves(self.tree_, level, by=by, inner=inner, distribution=self._distribution)

    def cost_complexity_path(self) -> CostComplexityPath:
        """Find every penalty per leaf at which cost-complexity pruning of the tree changes it.

        Returns
        -------
        CostComplexityPath
            A table with a line for each subtree, from `tree_` to its root; impurities are squared errors. Fit with
            ``pruning=None`` for the subtrees of the whole tree.

        See Also
        --------
        hornbeam.pruning.CostComplexity : prunes with one of the penalties.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> reg = TreeRegressor("cart").fit([[1], [2], [3], [4]], [1.0, 2.0, 7.0, 9.0])
        >>> reg.cost_complexity_path().n_leaves.tolist()
        [4, 3, 2, 1]
        """
        check_is_fitted(self, "tree_")
        from hornbeam.pruning.cost_complexity import cost_complexity_path  # imported only when needed

        return cost_complexity_path(self.tree_)

    def _read_target(self, y: Any) -> Floats:
        return read_numeric(self, y)
