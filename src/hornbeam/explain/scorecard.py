"""Scorecards: a tree of two classes as points per segment, as credit risk reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import inf, isfinite, log
from typing import Any, ClassVar

import numpy as np

from hornbeam.checks import is_number
from hornbeam.data.rows import read_rows
from hornbeam.data.schema import Kind
from hornbeam.errors import ParameterError
from hornbeam.export.slope_text import NodeTerm, node_terms, rounded_text, step_text
from hornbeam.export.wording import rules_in_order
from hornbeam.grid import Grid, Result, code_span
from hornbeam.tree.decision import class_code
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.words import label_text, threshold_text
from hornbeam.typing import Floats, Label

_HEADER = ("segment", "if", "base points", "feature", "points", "within", "0 points at")
_ALIGN = "><><<<>"
_SUM = "A row has the points of all segments whose condition it fulfils. "


@dataclass(frozen=True, slots=True)
class ScoreTerm:
    """A line of a scorecard: the points of a step of a feature, or of a category.

    Parameters
    ----------
    feature : str
        The feature, as text; with its category if the points are those of a category.
    points : float
        Points per step, or of the category.
    step : str
        The step, such as "+10" or "step up"; empty for a category.
    within : str
        The range that a value is limited to; empty for a category.
    reference : str
        The value with 0 points; empty for a category.
    """

    feature: str
    points: float
    step: str = ""
    within: str = ""
    reference: str = ""

    @property
    def text(self) -> str:
        """The rounded points, with their step."""
        return f"{_signed(self.points)} per {self.step}" if self.step else _signed(self.points)


@dataclass(frozen=True, slots=True)
class Segment:
    r"""A part of a scorecard: a leaf, or an inner node with terms.

    Parameters
    ----------
    node : int
        The leaf, or the inner node.
    rule : str
        The conditions on the path to it: the part counts for the rows that fulfil them, that of the root for every row.
    points : float
        Base points: those of the leaf's own prediction; 0 of an inner node.
    terms : tuple
        The node's own terms, which no part below it repeats: the points of steps of features and of categories, each
        with `feature`, `points`, `step`, `within` (the range that a value is limited to) and `reference` (the value
        with 0 points).

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
    >>> print(*clf.scorecard(), sep="\n")
    x0 ≤ 2: 519 points
    x0 > 2: 455 points
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
        return f"{self.rule}: {_rounded(self.points)} points{terms}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scorecard(Result[Segment]):
    """A tree of two classes as points: ``offset + factor * log odds``; printed, a table.

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
        The leaves, and the inner nodes with terms, each before those below it: points for every row come first. A row
        has the base points of its leaf, and the terms of all segments whose rule it fulfils.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
    >>> clf.scorecard()
    | segment | if | base points | feature | points | within | 0 points at |
    |--:|---|--:|---|---|---|--:|
    | 1 | `x0 ≤ 2` | 519 |  |  |  |  |
    | 2 | `x0 > 2` | 455 |  |  |  |  |
    <BLANKLINE>
    Points = 487.123 + 28.8539 × log odds of `good`.
    """

    _COLUMNS: ClassVar = ("node", "rule", "points")
    _ENTRIES: ClassVar = "segments"

    tree: Tree
    positive: Label
    offset: float
    factor: float
    segments: tuple[Segment, ...]

    def points(self, X: Any) -> Floats:
        """Compute the exact points of rows, not rounded.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        float64 array of shape (n_rows,)
            Infinite where the probability is 0 or 1. A row that stops above a leaf has the points of that node.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [0], [3], [3]], ["good", "good", "bad", "bad"])
        >>> clf.scorecard().points([[0], [9]]).round(1)
        array([518.8, 455.4])
        """
        code = self.tree.schema.classes.index(self.positive)
        probability = predict_rows(self.tree, read_rows(X, schema=self.tree.schema))
        with np.errstate(divide="ignore"):
            score: Floats = np.log(probability[:, code]) - np.log(probability[:, 1 - code])
        return self.offset + self.factor * score

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
        return f"{table}\n\n{self._formula(code_span(label_text(self.positive)))}"

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
        >>> clf.scorecard().to_frame().round()
           node    rule  points terms
        0     1  x0 ≤ 2   507.0
        1     2  x0 > 2   467.0
        """
        terms = [[f"{term.feature}: {term.text}" for term in segment.terms] for segment in self.segments]
        return Result.to_dict(self) | {"terms": ["; ".join(texts) for texts in terms]}

    def _grid(self) -> Grid:
        """Return a table with a row per term, or per segment without terms."""
        note = self._formula(label_text(self.positive))
        return Grid("Scorecard", _HEADER, list(self._cells()), _ALIGN, note)

    def to_sql(self, **settings: Any) -> str:
        r"""Write a query that computes the prediction and the exact points of the rows of a table.

        Parameters
        ----------
        **settings : object
            As of `hornbeam.export.to_sql`: table, dialect, keep, columns.

        Returns
        -------
        str
            A query with the columns of `hornbeam.export.to_sql` and ``points``; NULL where the probability is 0 or 1.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart", smoothing="laplace").fit([[0], [3]], ["good", "bad"])
        >>> print(*clf.scorecard().to_sql(dialect="sqlite").splitlines()[:4], sep="\n")
        SELECT
          scored.*,
          CASE WHEN p_good > 0 AND p_bad > 0 THEN 487.122... + 28.853... * (LN(p_good) - LN(p_bad)) END AS points
        FROM (
        """
        from hornbeam.export import to_sql

        predictions = to_sql(self.tree, **settings)
        from hornbeam.export.sql.select import probability_names  # needs sqlglot

        names = probability_names(self.tree, settings.get("keep", ()))
        yes = names.pop(self.tree.schema.classes.index(self.positive))
        points = f"{self.offset!r} + {self.factor!r} * (LN({yes}) - LN({names[0]}))"
        known = f"  CASE WHEN {yes} > 0 AND {names[0]} > 0 THEN {points} END AS points"
        return "\n".join(["SELECT", "  scored.*,", known, "FROM (", predictions, ") AS scored"])

    def _formula(self, positive: str) -> str:
        shared = _SUM if len(self) > self.tree.n_leaves else ""
        return f"{shared}Points = {self.offset:.6g} + {self.factor:.6g} × log odds of {positive}."

    def _cells(self) -> Iterator[tuple[str, ...]]:
        """Write a line per term; the first of a segment also has its rule and base points."""
        for segment in self.segments:
            head = (str(segment.node), segment.rule, _rounded(segment.points))
            for term in segment.terms:
                yield *head, term.feature, term.text, term.within, term.reference
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
) -> Scorecard:
    """Write a tree of two classes as a scorecard; parameters as in `TreeClassifier.scorecard`.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.tree import Skeleton, Slopes, with_slopes
    >>> leaf = Tree.raw(Schema((Feature("late"),), ("bad", "good")), Skeleton.leaf(), np.array([[1, 4]]))
    >>> slopes = Slopes.of([0], [0], low=[0], high=[4], centre=[1], slope=[[np.log(2), 0]])
    >>> scorecard(with_slopes(leaf, slopes))
    | segment | if | base points | feature | points | within | 0 points at |
    |--:|---|--:|---|---|---|--:|
    | 0 | `every row` | 527 | `late` | −20 per +1 | `0 to 4` | `1` |
    <BLANKLINE>
    Points = 487.123 + 28.8539 × log odds of `good`.
    """
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
    is_leaf = tree.skeleton.is_leaf
    with np.errstate(divide="ignore"):
        score = np.log(tree.belief[:, code]) - np.log(tree.belief[:, 1 - code])
    base = np.where(is_leaf, offset + factor * score, 0.0)
    shown = {*np.flatnonzero(is_leaf).tolist(), *tree.slopes.nodes.tolist()}
    segments = []
    for node, rule in rules_in_order(tree, shown):
        terms = [line for term in node_terms(tree, node) for line in _score_terms(term, code, factor)]
        segments.append(Segment(node, rule, base.item(node), tuple(terms)))
    return Scorecard(tree, tree.schema.classes[code], offset, factor, tuple(segments))


def _score_terms(term: NodeTerm, code: int, factor: float) -> Iterator[ScoreTerm]:
    """Return the lines of a term: one, or one per category."""
    if term.codes:
        for at, slope in zip(term.codes, term.slope, strict=True):
            name = f"{term.name} = {label_text(term.feature.categories[at])}"
            yield ScoreTerm(name, factor * term.contrast(term.intercept + slope, code))
        if len(term.codes) < len(term.feature.categories):
            yield ScoreTerm(f"{term.name}: another", factor * term.contrast(term.intercept, code))
        return
    low, high = (threshold_text(term.feature, bound, 4) for bound in (term.low, term.high))
    reference = term.reference(code)
    yield ScoreTerm(
        term.name,
        factor * term.contrast(term.slope, code) * term.step,
        "step up" if term.feature.kind is Kind.ORDINAL else f"+{step_text(term.step)}",
        f"{low} to {high}",
        "" if reference is None else _reference_text(term, reference),
    )


def _reference_text(term: NodeTerm, reference: float) -> str:
    return (
        term.between(reference) if term.feature.kind is Kind.ORDINAL else rounded_text(reference, term.step)
    )


def _rounded(points: float) -> str:
    return f"{points:.0f}".replace("-", "−") if abs(points) < inf else ("∞" if points > 0 else "−∞")


def _signed(points: float) -> str:
    """Write points with their sign; those below ten with one decimal."""
    size = f"{abs(points):.0f}" if abs(points) >= 9.95 else f"{abs(points):.1f}".removesuffix(".0")
    return f"{'−' if points < 0 else '+'}{size}"
