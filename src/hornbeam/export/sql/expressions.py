"""A tree's tests and answers as the expressions of a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from math import isnan

import numpy as np
from sqlglot import exp

from hornbeam.data.schema import Kind
from hornbeam.export.sql.dialect import Dialect
from hornbeam.tree import Tree
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.walk import leaves_below

__all__ = ["SplitExpressions"]


@dataclass(frozen=True, slots=True)
class SplitExpressions:
    """Where a row goes and what it is told, over columns ``x0``, ``x1``, ... in which NULL alone is missing.

    Parameters
    ----------
    tree : Tree
    dialect : Dialect

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.export.sql.dialect import DIALECTS
    >>> from hornbeam.tree import Skeleton
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [30.5, np.nan, np.nan])
    >>> tree = Tree.raw(Schema((Feature("age"),), ("no", "yes")), stump, np.array([[5, 5], [4, 1], [1, 4]]))
    >>> SplitExpressions(tree, DIALECTS["sqlite"]).leaf().sql("sqlite")
    'CASE WHEN x0 > 30.5 THEN 2 WHEN x0 IS NULL THEN 0 ELSE 1 END'
    """

    tree: Tree
    dialect: Dialect
    shares: dict[int, dict[int, float]] = field(init=False)
    below: list[int] = field(init=False)
    words: dict[int, list[exp.Expression]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", child_shares(self.tree))
        object.__setattr__(self, "below", leaves_below(self.tree.skeleton).tolist())
        for f in self.features:
            self.words[f] = self.dialect.categories(self.tree.schema.features[f])

    @property
    def features(self) -> list[int]:
        """The features that some test asks for."""
        asked = self.tree.skeleton.feature
        return [int(f) for f in np.unique(asked[asked >= 0])]

    def leaf(self, node: int = 0) -> exp.Expression:
        """Write the node where a row stops.

        At each node the CASE goes on with the child of most leaves, so branches nest no deeper than the
        logarithm of their number, however deep the tree: databases give up on a few dozen nested levels.
        """
        ifs = []
        skeleton = self.tree.skeleton
        while skeleton.n_children[node]:
            first = skeleton.first_child.item(node)
            children = range(first, first + skeleton.n_children.item(node))
            heaviest = max(children, key=self.below.__getitem__)
            for target, condition in self.ways(node).items():
                if target != heaviest:
                    there = exp.Literal.number(node) if target == node else self.leaf(target)
                    ifs.append(exp.If(this=condition, true=there))
            node = heaviest
        end = exp.Literal.number(node)
        return exp.Case(ifs=ifs, default=end) if ifs else end

    def ways(self, node: int) -> dict[int, exp.Expression]:
        """Write for each child, and for the node itself where a row may stop, when a row goes there.

        A missing value that goes to every child stops.
        """
        ways, missing = self._known(node), self._missing(node)
        slot = self.tree.skeleton.missing_slot.item(node)
        away = node if slot < 0 else self.tree.skeleton.first_child.item(node) + slot
        ways[away] = _either([*filter(None, [ways.get(away)]), missing])
        return ways

    def stops(self) -> list[int]:
        """List the nodes where a row may stop."""
        leaf = self.tree.skeleton.is_leaf
        return [node for node in range(self.tree.n_nodes) if leaf[node] or node in self.ways(node)]

    def portions(self, node: int) -> dict[int, exp.Expression]:
        """Write for each child, and for the node itself where a row may stop, what portion of a row goes there."""
        number, shares = self.dialect.number, self.shares.get(node, {})
        ways = self._known(node) if shares else self.ways(node)
        ifs = {to: [exp.If(this=condition, true=number(1.0))] for to, condition in ways.items()}
        for to, share in shares.items():
            ifs.setdefault(to, []).append(exp.If(this=self._missing(node), true=number(share)))
        return {to: exp.Case(ifs=cases, default=number(0.0)) for to, cases in ifs.items()}

    def _known(self, node: int) -> dict[int, exp.Expression]:
        """When a row that has a value goes to each child, or stops; ways that no value takes are left out."""
        skeleton = self.tree.skeleton
        f, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        feature, threshold = self.tree.schema.features[f], skeleton.threshold.item(node)
        if feature.kind is Kind.NUMERIC:
            below, above = self.dialect.sides(_x(f), threshold)
            return {first: below} | ({first + 1: above} if above else {})
        if isnan(threshold):
            run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        else:
            run = np.where(np.arange(len(feature.categories)) <= threshold, 0, 1)
        ways = {}
        for slot in np.unique(run[run >= 0]).tolist():
            ways[first + slot] = self._among(f, np.flatnonzero(run == slot))
        if feature.kind is Kind.NOMINAL:
            ways[node] = exp.Not(this=self._among(f, np.flatnonzero(run >= 0)))
        return ways

    def _missing(self, node: int) -> exp.Expression:
        """When a row has no value; a grade that an ordinal feature does not declare is none."""
        f = self.tree.skeleton.feature.item(node)
        feature = self.tree.schema.features[f]
        missing = _x(f).is_(exp.null())
        if feature.kind is Kind.ORDINAL and feature.categories:
            return _either([missing, exp.Not(this=self._among(f, range(len(feature.categories))))])
        return missing

    def _among(self, f: int, codes: Iterable[int]) -> exp.Expression:
        words = [self.words[f][code].copy() for code in codes]
        if len(words) == 1:
            return exp.EQ(this=_x(f), expression=words[0])
        return exp.In(this=_x(f), expressions=words)


def _x(f: int) -> exp.Column:
    return exp.column(f"x{f}")


def _either(conditions: list[exp.Expression]) -> exp.Expression:
    return reduce(lambda left, right: exp.Or(this=left, expression=right), conditions)
