"""Conditions on the value of one feature: those of a branch, a path or a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import inf, isfinite, isnan, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Schema
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.tree.words import feature_name, membership_text, plain_label, threshold_text
from hornbeam.typing import Bools


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the value of one feature: bounds, a set of categories, known or missing.

    ``Condition(0, Feature("age"))`` holds for every known value.

    Parameters
    ----------
    column : int
        Index of the feature in its schema.
    feature : Feature
    above, at_most : float, optional
        ``above < value <= at_most``; for an ordinal feature, positions in its categories.
    among : tuple of int, optional
        Codes of the categories for which it holds, ascending. Empty: it holds for no known value, of any kind of
        feature.
    missing : bool, default False
        Whether it holds for a missing value.

    Examples
    --------
    >>> import numpy as np
    >>> age = Feature("age")
    >>> within = Condition(0, age, above=17.0, missing=True) & Condition(0, age, at_most=30.5)
    >>> print(within)
    17 < age ≤ 30.5
    >>> within.holds(12.0), within.nearest(40.0)
    (False, 30.5)
    >>> within.holds_in(np.array([17.0, 30.0, np.nan]))
    array([False,  True, False])
    """

    column: int
    feature: Feature = field(hash=False)  # the column identifies it, and hashing many categories is slow
    above: float | None = None
    at_most: float | None = None
    among: tuple[int, ...] | None = None
    missing: bool = False

    @property
    def known(self) -> bool:
        """Whether it can hold for a known value."""
        return self.among != ()

    @property
    def codes(self) -> list[int]:
        """Codes of the categories for which it holds."""
        return [code for code in range(len(self.feature.categories)) if self.holds(code)]

    @property
    def parts(self) -> tuple[Condition, ...]:
        """The condition as single tests: an interval with two bounds is two tests.

        Examples
        --------
        >>> [part.at_most for part in Condition(0, Feature("age"), above=1.0, at_most=3.0).parts]
        [None, 3.0]
        """
        if self.above is None or self.at_most is None or not self.known:
            return (self,)
        return replace(self, at_most=None), replace(self, above=None)

    def holds(self, value: float) -> bool:
        """Test one value, as stored in a table."""
        if is_missing(self.feature, value):
            return self.missing
        return (
            (self.among is None or value in self.among)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
        )

    def holds_in(self, column: NDArray[Any]) -> Bools:
        """Test the values of a table column."""
        missing: Bools = column == -1 if self.feature.is_nominal else np.isnan(column)
        found = ~missing
        if self.above is not None:
            found &= column > self.above
        if self.at_most is not None:
            found &= column <= self.at_most
        if self.among is not None:
            found &= np.isin(column, self.among)
        return found | missing if self.missing else found

    def nearest(self, value: float) -> float | None:
        """Find the nearest known value for which it holds; None if it holds for no known value.

        For nominal features it is the first category; from a missing value all distances are equal.
        """
        if not self.feature.is_numeric:
            unordered = self.feature.is_nominal or isnan(value)
            return min(self.codes, key=lambda code: 0 if unordered else abs(code - value), default=None)
        above = None if self.above is None else nextafter(self.above, inf)
        candidates = [number for number in (value, self.at_most, above, 0.0) if number is not None]
        valid = [number for number in candidates if not isnan(number) and self.holds(number)]
        distance = {number: 0.0 if isnan(value) else abs(number - value) for number in valid}
        # Infinity comes last: it is not useful as an example.
        return min(valid, key=lambda number: (not isfinite(number), distance[number]), default=None)

    def text(self, max_categories: int | None = None) -> str:
        """Write the condition; longer lists of categories are cut, with the number of those left out.

        A set of more than three categories is written by its complement if that is smaller. Either way it is exact for
        the categories of the training data; a new category meets no condition on that feature.

        Parameters
        ----------
        max_categories : int, optional
            Default: whole lists, as `str` writes them.

        Returns
        -------
        str

        Examples
        --------
        >>> colour = Feature("colour", "nominal", ("blue", "green", "red"))
        >>> print(Condition(1, colour, among=(0, 2), missing=True))
        colour in {blue, red} or missing
        >>> Condition(1, colour, among=(0, 1, 2)).text(max_categories=2)
        'colour in {blue, green, … 1 more}'
        """
        name = feature_name(self.feature.name)
        if not self.known:
            return f"{name} missing" if self.missing else f"{name} impossible"
        text = self._known_text(name, max_categories)
        return f"{text} or missing" if self.missing else text

    __str__ = text

    def _known_text(self, name: str, max_categories: int | None) -> str:
        """Write the condition on a value that is not missing."""
        if self.among is not None:
            return f"{name} {membership_text(self.feature, self.among, max_categories)}"
        low = None if self.above is None else threshold_text(self.feature, self.above)
        high = None if self.at_most in (None, inf) else threshold_text(self.feature, self.at_most)
        if high is None:
            return f"{name} known" if low is None else f"{name} > {low}"
        return f"{name} ≤ {high}" if low is None else f"{low} < {name} ≤ {high}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON.

        Examples
        --------
        >>> Condition(0, Feature("age"), at_most=30.5).to_dict()
        {'text': 'age ≤ 30.5', 'at_most': 30.5, 'missing': False}
        """
        bounds = {"above": self.above, "at_most": self.at_most}
        plain: dict[str, Any] = {name: at for name, at in bounds.items() if at is not None and isfinite(at)}
        if self.among is not None:
            plain["among"] = [plain_label(self.feature.categories[code]) for code in self.among]
        return {"text": str(self), **plain, "missing": self.missing}

    def __and__(self, other: Condition) -> Condition:
        """Combine two conditions on one feature: it holds if both hold."""
        above = [bound for bound in (self.above, other.above) if bound is not None]
        at_most = [bound for bound in (self.at_most, other.at_most) if bound is not None]
        among = self.among if other.among is None else other.among
        if self.among is not None and other.among is not None:
            among = tuple(sorted({*self.among} & {*other.among}))
        return Condition(
            self.column,
            self.feature,
            above=max(above, default=None),
            at_most=min(at_most, default=None),
            among=among,
            missing=self.missing and other.missing,
        )


def is_missing(feature: Feature, value: float) -> bool:
    """Test whether a value, as stored in a table, is missing."""
    return value == -1 if feature.is_nominal else isnan(value)


def merge_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Combine the conditions on each feature into one, in the order in which features first occur."""
    found: dict[int, Condition] = {}
    for condition in conditions:
        here = found.get(condition.column)
        found[condition.column] = condition if here is None else here & condition
    return tuple(found.values())


def branch_condition(tree: Tree, node: int) -> Condition:
    """Return the condition of the branch from the parent to a node, which is not the root.

    Where a row with a missing value is split over every child, no condition holds for it, as in C4.5's rules.
    """
    parent = tree.skeleton.parent.item(node)
    return slot_condition(tree.schema, tree.skeleton, parent, node - tree.skeleton.first_child.item(parent))


def slot_condition(schema: Schema, skeleton: Skeleton, parent: int, slot: int) -> Condition:
    """Return the condition of a child of a node of a skeleton."""
    column, threshold = skeleton.feature.item(parent), skeleton.threshold.item(parent)
    known = Condition(column, schema.features[column], missing=slot == skeleton.missing_slot.item(parent))
    if isnan(threshold):
        run = skeleton.slot_of[skeleton.slot_start[parent] : skeleton.slot_start[parent + 1]]
        return replace(known, among=tuple(np.flatnonzero(run == slot).tolist()))
    if threshold == inf:  # tests whether the value is missing
        return known if slot == 0 else replace(known, among=())
    if slot == 2:  # the branch of missing values
        return replace(known, among=())
    return replace(known, at_most=threshold) if slot == 0 else replace(known, above=threshold)


def path_conditions(tree: Tree, node: int) -> list[Condition]:
    """List the conditions on the path from the root to a node, one per split."""
    return [branch_condition(tree, at) for at in path(tree.skeleton, node)[1:]]


def merged_path_conditions(tree: Tree) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """Yield each node with the merged conditions of its path, one per feature; depth first, from left to right.

    The conditions of a node are those of its parent and one more, so the time grows with the number of features on a
    path, not with its length.
    """
    first, n_children = tree.skeleton.first_child.tolist(), tree.skeleton.n_children.tolist()
    todo: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while todo:
        node, conditions = todo.pop()
        yield node, tuple(conditions.values())
        for child in reversed(range(first[node], first[node] + n_children[node])):
            new = branch_condition(tree, child)
            old = conditions.get(new.column)
            todo.append((child, conditions | {new.column: new if old is None else old & new}))
