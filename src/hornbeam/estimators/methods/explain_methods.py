"""Methods that explain a fitted tree and its predictions.

`hornbeam.explain` is imported inside the methods: it would slow down programs that only fit and predict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils.validation import check_is_fitted

from hornbeam.data.engine import LocalEngine
from hornbeam.estimators.methods.reads_rows import ReadsRows
from hornbeam.estimators.parameters.validators import n_threads
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.explain import Counterfactuals, Drift, Explanations, Leaves, ShapValues


class ExplainMethods(ReadsRows):
    """Explanations of an estimator with one fitted tree in `tree_`."""

    tree_: Tree
    n_jobs: int | None

    def explain(self, X: Any, *, level: float = 0.9) -> Explanations:
        """Explain the prediction of each row: its path, the evidence at each node, and the effect of each split.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.
        level : float, default=0.9
            Probability with which the interval is to contain the true rate, or mean, of the node where the row ends.

        Returns
        -------
        Explanations
            A sequence with one explanation per row, computed on access. Print it, call its `reasons`, or convert it
            with `to_dict`.

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
        from hornbeam import explain

        return explain.explain(self.tree_, table, level)

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
        The package shap is not needed.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing=None).fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
        >>> found = clf.shap_values([[36.0]])
        >>> found.base.round(3), found.values[0, 0].round(3)
        (array([0.667, 0.333]), array([-0.667,  0.667]))
        """
        table = self._read(X)
        from hornbeam import explain

        return explain.shap_values(self.tree_, table)

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
            A list with a tuple of `Counterfactual` per row: fewest changed features first, then smallest distance
            (`hornbeam.explain.counterfactuals`). Empty if the row already has the wanted prediction, or cannot
            reach it.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[36.6], [36.8], [39.0], [39.5]], ["well", "well", "ill", "ill"])
        >>> print(*clf.counterfactuals([[38.2]])[0])
        x0 ≤ 38 (is 38.2): well 1.000
        """
        table = self._read(X)
        from hornbeam import explain

        return explain.counterfactuals(self.tree_, table, wanted=wanted, fixed=fixed, n=n, spread=spread)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature: its share of the gain of all splits, weighted by rows; the sum is 1."""
        from hornbeam import explain

        check_is_fitted(self, "tree_")
        return explain.importance(self.tree_)

    def leaves(
        self, *, level: float = 0.9, positive: Any = None, by: Literal["node", "risk"] = "node"
    ) -> Leaves:
        """List the leaves: rows, raw and smoothed rate or mean, interval, borrowed rows, rule.

        Parameters
        ----------
        level : float, default=0.9
            Probability with which each interval is to contain the true rate, or mean.
        positive : label, default=None
            The class of interest: every printed line shows the rates of this class. None: each line shows the rates
            of the class predicted there.
        by : {"node", "risk"}, default="node"
            The order: by node number, or by falling probability of `positive`; for a regressor, by falling mean.

        Returns
        -------
        Leaves
            A table: print it, convert it with `to_dict`, or write it as rules with `as_rules`.

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
        from hornbeam import explain

        check_is_fitted(self, "tree_")
        return explain.leaves(self.tree_, level, positive=positive, by=by)

    def drift(self, X: Any, y: Any = None, *, engine: Any = None) -> Drift:
        """Test whether new rows are distributed over the leaves as in training, and have the predicted rates.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows that the tree was not fitted to. Files are read a part at a time, and need not fit in memory.
        y : array-like of shape (n_rows,) or str, default=None
            Their target, if it is known; of files, the name of its column.
        engine : Engine, default=None
            What reads and counts files or a Source; None: `n_jobs` threads. The result does not depend on it.

        Returns
        -------
        Drift
            A table with the population stability index: print it, or convert it with `to_dict`.

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
        from hornbeam import explain

        check_is_fitted(self, "tree_")
        engine = LocalEngine(n_threads(self.n_jobs)) if engine is None else engine
        return explain.drift(self.tree_, self._open_rows(X, y, engine=engine), engine)
