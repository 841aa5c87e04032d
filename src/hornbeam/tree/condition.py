"""What the value of a feature must be, for a row to come to a node or to meet a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import inf, isfinite, isnan, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.typing import Bools

__all__ = ["Condition", "branch", "is_missing", "merged", "merged_paths", "path_conditions"]


@dataclass(frozen=True, slots=True)
class Condition:
    """What the value of a feature must be: within bounds, among some categories, known or missing.

    What is not mentioned is not asked for: ``Condition(0, Feature("age"))`` holds for every known value.

    Parameters
    ----------
    column : int
        The position of the feature in its schema.
    feature : Feature
        The feature asked about.
    above, at_most : float, optional
        ``above < value <= at_most``; of an ordinal feature, positions in its categories.
    among : tuple of int, optional
        Codes of the categories that will do, ascending. Empty: no known value will do, of whatever feature.
    missing : bool, default False
        Whether a missing value will do.

    See Also
    --------
    hornbeam.export.condition_words : a condition for people.

    Examples
    --------
    >>> import numpy as np
    >>> age = Feature("age")
    >>> within = Condition(0, age, above=17.0, missing=True) & Condition(0, age, at_most=30.5)
    >>> within.above, within.at_most, within.missing
    (17.0, 30.5, False)
    >>> within.holds(12.0), within.nearest(40.0)
    (False, 30.5)
    >>> within.holds_in(np.array([17.0, 30.0, np.nan]))
    array([False,  True, False])
    """

    column: int
    feature: Feature = field(hash=False)  # its column says as much, and its categories may be many
    above: float | None = None
    at_most: float | None = None
    among: tuple[int, ...] | None = None
    missing: bool = False

    @property
    def known(self) -> bool:
        """Whether known values are asked for at all; if not, at most a missing one will do."""
        return self.among != ()

    @property
    def codes(self) -> list[int]:
        """The categories that meet it, by code.

        Examples
        --------
        >>> Condition(0, Feature("size", Kind.ORDINAL, ("S", "M", "L")), above=0.5).codes
        [1, 2]
        """
        return [code for code in range(len(self.feature.categories)) if self.holds(code)]

    @property
    def parts(self) -> tuple[Condition, ...]:
        """The condition as tests that each could be dropped: the two bounds of an interval are two.

        Examples
        --------
        >>> [part.at_most for part in Condition(0, Feature("age"), above=1.0, at_most=3.0).parts]
        [None, 3.0]
        """
        if self.above is None or self.at_most is None or not self.known:
            return (self,)
        return replace(self, at_most=None), replace(self, above=None)

    def holds(self, value: float) -> bool:
        """Say whether a value, as a table holds it, meets the condition."""
        if is_missing(self.feature, value):
            return self.missing
        return (
            (self.among is None or value in self.among)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
        )

    def holds_in(self, column: NDArray[Any]) -> Bools:
        """Say which values of a table's column meet the condition."""
        missing: Bools = column == -1 if self.feature.kind is Kind.NOMINAL else np.isnan(column)
        found = ~missing
        if self.above is not None:
            found &= column > self.above
        if self.at_most is not None:
            found &= column <= self.at_most
        if self.among is not None:
            found &= np.isin(column, self.among)
        return found | missing if self.missing else found

    def nearest(self, value: float) -> float | None:
        """Find the known value that meets the condition and is nearest to another; None if none meets it.

        Of categories without an order it is the first; seen from a missing value all numbers are alike.
        """
        if self.feature.kind is not Kind.NUMERIC:
            alike = self.feature.kind is Kind.NOMINAL or isnan(value)
            return min(self.codes, key=lambda code: 0 if alike else abs(code - value), default=None)
        above = None if self.above is None else nextafter(self.above, inf)
        tried = [number for number in (value, self.at_most, above, 0.0) if number is not None]
        met = [number for number in tried if not isnan(number) and self.holds(number)]
        apart = {number: 0.0 if isnan(value) else abs(number - value) for number in met}
        # Infinity may meet it, but is no example.
        return min(met, key=lambda number: (not isfinite(number), apart[number]), default=None)

    def __and__(self, other: Condition) -> Condition:
        """Ask for both of two conditions on one feature."""
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
    """Say whether a value is missing, as a table holds it.

    Examples
    --------
    >>> is_missing(Feature("age"), -1.0), is_missing(Feature("colour", Kind.NOMINAL, ("blue",)), -1)
    (False, True)
    """
    return value == -1 if feature.kind is Kind.NOMINAL else isnan(value)


def merged(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Make one condition of all that ask about the same feature, in the order in which features are first asked.

    Examples
    --------
    >>> age, size = Feature("age"), Feature("size")
    >>> both = merged([Condition(1, size, at_most=9.0), Condition(0, age), Condition(1, size, at_most=5.0)])
    >>> [(condition.column, condition.at_most) for condition in both]
    [(1, 5.0), (0, None)]
    """
    found: dict[int, Condition] = {}
    for condition in conditions:
        here = found.get(condition.column)
        found[condition.column] = condition if here is None else here & condition
    return tuple(found.values())


def branch(tree: Tree, node: int) -> Condition:
    """Give what leads to a node from its parent; nothing leads to the root.

    A missing value that goes to every child in part meets none of their conditions, as in C4.5's rules.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([["a"], ["b"], ["c"]], [0, 1, 0]).tree_
    >>> branch(tree, 1).among, branch(tree, 2).among
    ((0, 2), (1,))
    """
    skeleton = tree.skeleton
    parent = skeleton.parent.item(node)
    column, threshold = skeleton.feature.item(parent), skeleton.threshold.item(parent)
    slot = node - skeleton.first_child.item(parent)
    everything = Condition(
        column, tree.schema.features[column], missing=slot == skeleton.missing_slot.item(parent)
    )
    if isnan(threshold):
        run = skeleton.slot_of[skeleton.slot_start[parent] : skeleton.slot_start[parent + 1]]
        return replace(everything, among=tuple(np.flatnonzero(run == slot).tolist()))
    if threshold == inf:  # asks whether the value is known
        return everything if slot == 0 else replace(everything, among=())
    if slot == 2:  # the branch of missing values
        return replace(everything, among=())
    return replace(everything, at_most=threshold) if slot == 0 else replace(everything, above=threshold)


def path_conditions(tree: Tree, node: int) -> list[Condition]:
    """Collect what leads to a node from the root, a condition for each test.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1], [2], [3]], ["a", "b", "b", "a"]).tree_
    >>> [(condition.above, condition.at_most) for condition in path_conditions(tree, 3)]
    [(0.5, None), (None, 2.5)]
    """
    return [branch(tree, at) for at in path(tree.skeleton, node)[1:]]


def merged_paths(tree: Tree) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """List what leads to every node, one condition a feature; nodes depth first, from left to right.

    The conditions of a node are those of its parent with one more test, so the time grows with the number of features
    on a path, not with its length.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1], [2], [3]], ["a", "b", "b", "a"]).tree_
    >>> for node, conditions in merged_paths(tree):
    ...     print(node, [(condition.above, condition.at_most) for condition in conditions])
    0 []
    1 [(None, 0.5)]
    2 [(0.5, None)]
    3 [(0.5, 2.5)]
    4 [(2.5, None)]
    """
    first, n_children = tree.skeleton.first_child.tolist(), tree.skeleton.n_children.tolist()
    todo: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while todo:
        node, led = todo.pop()
        yield node, tuple(led.values())
        for child in reversed(range(first[node], first[node] + n_children[node])):
            test = branch(tree, child)
            here = led.get(test.column)
            todo.append((child, led | {test.column: test if here is None else here & test}))
