"""A query for the points of a scorecard, and the reasons for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import isfinite

import numpy as np
from sqlglot import exp

from hornbeam.data.schema import Kind
from hornbeam.errors import ParameterError
from hornbeam.export.point_terms import HALF, CardPoints, LevelPoints, PointTerm, RampPoints
from hornbeam.export.sql.dialect import alias, identifier
from hornbeam.export.sql.expressions import SplitExpressions, is_among
from hornbeam.export.sql.select import probability_names
from hornbeam.tree.walk import descendants
from hornbeam.tree.words import feature_name

_CERTAIN = 1e300  # base points of a certain class: not every database can write infinity
_BASE, _TOTAL = "hornbeam_base", "hornbeam_total"


def term_columns(query: SplitExpressions, terms: Sequence[PointTerm]) -> dict[str, exp.Expression]:
    """Write the points of each term, over columns ``x0``, ``x1``, ..., for all rows."""
    return {f"hornbeam_term{j}": _points(query, term) for j, term in enumerate(terms)}


def _points(query: SplitExpressions, term: PointTerm) -> exp.Expression:
    column, number = term.term.column, query.dialect.number
    feature, x = query.tree.schema.features[column], exp.column(f"x{column}")

    def case(condition: exp.Expression, points: float) -> exp.If:
        return exp.If(this=condition, true=number(points + 0.0))

    ifs = [case(x.copy().is_(exp.null()), 0.0)]
    if isinstance(term, LevelPoints):
        categories = query.categories[column]
        for points in dict.fromkeys(term.points):
            same = [value for value, own in zip(categories, term.points, strict=True) if own == points]
            ifs.append(case(is_among(x, same), points))
        # A value that an ordinal feature does not declare is missing.
        return exp.Case(ifs=ifs, default=number((0.0 if feature.kind is Kind.ORDINAL else term.other) + 0.0))
    if isinstance(term, RampPoints):
        low, high = term.every
        below = exp.LTE(this=x.copy(), expression=number(term.low))
        beyond = exp.GTE(this=x.copy(), expression=number(term.high))
        ifs += [case(below, low), case(beyond, high)]
        above = exp.Paren(this=exp.Sub(this=x.copy(), expression=exp.Paren(this=number(term.origin))))
        steps = exp.Paren(this=exp.Div(this=above, expression=exp.Paren(this=number(term.width)), typed=True))
        change = exp.Mul(this=exp.Paren(this=number(term.change + 0.0)), expression=steps)
        exact = exp.Add(this=exp.Paren(this=number(term.start + 0.0)), expression=exp.Paren(this=change))
        return exp.Case(ifs=ifs, default=_whole(query, exact))
    ifs += [
        case(query.dialect.sides(x.copy(), cut)[0], points)
        for cut, points in zip(term.cuts, term.points, strict=False)
    ]
    return exp.Case(ifs=ifs, default=number(term.points[-1] + 0.0))


def _whole(query: SplitExpressions, exact: exp.Expression) -> exp.Expression:
    return exp.Floor(this=exp.Add(this=exp.Paren(this=exact), expression=query.dialect.number(HALF)))


def points_select(
    query: SplitExpressions,
    predictions: exp.Select,
    keep: Sequence[str],
    card: CardPoints,
    reasons: int,
) -> exp.Select:
    """Add points and reasons to the predictions, which have the columns of the terms too."""
    terms, rules = card.terms, card.rules
    names = probability_names(query.tree, keep)
    shown = [*keep, "leaf", "label", *names]
    new = ["points", *[f"reason_{k + 1}" for k in range(reasons)]]
    for name in keep:
        if name.lower() in new or name.lower().startswith("hornbeam_"):
            raise ParameterError(f"keep names {name!r}, which the query uses itself: rename it in a view")
    features = sorted({term.term.column for term in terms})
    number = query.dialect.number

    def gated(own: Callable[[int], exp.Expression], column: int | None = None) -> list[exp.Expression]:
        """Write a value of each term, of one feature or all, which is 0 for rows outside of its segment."""
        chosen = [j for j, term in enumerate(terms) if column in (None, term.term.column)]
        return [_inside(query, terms[j].node, own(j), list(rules)) for j in chosen]

    def lost(j: int) -> exp.Expression:
        highest = number(max(0.0, *terms[j].every) + 0.0)
        return exp.Sub(this=highest, expression=exp.column(f"hornbeam_term{j}"))

    based = exp.select("*", alias(_base(query, names, card), _BASE)).from_(predictions.subquery("predicted"))
    total = _sum([exp.column(_BASE), *gated(lambda j: exp.column(f"hornbeam_term{j}"))])
    less = exp.Sub(this=number(card.best + 0.0), expression=exp.column(_BASE))
    losses: list[exp.Expression] = [
        exp.Case(
            ifs=[exp.If(this=exp.GT(this=less, expression=number(0.0)), true=less.copy())],
            default=number(0.0),
        ),
        *[_sum(gated(lost, column)) for column in features],
    ] * (reasons > 0)
    summed = exp.select(
        *_quoted(shown),
        alias(total, _TOTAL),
        *[alias(loss, f"hornbeam_lost{i}") for i, loss in enumerate(losses)],
    ).from_(based.subquery("based"))
    texts = [
        _rule(query, rules),
        *[query.dialect.text_literal(feature_name(query.tree.schema.names[column])) for column in features],
    ]
    ranks = [alias(_rank(i, len(losses)), f"hornbeam_rank{i}") for i in range(len(losses))]
    ranked = exp.select("*", *ranks).from_(summed.subquery("summed"))
    whole = exp.cast(exp.column(_TOTAL), "bigint")
    certain = exp.GTE(this=exp.Abs(this=exp.column(_TOTAL)), expression=number(_CERTAIN / 10))
    points = exp.Case(ifs=[exp.If(this=certain, true=exp.null())], default=whole)
    chosen = [alias(_reason(query, k, texts), f"reason_{k + 1}") for k in range(reasons)]
    return exp.select(*_quoted(shown), alias(points, "points"), *chosen).from_(ranked.subquery("ranked"))


def _quoted(names: Sequence[str]) -> list[exp.Column]:
    return [exp.column(identifier(name)) for name in names]


def _sum(parts: list[exp.Expression]) -> exp.Expression:
    return reduce(lambda one, other: exp.Add(this=one, expression=other), parts)


def _inside(query: SplitExpressions, node: int, value: exp.Expression, stops: list[int]) -> exp.Expression:
    """Write a value for the rows that pass a node, and 0 for others."""
    if node == 0:
        return exp.Paren(this=value)
    below = np.intersect1d(descendants(query.tree.skeleton, node), stops).tolist()
    there = is_among(exp.column("leaf"), [exp.Literal.number(stop) for stop in below])
    return exp.Case(ifs=[exp.If(this=there, true=value)], default=query.dialect.number(0.0))


def _base(query: SplitExpressions, names: Sequence[str], card: CardPoints) -> exp.Expression:
    """Write the base points of a row: those of its node, or where parts of it stop those of its probability."""
    number = query.dialect.number
    if query.shares:
        yes, no = (exp.column(identifier(names[k])) for k in (card.code, 1 - card.code))
        logs = exp.Sub(this=exp.Ln(this=yes), expression=exp.Ln(this=no))
        scaled = exp.Mul(this=exp.Paren(this=number(card.factor)), expression=exp.Paren(this=logs))
        known = _whole(query, exp.Add(this=exp.Paren(this=number(card.offset + 0.0)), expression=scaled))
        end = _CERTAIN if card.factor > 0 else -_CERTAIN
        ifs = [
            exp.If(this=exp.LTE(this=p.copy(), expression=number(0.0)), true=number(at))
            for p, at in ((yes, -end), (no, end))
        ]
        return exp.Case(ifs=ifs, default=known)
    points = [
        own if isfinite(own) else np.copysign(_CERTAIN, own).item() for own in (card.base + 0.0).tolist()
    ]
    ifs = [
        exp.If(
            this=exp.EQ(this=exp.column("leaf"), expression=exp.Literal.number(node)),
            true=number(points[node]),
        )
        for node in query.stops()
    ]
    return exp.Case(ifs=ifs, default=exp.null())


def _rank(i: int, n: int) -> exp.Expression:
    """Count the losses that come before one: larger ones, and equal ones with a lower number."""
    own = exp.column(f"hornbeam_lost{i}")
    before = [
        (exp.GTE if j < i else exp.GT)(this=exp.column(f"hornbeam_lost{j}"), expression=own.copy())
        for j in range(n)
        if j != i
    ]
    counted: list[exp.Expression] = [
        exp.Case(ifs=[exp.If(this=one, true=exp.Literal.number(1))], default=exp.Literal.number(0))
        for one in before
    ]
    return _sum(counted) if counted else exp.Literal.number(0)


def _reason(query: SplitExpressions, k: int, texts: list[exp.Expression]) -> exp.Expression:
    ifs = []
    for i, text in enumerate(texts):
        here = exp.EQ(this=exp.column(f"hornbeam_rank{i}"), expression=exp.Literal.number(k))
        loss = exp.GT(this=exp.column(f"hornbeam_lost{i}"), expression=query.dialect.number(0.0))
        ifs.append(exp.If(this=exp.And(this=here, expression=loss), true=text.copy()))
    return exp.Case(ifs=ifs)


def _rule(query: SplitExpressions, rules: Mapping[int, str]) -> exp.Expression:
    """Write the condition of the node where a row stops, as text."""
    ifs = [
        exp.If(
            this=exp.EQ(this=exp.column("leaf"), expression=exp.Literal.number(node)),
            true=query.dialect.text_literal(rule),
        )
        for node, rule in rules.items()
    ]
    return exp.Case(ifs=ifs)
