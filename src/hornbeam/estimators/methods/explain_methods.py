"""Methods that explain a fitted tree and its predictions.

`hornbeam.explain` is imported inside the methods: it would slow down programs that only fit and predict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from hornbeam.data.engine import resolve_engine
from hornbeam.data.threads import n_threads
from hornbeam.errors import ParameterError
from hornbeam.estimators.methods.reads_rows import ReadsRows, accepts_source
from hornbeam.tree.feature_costs import FeatureCosts
from hornbeam.tree.importance import importance
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.explain.candidates.table import CandidateSplits
    from hornbeam.explain.counterfactual import Counterfactuals
    from hornbeam.explain.drift import Drift
    from hornbeam.explain.explanation import Explanations
    from hornbeam.explain.shapley import ShapValues
    from hornbeam.smoothing.distribution import Distribution


class ExplainMethods(ReadsRows):
    """Explanations of an estimator with one fitted tree in `tree_`."""

    tree_: Tree
    n_jobs: int | None
    _distribution: Distribution | None = None  # only a numeric target has one, if it was asked for

    def explain(self, X: Any, *, level: float = 0.9) -> Explanations:
        """Explain the prediction of each row: its path, the evidence at each node, and the effect of each split.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.
        level : float, default=0.9
            Probability with which the interval is to contain the true rate, or mean, of the node where the row ends;
            and the share of single rows in their range, of a regressor with ``distribution=True``.

        Returns
        -------
        Explanations
            A sequence with one explanation per row, computed on access. Print it, call the `reasons` of a row, or
            convert it with `to_frame` or `to_dict`.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="hgs")
        >>> clf.fit([[36.6], [36.8], [39.0], [39.5]] * 5, ["well", "well", "ill", "ill"] * 5).explain([[38.2]])
        ill 0.917, 90 % interval 0.679 to 0.997
         node   rows  borrowed    raw  smoothed  because
            0     20       1.0  0.500     0.500  every row
            2     10       2.0  1.000     0.917  x0 > 38 (is 38.2)
        stops at a leaf; ...
        """
        table = self._read(X)
        from hornbeam.explain.explanation import explain

        return explain(self.tree_, table, level, self._distribution)._from_rows(X)

    @accepts_source
    def path_costs(self, X: Any) -> Floats:
        """Add up the prices of the columns that the path of each row tests.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        ndarray of float64 of shape (n_rows,)
            In the unit of `feature_costs`. A price that columns share is paid once. A missing value is paid for too.

        Raises
        ------
        ParameterError
            If the tree was grown without prices.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, ["a", "a", "b", "c"] * 5
        >>> clf = TreeClassifier("cart", feature_costs={"x0": 1, "x1": 4}).fit(X, y)
        >>> clf.path_costs([[0, 0], [1, 0]])
        array([1., 5.])
        """
        check_is_fitted(self, "tree_")
        costs = FeatureCosts.of(self.tree_)
        if costs is None:
            raise ParameterError(
                "path_costs: the tree was grown without prices of columns; expected feature_costs. Fit with "
                "feature_costs={'lab test': 3}, say; with feature_cost_weight=0 the tree is the same as without."
            )
        paid: Floats = costs.of_paths(self.tree_)[
            route(self.tree_.skeleton, self._read(X), n_threads(self.n_jobs))
        ]
        return paid

    def shap_values(self, X: Any) -> ShapValues:
        """Compute exact SHAP values: the contribution of each feature to the prediction of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        ShapValues
            `values` of shape (n_rows, n_features, n_classes), with 1 instead of n_classes for a regressor, and `base`.
            The values of a row and `base` add up to its prediction.

        Notes
        -----
        The package shap is not needed. For numeric splits the values are those of ``shap.TreeExplainer``. A split on a
        set of categories is one split here, whereas shap needs a copy of the branch for each run of category positions.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing=None).fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
        >>> found = clf.shap_values([[36.0]])
        >>> found.base.round(3), found.values[0, 0].round(3)
        (array([0.667, 0.333]), array([-0.667,  0.667]))
        """
        table = self._read(X)
        from hornbeam.explain.shapley import shap_values

        return shap_values(self.tree_, table)._from_rows(X)

    def counterfactuals(
        self,
        X: Any,
        *,
        wanted: Any = None,
        fixed: Iterable[str] = (),
        n: int = 1,
        spread: Mapping[str, float] | None = None,
    ) -> Counterfactuals:
        """Find the smallest changes of each row that lead to another prediction.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.
        wanted : label, or (low, high), default=None
            The class to reach; None for any class other than the predicted one. For a `TreeRegressor` the lowest and
            the highest acceptable mean, such as ``(200, None)`` for at least 200.
        fixed : iterable of str, default=()
            Names of features that must not change.
        n : int, default=1
            Number of counterfactuals per row.
        spread : mapping from str to float, default=None
            For numeric features, by name, the size of a change that has distance 1; for example
            ``X.std().to_dict()``. None: the range of the feature's thresholds in the tree.

        Returns
        -------
        Counterfactuals
            A tuple of `Counterfactual` per row: fewest changed features first, then smallest distance.
            Empty if the row already has the wanted prediction, or cannot reach it.

        Notes
        -----
        Distances are summed over the changed features. A change never makes a value missing, nor a category that a
        split on the path has not seen.

        With slopes the prediction depends on the values: it is that of the row with the `values` of the
        counterfactual. Where these do not lead to the wanted prediction, each feature with a term in the leaf is moved
        within its limits, one feature at a time; changes that need two of them are not found.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[36.6], [36.8], [39.0], [39.5]], ["well", "well", "ill", "ill"])
        >>> print(*clf.counterfactuals([[38.2]])[0])
        x0 ≤ 38 (is 38.2): well 1.000
        """
        table = self._read(X)
        from hornbeam.explain.counterfactual import counterfactuals

        found = counterfactuals(self.tree_, table, wanted=wanted, fixed=fixed, n=n, spread=spread)
        return found._from_rows(X)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature: its share of the gain of all splits, weighted by rows; the sum is 1."""
        check_is_fitted(self, "tree_")
        return importance(self.tree_)

    def candidate_splits(
        self,
        X: Any,
        y: Any = None,
        node: int = 0,
        *,
        feature: str | int | None = None,
        criterion: str = "auto",
        sample_weight: Any = None,
        held_out: Any = None,
        engine: Any = None,
    ) -> CandidateSplits:
        """List the candidate splits at a node, with the gain and the children of each.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            All rows the tree was fitted to; those that reach the node are counted. Other rows are allowed: the gains
            are then those of these rows. Files need not fit memory.
        y : array-like of shape (n_rows,) or str, default=None
            Their target; the name of its column if X is files. None for a Source, which has its target and weights.
        node : int, default=0
            Number of the node; 0 is the root. A leaf has candidates too.
        feature : str or int, default=None
            Name or index of a feature: list all its splits. None: the best split of every feature.
        criterion : {"auto", "entropy", "gain_ratio", "gini", "hellinger"}, default="auto"
            The measure of the gains. "auto": that of the fit; entropy for a tree of another library. A regression tree
            has "squared_error", "poisson" and "gamma" instead.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows. The name of a column if X is files.
        held_out : tuple of X and y, default=None
            Rows that the tree was not grown from: each split then has its gain on those that reach the node, with the
            standard error. A third entry of the tuple is their weights. Files are passed as a tuple of paths, the name
            of the target, and possibly that of the weights.
        engine : Engine, default=None
            What reads and counts the rows of files; None: this thread. The result does not depend on it.

        Returns
        -------
        CandidateSplits
            A sequence of `CandidateSplit`: print it, or convert it with `to_frame` or `to_dict`. A feature with a
            single value at the node has no split.

        Raises
        ------
        ParameterError
            If the node, the feature or the criterion does not exist.
        DataError
            If no row reaches the node, or `y` is None.
        SchemaError
            If the columns or the classes are not those of the tree.

        Notes
        -----
        The kernel that grows trees computes the gains, so the split of a tree has the gain in `Tree.gain`. Rows in
        files give the same table as rows in memory, bit for bit, with any engine.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[1, 5], [2, 6], [3, 5], [4, 6]], ["no", "no", "yes", "no"]
        >>> clf = TreeClassifier("id3").fit(X, y)
        >>> clf.candidate_splits(X, y)
        node 0: 4 rows, entropy 0.8113 bits
        rank    gain  split            no yes in each child
          1*  0.3113  x0 ≤ 2.5 | > 2.5  2 0 | 1 1
          2   0.3113  x1 ≤ 5.5 | > 5.5  1 1 | 2 0
        * the split of the tree
        >>> [(split.threshold, round(split.gain, 3)) for split in clf.candidate_splits(X, y, feature="x0")]
        [(1.5, 0.123), (2.5, 0.311), (3.5, 0.123)]
        """
        check_is_fitted(self, "tree_")
        from hornbeam.explain.candidates.list_splits import candidate_splits
        from hornbeam.explain.candidates.training_rows import grower_of

        found = candidate_splits(
            self,
            X,
            y,
            node,
            feature=feature,
            sample_weight=sample_weight,
            grower=grower_of(self.tree_, criterion),
            held_out=held_out,
            engine=engine,
        )
        return found._from_rows(X)

    def drift(self, X: Any, y: Any = None, *, sample_weight: Any = None, engine: Any = None) -> Drift:
        """Test whether new rows are distributed over the leaves as in training, and have the predicted rates.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows that the tree was not fitted to. Files are read a part at a time, and need not fit in memory.
        y : array-like of shape (n_rows,) or str, default=None
            Their target, if it is known; of files, the name of its column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows. The name of a column if X is files.
        engine : Engine, default=None
            What reads and counts files or a Source; None: `n_jobs` threads. The result does not depend on it.

        Returns
        -------
        Drift
            A table with the population stability index: print it, or convert it with `to_frame` or
            `to_dict`.

        Notes
        -----
        The population stability index is the sum of ``(found - expected) log(found / expected)`` over the leaves, with
        half a row added to each leaf. With m leaves, N training rows and n new rows, and without any change, it is
        about ``(1 / N + 1 / n)`` times a chi-square variable of m - 1 degrees of freedom. So it is large by chance for
        a large tree and few rows. By convention, below 0.1 is a small change and above 0.25 a large one (Siddiqi,
        Credit Risk Scorecards, 2006).

        Class rates are compared by the chi-square test of two samples: the new rows, and the effective size of the
        prediction, which is estimated from rows too. Means are compared by Welch's test of the same samples. Holm's
        correction (Scandinavian Journal of Statistics 6, 1979) allows for the number of leaves.

        Rows are added up exactly, in one pass over the columns that the tree uses. If missing values go to every child,
        whole weights are added up before, in a pass of their own.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier().fit([[0], [1]] * 30, ["no", "yes"] * 30)
        >>> clf.drift([[0]] * 12 + [[1]] * 36)
         node   rows  expected   found    psi
            1     12    50.0 %  25.0 %  0.165
            2     36    50.0 %  75.0 %  0.098
        population stability index 0.262, p = 0.008
        """
        from hornbeam.explain.drift import drift

        check_is_fitted(self, "tree_")
        engine = resolve_engine(engine, n_threads(self.n_jobs))
        rows = self._open_rows(X, y, sample_weight, engine=engine)
        return drift(self.tree_, rows, engine)._from_rows(X)
