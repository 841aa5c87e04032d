"""The splits of a tree, and the conditions of rules, as expressions of a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import isnan

import numpy as np
from sqlglot import exp

from hornbeam.data.schema import Kind
from hornbeam.export.sql.dialect import Dialect, identifier
from hornbeam.tree import Condition
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import leaves_below


@dataclass(frozen=True, slots=True)
class SplitExpressions:
    """The path of a row, over columns ``x0``, ``x1``, ... in which only NULL is missing."""

    tree: Tree
    dialect: Dialect
    shares: dict[int, dict[int, float]] = field(init=False)
    below: list[int] = field(init=False)
    categories: dict[int, list[exp.Expression]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", child_shares(self.tree))
        object.__setattr__(self, "below", leaves_below(self.tree.skeleton).tolist())
        for f in self.tree.features_used:
            self.categories[f] = self.dialect.categories(self.tree.schema.features[f])

    def leaf(self, node: int = 0) -> exp.Expression:
        """Write the node where a row stops.

        At each node the CASE continues with the child that has most leaves, so CASEs nest no deeper than the logarithm
        of the number of leaves, also in a deep tree: databases fail on a few dozen nested levels.
        """
        ifs = []
        skeleton = self.tree.skeleton
        while skeleton.n_children[node]:
            first = skeleton.first_child.item(node)
            children = range(first, first + skeleton.n_children.item(node))
            heaviest = max(children, key=self.below.__getitem__)
            for target, condition in self.branches(node).items():
                if target != heaviest:
                    there = exp.Literal.number(node) if target == node else self.leaf(target)
                    ifs.append(exp.If(this=condition, true=there))
            node = heaviest
        end = exp.Literal.number(node)
        return exp.Case(ifs=ifs, default=end) if ifs else end

    def branches(self, node: int) -> dict[int, exp.Expression]:
        """Write the condition of each child, and of the node itself if a row may stop there.

        A missing value that goes to every child stops.
        """
        branches, missing = self._known(node), self._missing(node)
        slot = self.tree.skeleton.missing_slot.item(node)
        target = node if slot < 0 else self.tree.skeleton.first_child.item(node) + slot
        branches[target] = either(branches[target], missing) if target in branches else missing
        return branches

    def stops(self) -> list[int]:
        """List the nodes where a row may stop."""
        leaf = self.tree.skeleton.is_leaf
        return [node for node in range(self.tree.n_nodes) if leaf[node] or node in self.branches(node)]

    def portions(self, node: int) -> dict[int, exp.Expression]:
        """Write the share of a row that goes to each child, and to the node itself if a row may stop there."""
        number, shares = self.dialect.number, self.shares.get(node, {})
        branches = self._known(node) if shares else self.branches(node)
        ifs = {to: [exp.If(this=condition, true=number(1.0))] for to, condition in branches.items()}
        for to, share in shares.items():
            ifs.setdefault(to, []).append(exp.If(this=self._missing(node), true=number(share)))
        return {to: exp.Case(ifs=cases, default=number(0.0)) for to, cases in ifs.items()}

    def _known(self, node: int) -> dict[int, exp.Expression]:
        """Write when a known value goes to each child, or stops; branches that no value takes are left out."""
        skeleton = self.tree.skeleton
        f, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        feature, threshold = self.tree.schema.features[f], skeleton.threshold.item(node)
        if feature.is_numeric:
            below, above = self.dialect.sides(_x(f), threshold)
            return {first: below} | ({first + 1: above} if above else {})
        if isnan(threshold):
            run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        else:
            run = np.where(np.arange(len(feature.categories)) <= threshold, 0, 1)
        branches: dict[int, exp.Expression] = {}
        for slot in np.unique(run[run >= 0]).tolist():
            branches[first + slot] = self._is_among(f, np.flatnonzero(run == slot))
        if feature.is_nominal:
            branches[node] = exp.Not(this=self._is_among(f, np.flatnonzero(run >= 0)))
        return branches

    def _missing(self, node: int) -> exp.Expression:
        """Write when a value is missing; so is a category that an ordinal feature does not declare."""
        f = self.tree.skeleton.feature.item(node)
        feature = self.tree.schema.features[f]
        missing = _x(f).is_(exp.null())
        if feature.kind is Kind.ORDINAL and feature.categories:
            return either(missing, exp.Not(this=is_among(_x(f), self.categories[f])))
        return missing

    def _is_among(self, f: int, codes: Iterable[int]) -> exp.Expression:
        return is_among(_x(f), [self.categories[f][code] for code in codes])


def _x(f: int) -> exp.Column:
    return exp.column(f"x{f}")


def is_among(x: exp.Expression, categories: list[exp.Expression]) -> exp.Expression:
    """Write that a value is one of these categories."""
    if not categories:
        return exp.false()
    if len(categories) == 1:
        return exp.EQ(this=x.copy(), expression=categories[0].copy())
    return exp.In(this=x.copy(), expressions=[category.copy() for category in categories])


def either(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    """Write that one of two conditions holds, without parentheses."""
    return exp.Or(this=one, expression=other)


def rule_condition(
    rule: Iterable[Condition], dialect: Dialect, table: str | None, columns: Mapping[str, str]
) -> exp.Expression:
    """Write when the conditions of a rule hold."""
    conditions = []
    for condition in rule:
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
