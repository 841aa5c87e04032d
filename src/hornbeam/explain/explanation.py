"""Explanations of predictions: decision paths, intervals and reasons of each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.data.table import Table
from hornbeam.explain.intervals import predict_interval, stops
from hornbeam.explain.path import DecisionPath, paths
from hornbeam.explain.reasons import Reason, reasons
from hornbeam.export.wording import range_text
from hornbeam.grid import Grid, Result, by_class
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.decision import class_code
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.feature_costs import FeatureCosts
from hornbeam.tree.route import decide_rows, predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import with_ancestors
from hornbeam.tree.words import label_text, mean_text, plain_label, pluralise, probability_text
from hornbeam.typing import Indices, Label

if TYPE_CHECKING:
    from hornbeam.smoothing.distribution import Distribution

_MOST_ROWS = 10  # printed
_MOST_PATHS = 5  # printed for a row with many paths
_OF_RANGES = ("low", "median", "high")
_MOST_SOURCES = 4  # of borrowed rows, printed for one node


@dataclass(frozen=True, slots=True)
class RowRange:
    """The range of single rows like one row, from the distribution of a numeric target.

    Parameters
    ----------
    low, median, high : float
        Bounds of the range, and the value that half of such rows do not exceed; infinite with too few rows.
    level : float
        Share of rows in the range.
    rows, borrowed : float
        Own rows of the node that were counted, and rows that it borrowed from its ancestors.

    Examples
    --------
    >>> print(RowRange(8.0, 10.0, 14.0, 0.8, 120.0, 14.0))
    80 % of such rows between 8 and 14, half of them 10 or less; own 120 rows, borrowed 14
    """

    low: float
    median: float
    high: float
    level: float
    rows: float
    borrowed: float

    def __str__(self) -> str:
        words = range_text(self.low, self.median, self.high, self.level)
        return f"{words}; own {self.rows:.6g} rows, borrowed {self.borrowed:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; None for an infinite bound."""
        return {name: None if isinf(value) else value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Explanation of the prediction of one row; printed, a line per node on its path.

    Parameters
    ----------
    classes : tuple of hashable
        The class labels; empty if the target is numeric.
    prediction : hashable or float
        The predicted class; for a numeric target, the mean.
    probability : tuple of float
        The probability of each class; for a numeric target, the mean alone.
    low, high : tuple of float
        Bounds of the interval of each of them.
    level : float
        Level of the intervals.
    paths : tuple
        The path of the row; several, each with its `share`, if missing values were distributed over children. A path
        has `steps`, `end` (where it stops, as text), `borrowed_from`, the `terms` of its nodes, and the `price` of the
        columns that it tests if they have prices. A step has
        `node`, `condition`, `value`, `rows`, `counts`, `probability`, `low`, `high` and `borrowed`.
    row_range : RowRange, optional
        The range of single rows, of a model that was fitted with ``distribution=True``: `low`, `median`, `high`,
        `level`, and the `rows` and `borrowed` rows that were counted.

    See Also
    --------
    TreeClassifier.explain, TreeRegressor.explain : the methods that return explanations.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[20, "a"], [20, "b"], [40, "a"], [40, "b"]] * 5, ["no", "no", "no", "yes"] * 5
    >>> clf = TreeClassifier(smoothing="hgs").fit(X, y)
    >>> print(clf.explain([[41, "b"]])[0])
    yes 0.781, 90 % interval 0.376 to 0.985
     node   rows  borrowed    raw  smoothed  because
        0     20       1.0  0.250     0.262  every row
        2     10       2.0  0.500     0.479  x0 > 30 (is 41)
        4      5       3.0  1.000     0.781  x1 = b (is b)
    stops at a leaf; borrowed 1.0 from node 2, 1.0 from node 0, 1.0 from the uniform prior
    """

    classes: tuple[Label, ...]
    prediction: Any
    probability: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float
    paths: tuple[DecisionPath, ...]
    row_range: RowRange | None = None

    def reasons(self, *, positive: Any = None, n: int | None = None) -> tuple[Reason, ...]:
        """List how far each feature moved the probability of a class, or the mean.

        Parameters
        ----------
        positive : hashable, optional
            The class. Default: the predicted class.
        n : int, optional
            Number of reasons. Default: all of them.

        Returns
        -------
        tuple of Reason
            The largest change first. The changes add up to the probability of the row, or its mean, minus that of
            the root.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[20, "a"], [20, "b"], [40, "a"], [40, "b"]] * 5, ["no", "no", "no", "yes"] * 5
        >>> row = TreeClassifier(smoothing="hgs").fit(X, y).explain([[41, "b"]])[0]
        >>> print(*row.reasons(positive="no"), sep="; ")
        x1 = b moved no from 0.521 to 0.219; x0 > 30 moved no from 0.738 to 0.521
        """
        check_whole("n", n, 0, none="all")
        k = self._code(positive)
        return reasons(self.paths, self.classes[k] if self.classes else None, k)[:n]

    def _code(self, positive: Any = None) -> int:
        """Find the position of a class; of the predicted class if it is not given, 0 for a numeric target."""
        if not self.classes and positive is None:
            return 0
        return class_code(self.classes, self.prediction if positive is None else positive)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        k = self._code()
        tables = []
        for path in sorted(self.paths, key=lambda path: -path.share):
            share = f"{100 * path.share:.1f} % of the row: " if path.share < 1 else ""
            grid = _path_grid(path, k if self.classes else None, self.level)
            tables.append(replace(grid, caption=share + "; ".join([self._caption(k), *self._range])).html())
        return "".join(tables)

    def to_text(self, *, positive: Any = None) -> str:
        """Write the explanation, with the probabilities of one class.

        Parameters
        ----------
        positive : hashable, optional
            The class. Default: the predicted class.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
        >>> print(clf.explain([[36.0]])[0].to_text(positive="no"))
        no 0.000, 90 % interval 0.000 to 0.902; taken for yes
         node   rows  borrowed    raw  smoothed  because
            0      3       0.0  0.667     0.667  every row
            2      1       0.0  0.000     0.000  x0 > 35 (is 36)
        stops at a leaf
        """
        k = self._code(positive)
        other = self.classes and self.classes[k] != self.prediction
        predicted = f"; taken for {label_text(self.prediction)}" if other else ""
        paths = _path_text(self.paths, k if self.classes else None, self.level)
        return "\n".join([self._caption(k) + predicted, *self._range, *paths])

    @property
    def _range(self) -> list[str]:
        return [] if self.row_range is None else [str(self.row_range)]

    def _caption(self, k: int) -> str:
        number = probability_text if self.classes else mean_text
        name = f"{label_text(self.classes[k])} " if self.classes else ""
        bounds = f"{number(self.low[k])} to {number(self.high[k])}"
        return f"{name}{number(self.probability[k])}, {100 * self.level:g} % interval {bounds}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
        >>> plain = clf.explain([[36.0]])[0].to_dict()
        >>> plain["prediction"], plain["probability"], plain["paths"][0]["steps"][1]["text"]
        ('yes', [0.0, 1.0], 'x0 > 35 (is 36)')
        """
        classes: dict[str, Any] = {}
        if self.classes:
            classes = {
                "classes": [plain_label(label) for label in self.classes],
                "probability": list(self.probability),
            }
        return {
            "prediction": plain_label(self.prediction),
            **classes,
            "low": list(self.low),
            "high": list(self.high),
            "level": self.level,
            **({} if self.row_range is None else {"row_range": self.row_range.to_dict()}),
            "paths": [path.to_dict() for path in self.paths],
            "reasons": [reason.to_dict() for reason in self.reasons()],
        }


class Explanations(Result[Explanation]):
    """Explanations of several rows, each computed on access.

    Parameters
    ----------
    tree : Tree
    table : Table
    level : float, default 0.9
        Level of the intervals.
    distribution : Distribution, optional
        The distribution of a numeric target, for the ranges of single rows.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> rows = clf.explain([[36.0], [12.0]])
    >>> len(rows), [row.prediction for row in rows]
    (2, ['yes', 'no'])
    """

    def __init__(
        self, tree: Tree, table: Table, level: float = 0.9, distribution: Distribution | None = None
    ) -> None:
        self._tree, self._level = tree, level
        self._table = table.take(np.arange(table.n_rows))  # a copy: the caller may change the rows
        self._low, self._high = predict_interval(tree, table, level)
        stop = route(tree.skeleton, table)
        nodes = with_ancestors(tree.skeleton, stops(tree, table, stop))
        low, high = (map(tuple, bound.tolist()) for bound in interval(tree, level, nodes))
        self._bounds = dict(zip(nodes.tolist(), zip(low, high, strict=True), strict=True))
        self._probability = predict_rows(tree, table)
        self._codes = None if tree.is_regression else decide_rows(tree, table)
        self._shares = child_shares(tree, nodes)
        costs = FeatureCosts.of(tree)
        self._prices = None if costs is None else costs.of_paths(tree)
        self._ranges = None if distribution is None else _row_ranges(distribution, stop, self._table, level)

    __iter__ = Sequence.__iter__

    def __len__(self) -> int:
        return self._table.n_rows

    def _entry(self, at: int) -> Explanation:
        classes = self._tree.schema.classes
        return Explanation(
            classes=classes,
            prediction=self._probability.item(at, 0) if self._codes is None else classes[self._codes[at]],
            probability=tuple(self._probability[at].tolist()),
            low=tuple(self._low[at].tolist()),
            high=tuple(self._high[at].tolist()),
            level=self._level,
            paths=paths(
                self._tree,
                [column[at].item() for column in self._table.columns],
                self._shares,
                self._bounds,
                self._prices,
            ),
            row_range=None if self._ranges is None else self._ranges[at],
        )

    def __repr__(self) -> str:
        shown = [str(row) for row in self[:_MOST_ROWS]]
        more = len(self) - len(shown)
        return "\n\n".join([*shown, f"… and {more} more rows"] if more else shown)

    def _repr_html_(self) -> str:
        tables = [row._repr_html_() for row in self[:_MOST_ROWS]]
        more = len(self) - len(tables)
        return "".join([*tables, f"<p>… and {pluralise(more, 'row')} more</p>"] if more else tables)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per row: those of `hornbeam predict`, the leaf and the reasons.

        `Explanation.to_dict` has all of one row, for JSON.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
        >>> clf.explain([[36.0], [12.0]]).to_frame()[["prediction", "p_yes", "leaf", "reasons"]]
          prediction  p_yes  leaf                                reasons
        0        yes    1.0     2  x0 > 35 moved yes from 0.333 to 1.000
        1         no    0.0     1   x0 ≤ 35 moved no from 0.667 to 1.000
        """
        classes = self._tree.schema.classes
        columns: dict[str, list[Any]] = {"prediction": self._probability[:, 0].tolist()}
        if self._codes is not None:
            columns["prediction"] = [classes[code] for code in self._codes.tolist()]
            columns |= by_class("p", classes, self._probability)
        columns |= by_class("low", classes, self._low) | by_class("high", classes, self._high)
        if self._ranges is not None:
            columns |= {f"row_{name}": [getattr(one, name) for one in self._ranges] for name in _OF_RANGES}
        ends = [max(row.paths, key=lambda path: path.share).steps[-1].node for row in self]
        return columns | {"leaf": ends, "reasons": ["; ".join(map(str, row.reasons())) for row in self]}


def explain(
    tree: Tree, table: Table, level: float = 0.9, distribution: Distribution | None = None
) -> Explanations:
    """Explain the predictions of rows, with intervals of this level."""
    return Explanations(tree, table, level, distribution)


def _row_ranges(distribution: Distribution, node: Indices, table: Table, level: float) -> list[RowRange]:
    counts = distribution.tree
    numbers = zip(
        (distribution.ranges(node, level) + distribution.shift(table)[:, None]).tolist(),
        counts.weight_in_rows[node].tolist(),
        counts.borrowed[node].tolist(),
        strict=True,
    )
    return [
        RowRange(low, median, high, level, rows, borrowed) for (low, median, high), rows, borrowed in numbers
    ]


def _path_text(paths: Sequence[DecisionPath], k: int | None, level: float) -> Iterator[str]:
    """Write the paths, the largest share of the row first."""
    for path in sorted(paths, key=lambda path: -path.share)[:_MOST_PATHS]:
        if path.share < 1:
            yield f"{100 * path.share:.1f} % of the row:"
        yield _path_grid(path, k, level).text()
    if len(paths) > _MOST_PATHS:
        yield f"… and {len(paths) - _MOST_PATHS} more paths"


def _path_grid(path: DecisionPath, k: int | None, level: float) -> Grid:
    """Tabulate a path with the probabilities of class k; for a numeric target (None), with means and intervals."""
    counts = [" node", " rows", "borrowed"]
    price = "" if path.price is None else f"; the columns tested cost {path.price:.6g}"
    note = f"stops at {path.end}{_borrowed_text(path)}{price}"
    rows: list[Sequence[object]] = []
    if k is not None:
        for step in path.steps:
            raw = "-  " if isnan(step.raw(k)) else f"{step.raw(k):.3f}"
            predicted = probability_text(step.probability[k])
            rows.append([step.node, step.rows, f"{step.borrowed:.1f}", raw, predicted, step])
        rows += [[""] * 4 + [probability_text(term.probability[k]), term.text(k)] for term in path.terms]
        return Grid("", [*counts, "  raw", "smoothed", "because"], rows, ">>>>><", note)
    for above, step in zip((None, *path.steps), path.steps, strict=False):
        moved = "" if above is None else f"{step.probability[0] - above.probability[0]:+.4g}"
        raw = "-" if isnan(step.raw(None)) else mean_text(step.raw(None), 2)
        interval = f"{mean_text(step.low[0], 2)} to {mean_text(step.high[0], 2)}"
        mean = mean_text(step.probability[0], 2)
        rows.append([step.node, step.rows, f"{step.borrowed:.1f}", raw, mean, moved, interval, step])
    for term in path.terms:
        rows.append(
            [""] * 4 + [mean_text(term.probability[0], 2), f"{term.change[0]:+.4g}", "", term.text(0)]
        )
    header = [*counts, f"{'raw':>8}", "smoothed", f"{'moved':>8}", f"{f'{100 * level:g} % interval':<20}"]
    return Grid("", [*header, "because"], rows, ">>>>>><", note)


def _borrowed_text(path: DecisionPath) -> str:
    """List the sources of the rows that the last node borrowed, the nearest first."""
    sources = [str(source) for source in path.borrowed_from[:_MOST_SOURCES]]
    if len(path.borrowed_from) > _MOST_SOURCES:
        sources.append(f"… {len(path.borrowed_from) - _MOST_SOURCES} more")
    return f"; borrowed {', '.join(sources)}" if sources else ""
