"""Scorecards: a tree of two classes as whole-number points per segment, as credit risk reads it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import ceil, exp, inf, isfinite, log
from typing import Any, ClassVar

import numpy as np

from hornbeam.checks import check_flags, check_whole, is_number
from hornbeam.data.rows import read_rows
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.export.point_terms import CardPoints, PointTerm, ScoreTerm, point_terms, whole
from hornbeam.export.wording import rules_in_order
from hornbeam.grid import Grid, Result, code_span
from hornbeam.tree.condition import Condition, merged_path_conditions
from hornbeam.tree.decision import class_code
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.skeleton import EVERY_CHILD, STOP
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import descendants
from hornbeam.tree.words import feature_name, label_text, number_text
from hornbeam.typing import Bools, Floats, Label

_HEADER = ("segment", "if", "base points", "feature", "points", "within", "0 points at")
_ALIGN = "><><<<>"
_CSV = (
    "segment",
    "if",
    "base points",
    "feature",
    "points",
    "per",
    "from",
    "to",
    "points at to",
    "0 points at",
)
_MOST = 1e15  # points: all whole numbers below are exact
_MOST_REASONS = 50


@dataclass(frozen=True, slots=True)
class Segment:
    r"""A part of a scorecard: a leaf, an inner node with terms, or the rows that stop above the leaves.

    Parameters
    ----------
    node : int
        The leaf, or the inner node.
    rule : str
        The conditions on the path to it: the part counts for the rows that fulfil them, that of the root for every row.
        Rows stop at an inner node with a missing value of its feature, or a new category.
    points : float
        Base points, a whole number: those of the node's own prediction; 0 if the part has terms alone. Infinite where
        a class is certain.
    terms : tuple
        The node's own lines, which no part below it repeats: each has `feature` (with its category or bin), `points`,
        and, for points per step, `step`, `low` and `high` (the range that a value is limited to) and `reference` (the
        value with 0 points). Points at two values have `high_points`, those at `high`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
    >>> print(*clf.scorecard(), sep="\n")
    x0 ≤ 2: 519 points
    x0 > 2: 455 points
    x0 missing: 487 points
    """

    node: int
    rule: str
    points: float
    terms: tuple[ScoreTerm, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [3]], ["good", "bad"])
        >>> clf.scorecard()[0].to_dict()["rule"]
        'x0 ≤ 2'
        """
        return asdict(self)

    def __str__(self) -> str:
        terms = "".join(f"; {term.feature}: {term.text}" for term in self.terms)
        return f"{self.rule}: {_points_text(self.points)} points{terms}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scorecard(Result[Segment]):
    """A tree of two classes as whole-number points, near ``offset + factor * log odds``; printed, a table.

    Parameters
    ----------
    tree : Tree
    positive : label
        The class of interest: more points mean a higher probability of this class.
    offset : float
        Points at odds of 1 to 1.
    factor : float
        Points per unit of the log odds.
    segments : tuple of Segment
        The leaves, and the inner nodes with terms, each before those below it: points for every row come first. Then
        the rows that stop above the leaves. A row has the base points of its leaf, or of the node where it stops, and
        the terms of all segments whose rule it fulfils.
    base : float64 array of shape (n_nodes,)
        Base points of each node.
    terms : tuple
        The points of each term of the tree, as they are added up.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
    >>> clf.scorecard()
    | segment | if | base points | feature | points | within | 0 points at |
    |--:|---|--:|---|---|---|--:|
    | 1 | `x0 ≤ 2` | 519 |  |  |  |  |
    | 2 | `x0 > 2` | 455 |  |  |  |  |
    | 0 | `x0 missing` | 487 |  |  |  |  |
    <BLANKLINE>
    Points are 487.123 + 28.8539 × log odds of `good`, rounded: at most 0.5 more or less, 1.02 times the odds.
    """

    _COLUMNS: ClassVar = ("node", "rule", "points")
    _ENTRIES: ClassVar = "segments"

    tree: Tree
    positive: Label
    offset: float
    factor: float
    segments: tuple[Segment, ...]
    base: Floats
    terms: tuple[PointTerm, ...]

    def points(self, X: Any) -> Floats:
        """Compute the points of rows: whole numbers, the same as by hand from the printed card.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        float64 array of shape (n_rows,)
            Infinite where the probability is 0 or 1. A row that stops above a leaf has the points of that node. Where a
            missing value goes to every child, the points are those of the probability.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
        >>> clf.scorecard().points([[0], [9], [None]])
        array([519., 455., 487.])
        """
        table = read_rows(X, schema=self.tree.schema)
        _, base, terms = self._parts(table)
        return base + terms.sum(axis=0)

    def reasons(self, X: Any, n: int = 4) -> list[dict[str, float]]:
        """List for each row why it has no more points: the features that cost most, and the segment.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.
        n : int, default 4
            The largest number of reasons of a row.

        Returns
        -------
        list of dict
            For each row its reasons, with the largest loss first: the points that a feature has less than the highest
            of each of its terms that count for the row, and that the segment, named by its condition, has less than the
            best leaf. Of equal losses the segment comes first, then the features in the order of the columns.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
        >>> clf.scorecard().reasons([[0], [9]])
        [{}, {'x0 > 2': 64.0}]
        """
        check_whole("n", n, 1, _MOST_REASONS)
        nodes, base, terms = self._parts(read_rows(X, schema=self.tree.schema))
        features = self._columns_with_terms
        lost = np.zeros((1 + len(features), len(nodes)))
        lost[0] = np.maximum(self._best - base, 0)
        for term, own in zip(self.terms, terms, strict=True):
            at = 1 + features.index(term.term.column)
            lost[at] += np.where(_below(self.tree, term.node)[nodes], max(0.0, *term.every) - own, 0)
        rules = self._rules
        names = [feature_name(self.tree.schema.names[column]) for column in features]
        order = np.argsort(-lost, axis=0, kind="stable")[:n]
        return [
            {
                (names[at - 1] if at else rules[node]): lost.item(at, row)
                for at in order[:, row].tolist()
                if lost[at, row] > 0
            }
            for row, node in enumerate(nodes.tolist())
        ]

    @property
    def rounding(self) -> float:
        """The largest difference between points and ``offset + factor * log odds``, for any row.

        Rows of a certain class, which have infinite points, have none.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
        >>> round(clf.scorecard().rounding, 2)
        0.42
        """
        exact = self._of_probability(self.tree.belief)
        with np.errstate(invalid="ignore"):
            error = np.nan_to_num(np.abs(self.base - exact))
        if self.tree.skeleton.is_fractional:
            error[:] = 0.5
        for term in self.terms:
            error[_below(self.tree, term.node)] += term.error
        return float(error[list(self._rules)].max())

    def _of_probability(self, probability: Floats) -> Floats:
        return _exact(probability, self._code, self.offset, self.factor)

    @property
    def _code(self) -> int:
        return self.tree.schema.classes.index(self.positive)

    @property
    def _best(self) -> float:
        """The highest finite base points of a leaf."""
        leaves = self.base[self.tree.skeleton.is_leaf]
        return max(leaves[np.isfinite(leaves)].tolist(), default=0.0)

    @property
    def _columns_with_terms(self) -> list[int]:
        return sorted({term.term.column for term in self.terms})

    @property
    def _rules(self) -> dict[int, str]:
        """The condition of the rows that stop at each node."""
        leaf = self.tree.skeleton.is_leaf
        return (
            {0: "every row"}
            | dict(_stopping(self.tree, every_child=True))
            | {segment.node: segment.rule for segment in self.segments if leaf[segment.node]}
        )

    def _parts(self, table: Table) -> tuple[Any, Floats, Floats]:
        """Return where each row stops, its base points, and the points of each term, 0 elsewhere."""
        nodes = route(self.tree.skeleton, table)
        terms = np.zeros((len(self.terms), table.n_rows))
        for own, term in zip(terms, self.terms, strict=True):
            inside = _below(self.tree, term.node)[nodes]
            own[inside] = term.of(table.columns[term.term.column][inside])
        if not self.tree.skeleton.is_fractional:
            return nodes, self.base[nodes], terms
        return nodes, whole(self._of_probability(predict_rows(self.tree, table))), terms

    def to_markdown(self) -> str:
        """Write the scorecard as a Markdown table; names from the data stand in code spans.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [3]], ["good", "bad"])
        >>> clf.scorecard().to_markdown().splitlines()[2]
        '| 1 | `x0 ≤ 2` | 507 |  |  |  |  |'
        """
        # Only the number of the segment and the points hold no names from the data.
        rows = [
            [code_span(cell) if cell and at not in (0, 2, 4) else cell for at, cell in enumerate(row)]
            for row in self._cells()
        ]
        table = Grid("", _HEADER, rows, _ALIGN).markdown(escaped=True)
        return f"{table}\n\n{self._note(code_span(label_text(self.positive)))}"

    def to_html(self) -> str:
        """Write the scorecard as an HTML table.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [3]], ["good", "bad"])
        >>> "x0 ≤ 2" in clf.scorecard().to_html()
        True
        """
        return self._grid().html(most_rows=None)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per segment; ``rule`` is which rows it counts for, ``terms`` are texts.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [3]], ["good", "bad"])
        >>> clf.scorecard().to_frame()
           node        rule  points terms
        0     1      x0 ≤ 2   507.0
        1     2      x0 > 2   467.0
        2     0  x0 missing   487.0
        """
        terms = [[f"{term.feature}: {term.text}" for term in segment.terms] for segment in self.segments]
        return Result.to_dict(self) | {"terms": ["; ".join(texts) for texts in terms]}

    def to_csv(self) -> str:
        r"""Write the scorecard as CSV for a spreadsheet: numbers in columns of their own, no text that is a formula.

        It begins with a byte order mark, by which Excel knows UTF-8; write it with ``encoding="utf-8"``. A text that a
        spreadsheet would take for a formula, because it begins with ``=``, ``+``, ``-`` or ``@``, has an apostrophe
        before it.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [3]], ["good", "bad"])
        >>> print(*clf.scorecard().to_csv().splitlines()[1:3], sep="\n")
        1,x0 ≤ 2,507,,,,,,,
        2,x0 > 2,467,,,,,,,
        """
        out = io.StringIO()
        sheet = csv.writer(out, lineterminator="\n")
        sheet.writerow(_CSV)
        for segment in self.segments:
            head = [segment.node, _cell_text(segment.rule), _number(segment.points)]
            for term in segment.terms:
                numbers = (term.step, term.low, term.high, term.high_points, term.reference)
                cells = [_cell_text(term.feature), _number(term.points), *map(_number, numbers)]
                sheet.writerow([*head, *cells])
                head = ["", "", ""]
            if not segment.terms:
                sheet.writerow([*head, *[""] * 7])
        sheet.writerow([])
        sheet.writerow(["", _cell_text(self._note(label_text(self.positive)))])
        return "\N{BYTE ORDER MARK}" + out.getvalue()

    def _grid(self) -> Grid:
        """Return a table with a row per term, or per segment without terms."""
        return Grid("Scorecard", _HEADER, list(self._cells()), _ALIGN, self._note(label_text(self.positive)))

    def to_sql(self, *, reasons: int = 0, **settings: Any) -> str:
        r"""Write a query that computes the prediction, the points and the reasons of the rows of a table.

        Parameters
        ----------
        reasons : int, default 0
            The largest number of reasons of a row, as in `reasons`.
        **settings : object
            As of `hornbeam.export.to_sql`: table, dialect, keep, columns.

        Returns
        -------
        str
            A query with the columns of `hornbeam.export.to_sql`, ``points``, a whole number, NULL where the probability
            is 0 or 1, and ``reason_1``, ``reason_2``, ..., NULL where a row has fewer.

        Examples
        --------
        >>> import sqlite3
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
        >>> rows = sqlite3.connect(":memory:")
        >>> _ = rows.execute("CREATE TABLE rows (x0)")
        >>> _ = rows.execute("INSERT INTO rows VALUES (0), (9), (NULL)")
        >>> query = clf.scorecard().to_sql(dialect="sqlite", reasons=2)
        >>> [(row[1], *row[-3:]) for row in rows.execute(query)]
        [('good', 519, None, None), ('bad', 455, 'x0 > 2', None), ('bad', 487, 'x0 missing', None)]
        >>> rows.close()
        """
        check_whole("reasons", reasons, 0, _MOST_REASONS)
        from hornbeam.export.sql.queries import points_sql

        card = CardPoints(
            self.terms, self.base, self._code, self.offset, self.factor, self._rules, self._best
        )
        return points_sql(self.tree, card, reasons, **settings)

    def _note(self, positive: str) -> str:
        """Write how points are added up, and how far they are from the probability."""
        tree, terms = self.tree, [term for segment in self.segments for term in segment.terms]
        said = []
        if terms:
            said.append(
                "A row has the points of all segments whose condition it fulfils; a missing value has 0."
            )
        if any(term.low is not None for term in terms):
            said.append(
                "A value is limited to the range; its points are rounded to a whole number, halves up."
            )
        if any(term.high_points is not None for term in terms):
            said.append("Points from one number to another rise in proportion within the range.")
        if any(tree.schema.features[at].is_nominal for at in set(tree.skeleton.feature.tolist()) - {-1}):
            said.append("New: a category that was not in the rows of the fit.")
        if tree.skeleton.is_fractional:
            said.append("Where a missing value goes to every child, the points are those of the probability.")
        formula = f"{self.offset:.6g} + {self.factor:.6g} × log odds of {positive}"
        most = ceil(10 * self.rounding) / 10
        odds = ceil(100 * exp(min(most / abs(self.factor), 700.0))) / 100
        said.append(f"Points are {formula}, rounded: at most {most:g} more or less, {odds:g} times the odds.")
        return " ".join(said)

    def _cells(self) -> Iterator[tuple[str, ...]]:
        """Write a line per term; the first of a segment also has its rule and base points."""
        for segment in self.segments:
            head = (str(segment.node), segment.rule, _points_text(segment.points))
            for term in segment.terms:
                reference = "" if term.reference is None else number_text(term.reference)
                yield *head, term.feature, term.text, term.within, reference
                head = ("", "", "")
            if not segment.terms:
                yield *head, "", "", "", ""

    def __repr__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        return self.to_html()


def scorecard(
    model: Tree | HasTree,
    *,
    positive: Label | None = None,
    base_points: float = 600.0,
    base_odds: float = 50.0,
    points_to_double: float = 20.0,
    bins: bool = False,
) -> Scorecard:
    r"""Write a tree of two classes as a scorecard; parameters as in `TreeClassifier.scorecard`.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.tree import Skeleton, Slopes, with_slopes
    >>> leaf = Tree.raw(Schema((Feature("late"),), ("bad", "good")), Skeleton.leaf(), np.array([[1, 4]]))
    >>> slopes = Slopes.of([0], [0], low=[0], high=[4], centre=[1], slope=[[np.log(2), 0]])
    >>> print(*scorecard(with_slopes(leaf, slopes)).to_markdown().splitlines()[:3], sep="\n")
    | segment | if | base points | feature | points | within | 0 points at |
    |--:|---|--:|---|---|---|--:|
    | 0 | `every row` | 527 | `late` | −20 per +1 | `0 to 4` | `1` |
    >>> print(*scorecard(with_slopes(leaf, slopes), bins=True)[0].terms, sep="\n")  # doctest: +ELLIPSIS
    ScoreTerm(feature='late ≤ 0.5', points=20.0, ...)
    ScoreTerm(feature='0.5 < late ≤ 1.5', points=0.0, ...)
    ScoreTerm(feature='1.5 < late ≤ 2.5', points=-20.0, ...)
    ScoreTerm(feature='2.5 < late ≤ 3.5', points=-40.0, ...)
    ScoreTerm(feature='late > 3.5', points=-60.0, ...)
    """
    check_flags(bins=bins)
    tree = single_tree(model)
    if tree.n_classes != 2:
        found = "is numeric" if tree.is_regression else f"has {tree.n_classes} classes"
        raise ParameterError(f"the target {found}, and a scorecard is for two classes.")
    scale = (base_points, base_odds, points_to_double)
    if (
        not all(is_number(value) and isfinite(value) for value in scale)
        or base_odds <= 0
        or points_to_double == 0
    ):
        raise ParameterError(
            f"base_points={base_points!r}, base_odds={base_odds!r} and points_to_double={points_to_double!r}: expected "
            "finite numbers, odds above 0, and points to double that are not 0."
        )
    code = 1 if positive is None else class_code(tree.schema.classes, positive)
    factor = points_to_double / log(2)
    offset = base_points - factor * log(base_odds)
    base = whole(_exact(tree.belief, code, offset, factor))
    terms = tuple(point_terms(tree, code, factor, bins))
    sizes = [np.abs(term.every).max() for term in terms]
    most = float(np.abs(base[np.isfinite(base)]).max(initial=0.0) + sum(sizes))
    if not (most < _MOST and isfinite(offset)):
        raise ParameterError(
            f"points_to_double={points_to_double!r}: the points are as large as {most:.3g}; expected a scale with "
            f"points below {_MOST:.0e}."
        )
    is_leaf = tree.skeleton.is_leaf
    lines: dict[int, list[ScoreTerm]] = {}
    for term in terms:
        lines.setdefault(term.node, []).extend(term.lines())
    segments = [
        Segment(node, rule, base.item(node) if is_leaf[node] else 0.0, tuple(lines.get(node, ())))
        for node, rule in rules_in_order(tree, {*np.flatnonzero(is_leaf).tolist(), *lines})
    ]
    segments += [Segment(node, rule, base.item(node), ()) for node, rule in _stopping(tree)]
    return Scorecard(tree, tree.schema.classes[code], offset, factor, tuple(segments), base, terms)


def _exact(probability: Floats, code: int, offset: float, factor: float) -> Floats:
    """Compute points from probabilities, not rounded; infinite where a class is certain."""
    with np.errstate(divide="ignore", over="ignore"):
        odds: Floats = np.log(probability[:, code]) - np.log(probability[:, 1 - code])
        return offset + factor * odds


def _below(tree: Tree, node: int) -> Bools:
    """Mark a node and all nodes below it."""
    below = np.zeros(tree.n_nodes, dtype=bool)
    below[descendants(tree.skeleton, node)] = True
    return below


def _stopping(tree: Tree, *, every_child: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the inner nodes where rows stop, with the condition of these rows.

    They have a missing value of the feature that the node tests, a category that goes to no child, or a new one. With
    `every_child` also rows whose missing value goes to every child.
    """
    skeleton = tree.skeleton
    stops = {STOP, EVERY_CHILD} if every_child else {STOP}
    for node, conditions in merged_path_conditions(tree):
        if skeleton.is_leaf[node]:
            continue
        column = skeleton.feature.item(node)
        feature = tree.schema.features[column]
        above = next((one for one in conditions if one.column == column), None)
        words = []
        if feature.is_nominal:
            slots = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
            none = [code for code in np.flatnonzero(slots < 0).tolist() if above is None or above.holds(code)]
            if none:
                words.append(str(Condition(column, feature, among=tuple(none))))
        name = feature_name(feature.name)
        if skeleton.missing_slot.item(node) in stops and (above is None or above.missing):
            words.append("missing" if words else f"{name} missing")
        if feature.is_nominal and above is None:
            words.append("new" if words else f"{name} new")
        if words:
            others = [str(one) for one in conditions if one.column != column]
            yield node, " and ".join([*others, " or ".join(words)])


def _points_text(points: float) -> str:
    return f"{points:.0f}".replace("-", "−") if abs(points) < inf else ("∞" if points > 0 else "−∞")


def _number(value: float | None) -> object:
    """Write a number of a spreadsheet: whole ones without a point."""
    if value is None:
        return ""
    return int(value) if isfinite(value) and value == int(value) else repr(value)


def _cell_text(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
