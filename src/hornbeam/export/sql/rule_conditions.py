"""Rules as the conditions of a query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from sqlglot import exp

from hornbeam.data.schema import Kind
from hornbeam.export.sql.dialect import Dialect, name
from hornbeam.rules import Rule
from hornbeam.tree import Condition

__all__ = ["rule_condition"]


def rule_condition(
    rule: Rule, dialect: Dialect, table: str | None, columns: Mapping[str, str]
) -> exp.Expression:
    """Write when the conditions of a rule hold.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature
    >>> from hornbeam.export.sql.dialect import DIALECTS
    >>> young = Condition(0, Feature("age"), at_most=30.5)
    >>> rule = Rule((young,), 0, np.ones(2), np.ones(2), np.ones(2) / 2, 2.0, 0.5)
    >>> rule_condition(rule, DIALECTS["sqlite"], None, {}).sql("sqlite")
    'CAST("age" AS REAL) <= 30.5'
    """
    asked = []
    for condition in rule.conditions:
        feature = condition.feature
        given = name(columns.get(feature.name, feature.name))
        column = exp.Column(this=given, table=None if table is None else name(table))
        asked.append(_holds(condition, dialect.column(feature, column), dialect))
    return _all(asked) if asked else exp.true()


def _holds(condition: Condition, x: exp.Expression, dialect: Dialect) -> exp.Expression:
    """When a condition on the value x holds, in which NULL alone is missing, and grades nobody declared."""
    feature = condition.feature
    words = dialect.categories(feature)
    missing: exp.Expression = x.copy().is_(exp.null())
    if feature.kind is Kind.ORDINAL and feature.categories:
        missing = _either(missing, exp.Not(this=_among(x, words)))
    if not condition.known:
        return missing if condition.missing else exp.false()
    if condition.among is not None:
        found = _among(x, [words[code] for code in condition.among])
    elif feature.kind is Kind.ORDINAL:
        found = _among(x, [words[code] for code in condition.codes])
    else:
        found = _between(condition, x, dialect)
    return _either(found, missing) if condition.missing else found


def _between(condition: Condition, x: exp.Expression, dialect: Dialect) -> exp.Expression:
    bounds: list[exp.Expression] = []
    if condition.above is not None:
        bounds.append(dialect.sides(x.copy(), condition.above)[1] or exp.false())
    if condition.at_most is not None:
        bounds.append(dialect.sides(x.copy(), condition.at_most)[0])
    return _all(bounds) if bounds else exp.Not(this=x.copy().is_(exp.null()))


def _among(x: exp.Expression, words: list[exp.Expression]) -> exp.Expression:
    if not words:
        return exp.false()
    if len(words) == 1:
        return exp.EQ(this=x.copy(), expression=words[0].copy())
    return exp.In(this=x.copy(), expressions=[word.copy() for word in words])


def _all(conditions: list[exp.Expression]) -> exp.Expression:
    return reduce(lambda one, other: exp.And(this=one, expression=other), conditions)


def _either(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.Paren(this=exp.Or(this=one, expression=other))
