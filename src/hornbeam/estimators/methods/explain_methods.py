"""What a fitted estimator says of its tree: methods that estimators of one tree take over.

They ask an estimator for its ``tree_``, which decides as it does, and to read rows (``_read``). What
they call is loaded when it is called: whoever only fits and predicts does not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils.validation import check_is_fitted

from hornbeam.smoothing import effective_size
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.explain import Counterfactuals, Drift, Explanations, Leaves, ShapValues
    from hornbeam.rules import RuleSet

__all__ = [
    "counterfactuals",
    "drift",
    "explain",
    "feature_importances",
    "leaves",
    "rules",
    "shap_values",
]


def explain(self: Any, X: Any, level: float = 0.9) -> Explanations:
    """Say why each row gets its probabilities, or its mean: the tests it took, what they rest on, what moved them.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Rows like those of `fit`.
    level : float, default=0.9
        How often the true rate, or mean, of the node that answers is to be within the interval.

    Returns
    -------
    Explanations
        One for each row, made when it is asked for: to print, to ask for `reasons`, or to make JSON of with
        `to_dict`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart", smoothing="hgs")
    >>> clf.fit([[36.6], [36.8], [39.0], [39.5]] * 5, ["well", "well", "ill", "ill"] * 5).explain([[38.2]])
    ill 0.917, 90 % interval 0.679 to 0.997
     node   rows  borrowed    raw  smoothed  because
        0     20       1.0  0.500     0.500  every row
        2     10       2.0  1.000     0.917  x0 > 38 (is 38.2)
    stops at a leaf; borrowed 1.0 from node 0, 1.0 from the uniform prior
    """
    table = self._read(X)
    from hornbeam import explain as floor

    return floor.explain(self.tree_, table, level)


def shap_values(self: Any, X: Any) -> ShapValues:
    """Return what each feature adds to the prediction of each row: exact SHAP values, without the package shap.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Rows like those of `fit`.

    Returns
    -------
    ShapValues
        `values` of shape (n_rows, n_features, n_classes), or one in the place of classes for a number, and `base`:
        together they add up to the prediction.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart", smoothing=None).fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> found = clf.shap_values([[36.0]])
    >>> found.base.round(3), found.values[0, 0].round(3)
    (array([0.667, 0.333]), array([-0.667,  0.667]))
    """
    table = self._read(X)
    from hornbeam import explain as floor

    return floor.shap_values(self.tree_, table)


def counterfactuals(
    self: Any,
    X: Any,
    *,
    wanted: Any = None,
    fixed: Iterable[str] = (),
    n: int = 1,
    spread: Mapping[str, float] | None = None,
) -> Counterfactuals:
    """Say what would have to change for each row to be answered otherwise.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Rows like those of `fit`.
    wanted : label, or pair of numbers, default=None
        The class to come to; None for any other than `predict` names. Of a `TreeRegressor` the lowest and the highest
        mean that will do, such as ``(200, None)`` for at least 200.
    fixed : iterable of str, default=()
        Names of features that cannot change.
    n : int, default=1
        How many ways to find for each row.
    spread : mapping from str to float, default=None
        For numeric features, by name, how large a change counts 1; ``X.std().to_dict()``, say. None: the
        change over all thresholds that the tree has for the feature.

    Returns
    -------
    Counterfactuals
        A list with a tuple of `Counterfactual` for each row: the ways that need the fewest features to change,
        then those at the least distance (`hornbeam.explain.counterfactuals`). None for a row that is answered
        so already, or cannot be.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[36.6], [36.8], [39.0], [39.5]], ["well", "well", "ill", "ill"])
    >>> print(*clf.counterfactuals([[38.2]])[0])
    x0 ≤ 38 (is 38.2): well 1.000
    """
    table = self._read(X)
    aims = {"wanted": wanted, "fixed": fixed, "n": n, "spread": spread}
    from hornbeam import explain as floor

    return floor.counterfactuals(self.tree_, table, **aims)


def feature_importances(self: Any) -> Floats:
    """How much each feature matters: the gain of its tests, by the rows they were put to; they add up to 1."""
    from hornbeam import explain as floor

    check_is_fitted(self, "tree_")
    return floor.importance(self.tree_)


def leaves(
    self: Any,
    level: float = 0.9,
    *,
    positive: Any = None,
    by: Literal["node", "risk"] = "node",
) -> Leaves:
    """List the leaves: rows, raw and smoothed rate or mean, interval, rows borrowed, rule.

    Parameters
    ----------
    level : float, default=0.9
        How often the true rate, or mean, is to be within the interval.
    positive : label, default=None
        The class of interest: every printed line has the rates of this class. None: each line has those of its own
        class.
    by : {"node", "risk"}, default="node"
        The order: by number, or the highest probability of `positive` first; where the target is numeric, the
        highest mean.

    Returns
    -------
    Leaves
        A table to print, or to make a data frame of with its `to_dict`, or rules with `as_rules`.

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
    from hornbeam import explain as floor

    check_is_fitted(self, "tree_")
    return floor.leaves(self.tree_, level, positive=positive, by=by)


def rules(self: Any, *, inner: bool = False) -> RuleSet:
    """Write the tree as rules, one a leaf; `RuleClassifier` makes fewer and shorter ones.

    Parameters
    ----------
    inner : bool, default=False
        Also the rules of inner nodes, behind the others, for rows that stop there.

    Returns
    -------
    RuleSet
        Rules with the evidence and the probabilities of the leaves; `hornbeam.export.rules_text` writes them
        for people.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    >>> clf.rules()
    RuleSet(2 rules, 2 conditions, default 'yes')
    """
    check_is_fitted(self, "tree_")
    from hornbeam.explain.notebook import ShownRules
    from hornbeam.rules import extract

    found = extract(self.tree_, inner=inner, size=effective_size(self.tree_))
    return ShownRules(found.schema, found.rules, found.default)


def drift(self: Any, X: Any, y: Any = None) -> Drift:
    """Say whether as many rows come to each leaf as the tree counted, and of the classes or the mean it believes.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Rows that the tree has not counted.
    y : array-like of shape (n_rows,), default=None
        Their labels, or numbers, if they are known.

    Returns
    -------
    Drift
        A table to print, or to make a data frame of with its `to_dict`, and the population stability index.

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
    table = self._read(X, y)
    from hornbeam import explain as floor

    return floor.drift(self.tree_, table)
