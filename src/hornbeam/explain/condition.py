"""What the value of a feature must be, for a row to come to a node."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isnan, nextafter
from typing import Any

import numpy as np

from hornbeam.data.schema import Feature, Kind
from hornbeam.export.words import cut, feature_name, membership, plain, word
from hornbeam.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.typing import Category

__all__ = [
    "Condition",
    "branch",
    "is_missing",
    "known_words",
    "rule",
    "rule_words",
    "value_of",
    "value_words",
]

_MOST_CATEGORIES = 8  # named of a set


@dataclass(frozen=True, slots=True)
class Condition:
    """What the value of a feature must be: between bounds, among some categories, known or missing.

    Parameters
    ----------
    feature : Feature
    above, at_most : float, optional
        Bounds of a number, or of the position of an ordinal value; None where there is none.
    among : frozenset of int, optional
        The category codes that meet it; None for no such bound. Empty: no known value does.
    missing : bool, default True
        Whether a missing value meets it.

    Examples
    --------
    >>> young = Condition(Feature("age"), at_most=30.5)
    >>> adult = Condition(Feature("age"), above=17.0, missing=False)
    >>> print(young, "and", adult, "is", young & adult)
    age ≤ 30.5 or missing and age > 17 is 17 < age ≤ 30.5
    >>> young.holds(12.0), (young & adult).holds(12.0), (young & adult).nearest(40.0)
    (True, False, 30.5)
    """

    feature: Feature
    above: float | None = None
    at_most: float | None = None
    among: frozenset[int] | None = None
    missing: bool = True

    def holds(self, value: float) -> bool:
        """Whether a value, as a table holds it, meets the condition."""
        if is_missing(self.feature, value):
            return self.missing
        return (
            (self.among is None or value in self.among)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
        )

    def __and__(self, other: Condition) -> Condition:
        above = [bound for bound in (self.above, other.above) if bound is not None]
        at_most = [bound for bound in (self.at_most, other.at_most) if bound is not None]
        sets = [codes for codes in (self.among, other.among) if codes is not None]
        return Condition(
            self.feature,
            max(above, default=None),
            min(at_most, default=None),
            frozenset.intersection(*sets) if sets else None,
            self.missing and other.missing,
        )

    def nearest(self, value: float) -> float | None:
        """Find the known value that meets the condition and is nearest to another; None if none meets it.

        Of categories without an order it is the first; seen from a missing value all numbers are alike.
        """
        if self.feature.kind is not Kind.NUMERIC:
            codes = [code for code in range(len(self.feature.categories)) if self.holds(code)]
            missing = self.feature.kind is Kind.NOMINAL or isnan(value)
            return min(codes, key=lambda code: 0 if missing else abs(code - value), default=None)
        above = None if self.above is None else nextafter(self.above, inf)
        tried = [number for number in (value, self.at_most, above, 0.0) if number is not None]
        met = [number for number in tried if not isnan(number) and self.holds(number)]
        apart = {number: 0.0 if isnan(value) else abs(number - value) for number in met}
        # Infinity may meet it, but is no example.
        return min(met, key=lambda number: (not isfinite(number), apart[number]), default=None)

    def __str__(self) -> str:
        name = feature_name(self.feature.name)
        known = self._known(name)
        if not self.missing:
            return known or f"{name} impossible"
        return f"{known} or missing" if known else f"{name} missing"

    def _known(self, name: str) -> str:
        """Say which known values meet it; nothing if none does."""
        if self.among is not None:
            codes = [word(self.feature.categories[code]) for code in sorted(self.among)]
            return f"{name} {membership(codes, _MOST_CATEGORIES)}" if codes else ""
        low = None if self.above is None else cut(self.feature, self.above)
        high = None if self.at_most is None or self.at_most == inf else cut(self.feature, self.at_most)
        if high is None:
            return f"{name} known" if low is None else f"{name} > {low}"
        return f"{name} ≤ {high}" if low is None else f"{low} < {name} ≤ {high}"

    def to_dict(self) -> dict[str, Any]:
        """Return what is asked for as plain values, for JSON.

        Examples
        --------
        >>> Condition(Feature("age"), at_most=30.5, missing=False).to_dict()
        {'words': 'age ≤ 30.5', 'at_most': 30.5, 'missing': False}
        """
        asked: dict[str, Any] = {"words": str(self)}
        for name in ("above", "at_most"):
            bound = getattr(self, name)
            if bound is not None and isfinite(bound):
                asked[name] = bound
        if self.among is not None:
            asked["among"] = [plain(self.feature.categories[code]) for code in sorted(self.among)]
        return {**asked, "missing": self.missing}


def branch(tree: Tree, node: int) -> Condition:
    """Give what leads to a node from its parent; nothing leads to the root.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([["a"], ["b"], ["c"]], [0, 1, 0]).tree_
    >>> print(branch(tree, 1), "/", branch(tree, 2))
    x0 in {a, c} / x0 = b
    """
    skeleton = tree.skeleton
    parent = skeleton.parent.item(node)
    slot = node - skeleton.first_child.item(parent)
    feature = tree.schema.features[skeleton.feature[parent]]
    threshold, missing = skeleton.threshold.item(parent), slot == skeleton.missing_slot.item(parent)
    if isnan(threshold):
        run = skeleton.slot_of[skeleton.slot_start[parent] : skeleton.slot_start[parent + 1]]
        return Condition(feature, among=frozenset(np.flatnonzero(run == slot).tolist()), missing=missing)
    if slot == 2:
        return Condition(feature, among=frozenset())
    above, at_most = (None, threshold) if slot == 0 else (threshold, None)
    return Condition(feature, above, at_most, missing=missing)


def rule(tree: Tree, node: int) -> dict[int, Condition]:
    """Collect what leads to a node from the root: for each feature asked for, what its value must be.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1], [2], [3]], ["a", "b", "b", "a"]).tree_
    >>> [str(rule(tree, node)[0]) for node in range(1, tree.n_nodes)]
    ['x0 ≤ 0.5', 'x0 > 0.5', '0.5 < x0 ≤ 2.5', 'x0 > 2.5']
    """
    found: dict[int, Condition] = {}
    for at in path(tree.skeleton, node)[1:]:
        feature = tree.skeleton.feature.item(tree.skeleton.parent.item(at))
        condition = branch(tree, at)
        found[feature] = found[feature] & condition if feature in found else condition
    return found


def rule_words(tree: Tree, node: int) -> str:
    """Say what leads to a node from the root, in one line.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0, 1], [1, 0], [1, 1]], ["a", "a", "b"]).tree_
    >>> rule_words(tree, tree.n_nodes - 1), rule_words(tree, 0)
    ('x0 > 0.5 and x1 > 0.5', 'every row')
    """
    return " and ".join(map(str, rule(tree, node).values())) or "every row"


def is_missing(feature: Feature, value: float) -> bool:
    """Whether a value is missing, as a table holds it."""
    return value == -1 if feature.kind is Kind.NOMINAL else isnan(value)


def value_of(feature: Feature, value: float) -> Category | None:
    """Give a value as it stood in the data, from what a table holds; None where it is missing, or unseen.

    Examples
    --------
    >>> size = Feature("size", Kind.ORDINAL, ("S", "M", "L"))
    >>> value_of(size, 2.0), value_of(size, float("nan")), value_of(Feature("age"), 30.0)
    ('L', None, 30.0)
    """
    if feature.kind is Kind.NUMERIC:
        return None if isnan(value) else value
    return feature.categories[int(value)] if value >= 0 else None


def value_words(feature: Feature, value: float) -> str:
    """Say what a value is, from what a table holds.

    Examples
    --------
    >>> colour = Feature("colour", Kind.NOMINAL, ("blue", "red"))
    >>> value_words(colour, 1), value_words(colour, -1), value_words(colour, -2), value_words(Feature("age"), 30.0)
    ('red', 'missing', 'a category never seen', '30')
    """
    known = value_of(feature, value)
    if known is None and not is_missing(feature, value):
        return "a category never seen"
    return known_words(feature, known)


def known_words(feature: Feature, value: Category | None) -> str:
    """Say what a value is, as it stood in the data; None was missing."""
    if value is None:
        return "missing"
    return cut(feature, float(value)) if feature.kind is Kind.NUMERIC else word(value)
