"""What would have to be different: the nearest places in a tree where a row is answered otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from heapq import heappop, heappush
from itertools import islice
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.explain.distance import Distance
from hornbeam.explain.notebook import counterfactuals_html
from hornbeam.explain.path import follow
from hornbeam.explain.wording import condition_dict, value_of, value_text
from hornbeam.export.condition_text import condition_text
from hornbeam.export.missing_shares import missing_shares
from hornbeam.export.prediction_text import mean_text
from hornbeam.export.wording import label_text, plain_label, probability_text
from hornbeam.tree import Condition, Tree
from hornbeam.tree.condition import branch
from hornbeam.tree.route import predict_rows
from hornbeam.tree.walk import descendants
from hornbeam.typing import Category, Floats, Label

__all__ = ["Counterfactual", "Counterfactuals", "counterfactuals"]

_MOST_ROWS = 20  # that are shown


@dataclass(frozen=True, slots=True, repr=False)
class Counterfactual:
    """What would have to change for a row to be answered otherwise.

    Parameters
    ----------
    label : hashable or None
        The class it would be taken for; None where the target is numeric.
    probability : float
        Of that class, then; of a numeric target, the mean.
    node : int
        The node it would come to.
    needed : dict from str to Condition
        For each feature that would have to change, what its value would have to be.
    values : dict from str to value
        Values that will do: of numbers and ordinal categories the nearest, of others the first.
    present : dict from str to str
        What these features are now, in words.
    distance : float
        How far away it is, among those with as many changes.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> nearest, = clf.counterfactuals([[50.0]])[0]
    >>> print(nearest)
    x0 ≤ 35 (is 50): no 1.000
    >>> nearest.values
    {'x0': 35.0}
    """

    label: Label | None
    probability: float
    node: int
    needed: dict[str, Condition]
    values: dict[str, Category]
    present: dict[str, str]
    distance: float

    @property
    def changes(self) -> str:
        """What would have to change, in words."""
        return " and ".join(
            f"{condition_text(asked)} (is {self.present[name]})" for name, asked in self.needed.items()
        )

    @property
    def answer(self) -> str:
        """The class it would be taken for and its probability, or the mean, in words."""
        if self.label is None:
            return mean_text(self.probability)
        return f"{label_text(self.label)} {probability_text(self.probability)}"

    def __str__(self) -> str:
        return f"{self.changes}: {self.answer}"

    def __repr__(self) -> str:
        return f"Counterfactual({self})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        said: dict[str, Any] = {"mean": self.probability}
        if self.label is not None:
            said = {"class": plain_label(self.label), "probability": self.probability}
        return {
            "words": str(self),
            **said,
            "node": self.node,
            "needed": {name: condition_dict(asked) for name, asked in self.needed.items()},
            "values": {name: plain_label(value) for name, value in self.values.items()},
            "distance": self.distance,
        }


class Counterfactuals(list[tuple[Counterfactual, ...]]):
    """The counterfactuals of each row, as a list that prints one line for each.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> clf.counterfactuals([[50.0], [60.0]])
    row 0: x0 ≤ 35 (is 50): no 1.000
    row 1: x0 ≤ 35 (is 60): no 1.000
    """

    def __repr__(self) -> str:
        lines = []
        for row, ways in enumerate(self[:_MOST_ROWS]):
            lines += [f"row {row}: {way}" for way in ways] or [f"row {row}: nothing to change"]
        if len(self) > _MOST_ROWS:
            lines.append(f"… and {len(self) - _MOST_ROWS:,} more rows")
        return "\n".join(lines) or "[]"

    def _repr_html_(self) -> str:
        return counterfactuals_html(self)


def counterfactuals(
    tree: Tree,
    table: Table,
    *,
    wanted: Any = None,
    fixed: Iterable[str] = (),
    n: int = 1,
    spread: Mapping[str, float] | None = None,
) -> Counterfactuals:
    """Find what would have to change for rows to be answered otherwise.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows read with the tree's schema.
    wanted : hashable, or pair of numbers, optional
        The class to come to. Default: any other than now. Of a numeric target, and there it is needed, the lowest and
        the highest mean that will do; None for no bound.
    fixed : iterable of str, default ()
        Features that cannot change.
    n : int, default 1
        How many places to find for each row.
    spread : mapping from str to float, optional
        For numeric features, by name, how large a change counts 1: ``X.std().to_dict()``, say. Default: the
        change over all thresholds that the tree has for the feature.

    Returns
    -------
    Counterfactuals
        A list with a tuple of `Counterfactual` for each row: the places that need the fewest features to
        change, then those at the least distance. Fewer than `n`, or none, if there are no more, as for rows
        that are answered so already.

    Notes
    -----
    Distances add up over the features that change (`hornbeam.explain.distance`). No value is ever to become missing,
    nor a category that a test on the way has not seen: of those the tree knows less, not better.

    Any values that meet `needed` will do. A place counts only if that is so: where a missing value is shared out
    over children that ask again for a feature that would change, the children themselves are looked at.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> X = [[0, 1], [1, 0], [1, 1]]
    >>> tree = TreeClassifier("cart").fit(X, ["a", "a", "b"]).tree_
    >>> rows = Table.read([[1, 1]], schema=tree.schema)
    >>> print(*counterfactuals(tree, rows, n=2)[0], sep="; ")
    x0 ≤ 0.5 (is 1): a 1.000; x1 ≤ 0.5 (is 1): a 1.000
    >>> print(*counterfactuals(tree, rows, fixed=["x0"])[0])
    x1 ≤ 0.5 (is 1): a 1.000
    """
    if n < 1:
        raise ParameterError(f"n={n!r}: expected 1 or more.")
    outcome: _Outcome = _within(wanted) if tree.is_regression else tree.decision
    search = _Search(tree, table, outcome, _codes(tree, fixed), Distance(tree, spread))
    aim = 1 if tree.is_regression else _class(tree, wanted)
    answers = outcome(predict_rows(tree, table)).tolist()
    return Counterfactuals(
        () if now == aim else tuple(islice(search.ends(i, now, aim), n)) for i, now in enumerate(answers)
    )


type _Outcome = Callable[[Floats], NDArray[np.intp]]
"""From what nodes believe to a code of what that means: the class, or whether a mean is as wanted."""


def _class(tree: Tree, wanted: Any) -> int | None:
    classes = tree.schema.classes
    if wanted is not None and wanted not in classes:
        raise ParameterError(f"wanted={wanted!r}: expected one of the classes, {list(classes)}.")
    return None if wanted is None else classes.index(wanted)


def _within(wanted: Any) -> _Outcome:
    """Whether a mean is between two bounds, 1 or 0."""
    if not isinstance(wanted, (tuple, list)) or len(wanted) != 2 or all(bound is None for bound in wanted):
        raise ParameterError(
            f"wanted={wanted!r}, and the target is numeric: expected the lowest and the highest mean that will do. "
            "Pass wanted=(200, None) for at least 200, say."
        )
    low, high = (-inf if wanted[0] is None else wanted[0], inf if wanted[1] is None else wanted[1])
    return lambda belief: ((low <= belief[:, 0]) & (belief[:, 0] <= high)).astype(np.intp)


type _Needs = dict[int, tuple[Condition, float | None]]
"""For each feature asked for on a way, what its value must be, and how far that is; None if it is so already."""


class _Search:
    """Nodes in the order of what it takes to come to them: nothing below a node takes less than the node."""

    def __init__(
        self,
        tree: Tree,
        table: Table,
        outcome: _Outcome,
        fixed: set[int],
        apart: Distance,
    ) -> None:
        self.tree, self.table, self.outcome, self.fixed, self.apart = tree, table, outcome, fixed, apart
        self.shares = missing_shares(tree)
        self.branch = cache(lambda node: branch(tree, node))

    def ends(self, i: int, now: int, aim: int | None) -> Iterator[Counterfactual]:
        """Find the places where row i would be answered otherwise, nearest first."""
        row = [column[i].item() for column in self.table.columns]
        todo: list[tuple[int, float, int, _Needs]] = [(0, 0.0, 0, {})]
        while todo:
            _, distance, node, needs = heappop(todo)
            belief = self.belief(i, row, node, needs)
            if belief is not None:
                then = self.outcome(belief[None])[0].item()
                if then != now and aim in (None, then):
                    yield self.told(row, node, needs, then, belief, distance)
            for child, met in self.onward(row, node, needs):
                far = [apart for _, apart in met.values() if apart is not None]
                heappush(todo, (len(far), sum(far), child, met))

    def onward(self, row: list[float], node: int, needs: _Needs) -> Iterator[tuple[int, _Needs]]:
        """Find the children that a row can come to, and what it takes."""
        skeleton = self.tree.skeleton
        asked, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        for child in range(first, first + skeleton.n_children.item(node)):
            condition = self.branch(child)
            if asked in needs:
                condition = needs[asked][0] & condition
            if condition.holds(row[asked]):
                yield child, {**needs, asked: (condition, None)}
            elif asked not in self.fixed:
                near = condition.nearest(row[asked])
                if near is not None:
                    yield child, {**needs, asked: (condition, self.apart(asked, row[asked], near))}

    def belief(self, i: int, row: list[float], node: int, needs: _Needs) -> Floats | None:
        """What the tree would answer at a node if the row went no further as a whole; None if it would."""
        skeleton = self.tree.skeleton
        asked = skeleton.feature.item(node)
        own: Floats = self.tree.belief[node]
        if asked < 0:
            return own
        changed = {feature for feature, (_, apart) in needs.items() if apart is not None}
        slot = follow(skeleton, node, self.tree.schema.features[asked], row[asked])
        if asked in changed or slot >= 0:
            return None
        if slot == -1 or node not in self.shares:
            return own
        below = skeleton.feature[descendants(skeleton, node)].tolist()
        return (
            None if changed.intersection(below) else predict_rows(self.tree, self.changed(i, row, needs))[0]
        )

    def changed(self, i: int, row: list[float], needs: _Needs) -> Table:
        """Row i with every change that is needed."""
        one = self.table.take(np.array([i]))
        columns = list(one.columns)
        for feature, (condition, apart) in needs.items():
            if apart is not None:
                columns[feature] = np.array([condition.nearest(row[feature])], columns[feature].dtype)
        return replace(one, columns=tuple(columns), matrix=None)

    def told(
        self, row: list[float], node: int, needs: _Needs, then: int, belief: Floats, distance: float
    ) -> Counterfactual:
        """Write down what a way takes."""
        needed, values, present = {}, {}, {}
        for asked, (condition, apart) in needs.items():
            if apart is not None:
                feature = condition.feature
                near = condition.nearest(row[asked])
                value = None if near is None else value_of(feature, near)
                assert value is not None  # `onward` saw that there is one
                needed[feature.name], values[feature.name] = replace(condition, missing=False), value
                present[feature.name] = value_text(feature, row[asked])
        k, label = (0, None) if self.tree.is_regression else (then, self.tree.schema.classes[then])
        return Counterfactual(label, belief.item(k), node, needed, values, present, distance)


def _codes(tree: Tree, fixed: Iterable[str]) -> set[int]:
    """The features that cannot change."""
    names = tree.schema.names
    fixed = [fixed] if isinstance(fixed, str) else list(fixed)
    for name in fixed:
        if name not in names:
            raise ParameterError(
                f"fixed names the feature {name!r}: expected some of {list(names[:5])}{', …' * (len(names) > 5)}."
            )
    return {names.index(name) for name in fixed}
