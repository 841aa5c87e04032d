"""How far splits, probabilities and decisions change if an estimator is fitted to other rows like these."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_flags, check_number, check_whole
from hornbeam.data.rows import require_in_memory
from hornbeam.data.threads import n_threads
from hornbeam.errors import ParameterError, shown
from hornbeam.evaluation.refits import Refits, fitted, seed_parameters
from hornbeam.export.wording import rule_texts
from hornbeam.grid import Grid, Result, by_class
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import unwrap
from hornbeam.tree.words import (
    feature_name,
    label_text,
    mean_text,
    number_text,
    pluralise,
    probability_text,
    shortened,
)
from hornbeam.typing import Floats, Indices

_LETTERS = 40  # of a feature's name in a table
_TAIL = 0.05  # on each side of a 90 % range
_SHARES = (0.1, 0.5)  # of the refits, in which a decision changes


@dataclass(frozen=True, slots=True)
class RootSplit:
    """A feature that splits the root of some refitted trees.

    Parameters
    ----------
    feature : str or None
        Its name; None for trees without a split.
    share : float
        Share of the refits.
    chosen : bool
        Whether the fitted model splits its root by this feature.
    threshold, low, high : float or None
        Median and 90 % range of the thresholds; None if there are none, as for a nominal feature.
    """

    feature: str | None
    share: float
    chosen: bool
    threshold: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def threshold_text(self) -> str:
        """The median of the thresholds with their range, as text; a dash if there are none.

        Examples
        --------
        >>> RootSplit("age", 0.9, True, 54.5, 41.0, 58.25).threshold_text, RootSplit("sex", 0.1, False).threshold_text
        ('54.5 (41 to 58.25)', '–')
        """
        if self.threshold is None or self.low is None or self.high is None:
            return "–"
        median, low, high = (number_text(value, 3) for value in (self.threshold, self.low, self.high))
        return f"{median} ({low} to {high})"


@dataclass(frozen=True, slots=True, eq=False)
class LeafSpread:
    """The mean prediction of the refits for the rows of each leaf of the fitted tree.

    Parameters
    ----------
    node : intp array of shape (n_leaves,)
        The leaves, as returned by `apply`.
    rule : tuple of str
        Their conditions; empty texts for trees of other libraries.
    rows : int64 array of shape (n_leaves,)
        Number of rows.
    probability, sd, low, high : float64 array of shape (n_leaves, n_classes)
        Mean prediction of the fitted model, and the standard deviation and 90 % range of that of the refits, which is
        widened to include that of the fitted model; one column if the target is numeric.
    """

    node: NDArray[np.intp]
    rule: tuple[str, ...]
    rows: NDArray[np.int64]
    probability: Floats
    sd: Floats
    low: Floats
    high: Floats


class _Measured(NamedTuple):
    """Predictions, decisions and the root split of one model."""

    predicted: Floats
    decided: NDArray[Any]
    root: tuple[str | None, float] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stability(Result[dict[str, Any]]):
    """What changes between refits of an estimator on halves of the rows.

    Parameters
    ----------
    classes : tuple
        Class labels; empty if the target is numeric.
    drawn : str
        What the refits differ in.
    n_refits : int
        Number of refits.
    roots : tuple or None
        Features of the root split, the most frequent first, each with `feature`, `share`, `chosen` (whether the fitted
        model has it), and `threshold`, `low`, `high`; None if the model is not one tree.
    leaves : object or None
        Spread of the predictions of each leaf, in the arrays `node`, `rule`, `rows`, `probability`, `sd`, `low` and
        `high`; None if the model is not one tree.
    probability, sd, low, high : float64 array of shape (n_rows, n_classes)
        Prediction of the fitted model for each row, and the standard deviation and 90 % range of those of the refits,
        which is widened to include that of the fitted model; one column if the target is numeric.
    moved : float64 array of shape (n_rows,)
        Largest distance between a prediction of a refit and that of the fitted model.
    changed : float64 array of shape (n_rows,) or None
        Share of the refits with another decision than the fitted model; None if the target is numeric.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> stability(TreeClassifier("cart", max_leaf_nodes=3), X, y)
    20 refits on halves of 569 rows.
    The decision changes for 92 of 569 rows in at least 10 % of the refits, for 25 in at least 50 %.
    The largest change of a probability is 0.974, of row 111.
    <BLANKLINE>
    root split             share  threshold
    worst perimeter         30 %  110 (106 to 115.4)
    worst area              25 %  890 (866 to 926)
    worst concave points    25 %  0.142 (0.122 to 0.144)
    mean concave points     15 %  0.0514 (0.05 to 0.0515)
    worst radius (fitted)    5 %  16.8 (16.8 to 16.8)
    <BLANKLINE>
    node  rows  class  probability     sd      90 % range  rule
       2   190  1            0.058  0.036  0.056 to 0.188  worst radius > 16.8
       3   333  1            0.985  0.019  0.929 to 0.988  worst radius ≤ 16.8 and worst concave points ≤ 0.1358
       4    46  1            0.391  0.155  0.242 to 0.637  worst radius ≤ 16.8 and worst concave points > 0.1358
    """

    classes: tuple[Any, ...]
    drawn: str
    n_refits: int
    roots: tuple[RootSplit, ...] | None
    leaves: LeafSpread | None
    probability: Floats
    sd: Floats
    low: Floats
    high: Floats
    moved: Floats
    changed: Floats | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.moved)

    def n_changed(self, share: float) -> int | None:
        """Count the rows whose decision changes in at least this share of the refits; None for a numeric target."""
        check_number("share", share, 0, 1)
        return None if self.changed is None else int((self.changed >= share).sum())

    def _sentences(self) -> list[str]:
        """Describe the changes of decisions and predictions.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> found = stability(TreeClassifier("cart"), [[0], [1]] * 10, ["no", "yes"] * 10)
        >>> for sentence in found._sentences():
        ...     print(sentence)
        20 refits on halves of 20 rows.
        The decision changes for 0 of 20 rows in at least 10 % of the refits, for 0 in at least 50 %.
        The largest change of a probability is 0.000, of row 0.
        """
        text = [f"{pluralise(self.n_refits, 'refit')} {self.drawn}."]
        if self.changed is not None:
            some, half = (self.n_changed(share) for share in _SHARES)
            text.append(
                f"The decision changes for {some:,} of {pluralise(self.n_rows, 'row')} in at least 10 % of the refits, "
                f"for {half:,} in at least 50 %."
            )
        what, number = ("probability", probability_text) if self.classes else ("prediction", mean_text)
        worst = int(self.moved.argmax())
        text.append(f"The largest change of a {what} is {number(self.moved.item(worst))}, of row {worst:,}.")
        return text

    def _root_cells(self) -> Iterator[tuple[str, str, str]]:
        """Yield feature, share and thresholds of each root split, as text."""
        for root in self.roots or ():
            name = "no split" if root.feature is None else shortened(feature_name(root.feature), _LETTERS)
            yield name + " (fitted)" * root.chosen, f"{100 * root.share:.0f} %", root.threshold_text

    def _leaf_cells(self, code: int | None = None) -> Iterator[tuple[str, ...]]:
        """Yield node, rows, class, prediction, standard deviation, range and rule of each leaf, as text.

        Parameters
        ----------
        code : int, optional
            Position of the class whose probability is shown; default: the second of two classes, else the most probable
            class of the leaf. A numeric target has no class.
        """
        spread = self.leaves
        if spread is None:
            return
        if code is None:
            code = 1 if len(self.classes) == 2 else None
        number = probability_text if self.classes else mean_text
        for at, node in enumerate(spread.node.tolist()):
            k = int(spread.probability[at].argmax()) if code is None else code
            value, sd, low, high = (
                number(part.item(at, k)) for part in (spread.probability, spread.sd, spread.low, spread.high)
            )
            label = (label_text(self.classes[k]),) if self.classes else ()
            counts = f"{node}", f"{spread.rows.item(at):,}", *label
            yield *counts, value, sd, f"{low} to {high}", spread.rule[at]

    @property
    def _leaf_header(self) -> list[str]:
        """Names of the columns of `_leaf_cells`."""
        middle = ["class", "probability"] if self.classes else ["mean"]
        return ["node", "rows", *middle, "sd", "90 % range", "rule"]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per row: prediction, spread of each class, and changes.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> found = stability(TreeClassifier("cart"), [[0], [1]] * 10, ["no", "yes"] * 10)
        >>> list(found.to_dict())
        ['p_no', 'p_yes', 'sd_no', 'sd_yes', 'low_no', 'low_yes', 'high_no', 'high_yes', 'moved', 'changed']
        """
        values = {
            "p" if self.classes else "prediction": self.probability,
            "sd": self.sd,
            "low": self.low,
            "high": self.high,
        }
        columns: dict[str, list[Any]] = {}
        for name, value in values.items():
            columns |= by_class(name, self.classes, value)
        changed = {} if self.changed is None else {"changed": self.changed.tolist()}
        return columns | {"moved": self.moved.tolist()} | changed

    def summary(self) -> dict[str, Any]:
        """Return all but the values of single rows, as plain values.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> found = stability(TreeClassifier("cart"), [[0], [1]] * 10, ["no", "yes"] * 10).summary()
        >>> found["roots"], found["largest_change"]
        ([{'feature': 'x0', 'share': 1.0, 'chosen': True, 'threshold': 0.5, 'low': 0.5, 'high': 0.5}], 0.0)
        """
        leaves = None
        if self.leaves is not None:
            columns = {name: getattr(self.leaves, name) for name in LeafSpread.__slots__}
            leaves = {name: np.asarray(column).tolist() for name, column in columns.items()}
        some, half = (self.n_changed(share) for share in _SHARES)
        return {
            "n_rows": self.n_rows,
            "n_refits": self.n_refits,
            "drawn": self.drawn,
            "classes": list(self.classes),
            "roots": None if self.roots is None else [asdict(root) for root in self.roots],
            "leaves": leaves,
            "changed_in_10_percent": some,
            "changed_in_50_percent": half,
            "largest_change": float(self.moved.max()),
            "row_of_largest_change": int(self.moved.argmax()),
        }

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return "\n\n".join(["\n".join(self._sentences()), *(grid.text() for grid in self._grids())])

    def _repr_html_(self) -> str:
        first, *others = self._sentences()
        head = Grid(first, ["stability"], [[text] for text in others])
        return "".join(grid.html() for grid in (head, *self._grids()))

    def _grids(self) -> Iterator[Grid]:
        if self.roots is not None:
            yield Grid("Root splits", ["root split", "share", "threshold"], list(self._root_cells()), "<><")
        if self.leaves is not None:
            align = ">><>>><" if self.classes else ">>>>><"
            yield Grid("Leaves", self._leaf_header, list(self._leaf_cells()), align)


def stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_refits: int = 20,
    only_seeds: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Stability:
    """Refit an estimator on halves of the rows, and compare splits, probabilities and decisions.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor with the interface of scikit-learn; it is not changed. If it is not fitted, a copy is
        fitted to all rows; else X and y must be the rows of its fit.
    X : array-like or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    sample_weight : array-like of shape (n_rows,), optional
        Passed to each fit.
    groups : array-like of shape (n_rows,), optional
        The group of each row, such as a patient with several visits: halves of the groups are drawn. Also passed to the
        fit, if it has this parameter.
    n_refits : int, default 20
        Number of refits. Fewer than 19 make the 90 % ranges too narrow.
    only_seeds : bool, default False
        Whether to fit to all rows each time, with another `random_state` only.
    random_state : int, default 0
        Seed of the halves, and of the seeds of the refits.
    n_jobs : int, optional
        Number of threads, with a refit each: None is 1, -1 all cores. The result does not depend on it.
    on_progress : callable, optional
        Called with the number of refits so far.

    Returns
    -------
    Stability

    Notes
    -----
    Each refit has its own seed, in every parameter called `random_state`. The halves are drawn without replacement, in
    pairs that have no row in common (Shah and Samworth, 2013). A bootstrap would copy rows, and a copy of a row on the
    other side of a fold misleads whatever is chosen on held-out rows. For means, and roughly for trees, the spread
    between halves is that between independent tables of the full size; larger parts have too much in common. All
    halves come from one table, so splits and decisions change a little less often than between tables.

    The result does not depend on the order of the rows.

    References
    ----------
    Meinshausen and Bühlmann (2010) :cite:p:`meinshausen2010`. Shah and Samworth (2013) :cite:p:`shah2013`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = stability(TreeClassifier(), X, y, n_refits=6)
    >>> found.n_changed(0.5), found.moved.shape
    (6, (150,))
    """
    n_jobs = n_threads(n_jobs)
    check_whole("n_refits", n_refits, 2)
    check_whole("random_state", random_state, 0)
    check_flags(only_seeds=only_seeds)
    if on_progress is not None and not callable(on_progress):
        raise ParameterError(
            f"on_progress={shown(on_progress)}: expected a function of the number of refits."
        )
    require_in_memory(X, "stability")
    model = fitted(estimator, X, y, sample_weight=sample_weight, groups=groups)
    if only_seeds and not seed_parameters(model):
        raise ParameterError(
            f"only_seeds=True, and a {type(model).__name__} has no parameter random_state; expected one. Leave "
            "only_seeds out to draw rows."
        )
    classes = np.asarray(getattr(model, "classes_", ()))
    refits = Refits.draw(
        model,
        X,
        y,
        sample_weight,
        groups,
        int(n_refits),
        classification=hasattr(model, "classes_"),
        only_seeds=only_seeds,
        random_state=int(random_state),
    )
    found: list[_Measured] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows has warned already
        for one in refits.map(lambda refit: _measure(refit, X, classes), n_jobs):
            found.append(one)
            if on_progress is not None:
                on_progress(len(found))
    base, predicted = _measure(model, X, classes), np.stack([one.predicted for one in found])
    sd, low, high = _spread(base.predicted, predicted)
    changed = None
    if len(classes):
        changed = np.mean([one.decided != base.decided for one in found], axis=0)
    units = pluralise(refits.n_units, "row" if groups is None else "group")
    rows = pluralise(len(base.decided), "row")
    return Stability(
        classes=tuple(classes.tolist()),
        drawn=f"with other seeds on all {rows}" if only_seeds else f"on halves of {units}",
        n_refits=len(found),
        roots=_roots(base, found),
        leaves=_leaves(model, X, base.predicted, predicted, refits.order),
        probability=base.predicted,
        sd=sd,
        low=low,
        high=high,
        moved=np.abs(predicted - base.predicted).max(axis=(0, 2)),
        changed=changed,
    )._from_rows(X, y)


def _measure(model: Any, X: Any, classes: NDArray[Any]) -> _Measured:
    """Predict all rows, with a column for each class that the model of all rows has."""
    decided = np.asarray(model.predict(X))
    if not len(classes):
        return _Measured(decided.reshape(len(decided), 1), decided, _root(model))
    position = {label: code for code, label in enumerate(classes.tolist())}
    predicted = np.zeros((len(decided), len(classes)))
    if hasattr(model, "predict_proba"):
        predicted[:, [position[label] for label in model.classes_.tolist()]] = model.predict_proba(X)
    else:
        predicted[np.arange(len(decided)), [position[label] for label in decided.tolist()]] = 1.0
    return _Measured(predicted, decided, _root(model))


def _root(model: Any) -> tuple[str | None, float] | None:
    """Return the feature and the threshold of the root split, NaN if it has none; None if there is no tree."""
    inner = unwrap(model).model
    if not hasattr(inner, "tree_"):
        return None
    tree = inner.tree_
    arrays = tree.skeleton if isinstance(tree, Tree) else tree
    feature, threshold = int(arrays.feature[0]), float(arrays.threshold[0])
    if feature < 0:
        return None, np.nan
    if not isinstance(tree, Tree):
        names = getattr(inner, "feature_names_in_", None)
        return f"x{feature}" if names is None else str(names[feature]), threshold
    known = tree.schema.features[feature]
    return known.name, threshold if known.is_numeric else np.nan


def _roots(base: _Measured, found: list[_Measured]) -> tuple[RootSplit, ...] | None:
    """Count the root splits, the most frequent first; ties in the order of their names."""
    splits = [one.root for one in found if one.root is not None]
    if base.root is None or len(splits) < len(found):
        return None
    thresholds: dict[str | None, list[float]] = {base.root[0]: []}
    for feature, threshold in splits:
        thresholds.setdefault(feature, []).append(threshold)
    roots = []
    for feature, values in thresholds.items():
        share, chosen = len(values) / len(found), feature == base.root[0]
        spread: list[float] = []
        known = np.array(values)[np.isfinite(values)]  # a split off of missing values has no threshold
        if len(known):
            spread = [float(np.median(known)), *_range(known).tolist()]
        roots.append(RootSplit(feature, share, chosen, *spread))
    return tuple(sorted(roots, key=lambda root: (-root.share, root.feature or "")))


def _leaves(
    model: Any, X: Any, base: Floats, predicted: Floats, order: NDArray[np.intp]
) -> LeafSpread | None:
    """Summarise the mean predictions of the rows of each leaf, added in an order that does not depend on that of X."""
    inner = unwrap(model)
    if not hasattr(inner.model, "tree_"):
        return None
    ends: Indices = inner.model.apply(X if inner.before is None else inner.before.transform(X))
    node, leaf, rows = np.unique(ends, return_inverse=True, return_counts=True)

    def means(values: Floats) -> Floats:
        sums = [np.bincount(leaf[order], column) for column in values[order].T]
        return np.stack(sums, axis=1) / rows[:, None]

    each = np.stack([means(one) for one in predicted])
    tree, mean = inner.model.tree_, means(base)
    rule = rule_texts(tree, node.tolist()) if isinstance(tree, Tree) else [""] * len(node)
    return LeafSpread(node.astype(np.intp), tuple(rule), rows, mean, *_spread(mean, each))


def _spread(fitted: Floats, refits: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the standard deviation of the refits, and their range, widened to the value of the fitted model."""
    low, high = _range(refits)
    return refits.std(axis=0, ddof=1), np.minimum(low, fitted), np.maximum(high, fitted)


def _range(values: Floats) -> Floats:
    """Return the bounds between which one more refit lies with a probability of 90 %, from 19 refits on.

    Weibull's quantiles have this property: the k-th of n values is the quantile k / (n + 1).
    """
    bounds: Floats = np.quantile(values, [_TAIL, 1 - _TAIL], axis=0, method="weibull")
    return bounds
