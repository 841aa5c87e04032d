"""The conditions of a rule as an expression of a query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from sqlglot import exp

from hornbeam.data.schema import Kind
from hornbeam.export.sql.dialect import Dialect, identifier
from hornbeam.export.sql.expressions import either, is_among
from hornbeam.rules import Rule
from hornbeam.tree import Condition

__all__ = ["rule_condition"]


def rule_condition(
    rule: Rule, dialect: Dialect, table: str | None, columns: Mapping[str, str]
) -> exp.Expression:
    """Write when the conditions of a rule hold."""
    conditions = []
    for condition in rule.conditions:
        feature = condition.feature
        name = identifier(columns.get(feature.name, feature.name))
        column = exp.Column(this=name, table=None if table is None else identifier(table))
        conditions.append(_holds(condition, dialect.column(feature, column), dialect))
    return _all_of(conditions) if conditions else exp.true()


def _holds(condition: Condition, x: exp.Expression, dialect: Dialect) -> exp.Expression:
    """Write when a condition on x holds; NULL is missing, and so is an undeclared category of an ordinal feature."""
    feature = condition.feature
    categories = dialect.categories(feature)
    missing: exp.Expression = x.copy().is_(exp.null())
    if feature.kind is Kind.ORDINAL and feature.categories:
        missing = exp.Paren(this=either(missing, exp.Not(this=is_among(x, categories))))
    if not condition.known:
        return missing if condition.missing else exp.false()
    if condition.among is not None:
        known = is_among(x, [categories[code] for code in condition.among])
    elif feature.kind is Kind.ORDINAL:
        known = is_among(x, [categories[code] for code in condition.codes])
    else:
        known = _between(condition, x, dialect)
    return exp.Paren(this=either(known, missing)) if condition.missing else known


def _between(condition: Condition, x: exp.Expression, dialect: Dialect) -> exp.Expression:
    bounds: list[exp.Expression] = []
    if condition.above is not None:
        bounds.append(dialect.sides(x.copy(), condition.above)[1] or exp.false())
    if condition.at_most is not None:
        bounds.append(dialect.sides(x.copy(), condition.at_most)[0])
    return _all_of(bounds) if bounds else exp.Not(this=x.copy().is_(exp.null()))


def _all_of(conditions: list[exp.Expression]) -> exp.Expression:
    return reduce(lambda one, other: exp.And(this=one, expression=other), conditions)
