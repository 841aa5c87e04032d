"""Counterfactuals: the smallest changes of a row that lead to another prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from heapq import heappop, heappush
from itertools import count, islice
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_whole
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError, shown
from hornbeam.explain.term_moves import term_moves
from hornbeam.export.wording import value_of, value_text
from hornbeam.grid import Grid, Result
from hornbeam.tree import Condition
from hornbeam.tree.condition import branch_condition, is_missing
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.route import follow, predict_rows, row_predictor
from hornbeam.tree.skeleton import STOP
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants
from hornbeam.tree.words import label_text, mean_text, plain_label, probability_text
from hornbeam.typing import Category, Floats

_MOST_ROWS = 20  # printed


@dataclass(frozen=True, slots=True, repr=False)
class Counterfactual:
    """Changes of a row that lead to another prediction.

    Parameters
    ----------
    prediction : hashable or float
        The class predicted after the changes; for a numeric target, the mean.
    probability : float or None
        The probability of that class; None if the target is numeric.
    node : int
        The node where the row stops after the changes.
    needed : dict from str to Condition
        The condition on each feature that has to change.
    values : dict from str to value
        Values that meet the conditions: for numeric and ordinal features the nearest, for nominal ones the first.
    present : dict from str to str
        The current values of these features, as text.
    distance : float
        Sum of the distances of the changed features.

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

    prediction: Any
    probability: float | None
    node: int
    needed: dict[str, Condition]
    values: dict[str, Category]
    present: dict[str, str]
    distance: float

    @property
    def changes(self) -> str:
        """The changes as text."""
        return " and ".join(
            f"{condition!s} (is {self.present[name]})" for name, condition in self.needed.items()
        )

    @property
    def outcome(self) -> str:
        """The predicted class and its probability, or the mean, as text."""
        if self.probability is None:
            return mean_text(self.prediction)
        return f"{label_text(self.prediction)} {probability_text(self.probability)}"

    def __str__(self) -> str:
        return f"{self.changes}: {self.outcome}"

    def __repr__(self) -> str:
        return f"Counterfactual({self})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        probability = {} if self.probability is None else {"probability": self.probability}
        return {
            "text": str(self),
            "prediction": plain_label(self.prediction),
            **probability,
            "node": self.node,
            "needed": {name: condition.to_dict() for name, condition in self.needed.items()},
            "values": {name: plain_label(value) for name, value in self.values.items()},
            "distance": self.distance,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Counterfactuals(Result[tuple[Counterfactual, ...]]):
    """The counterfactuals of each row; printed, a line for each.

    Parameters
    ----------
    rows : tuple of tuples of Counterfactual
        Those of each row.
    as_wanted : tuple of bool
        Whether each row has the wanted prediction already; it then has no counterfactuals.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> clf.counterfactuals([[50.0], [60.0]])
    row 0: x0 ≤ 35 (is 50): no 1.000
    row 1: x0 ≤ 35 (is 60): no 1.000
    """

    _ENTRIES: ClassVar = "rows"

    rows: tuple[tuple[Counterfactual, ...], ...]
    as_wanted: tuple[bool, ...]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a list per row, which has a value per counterfactual.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
        >>> clf.counterfactuals([[50.0]]).to_frame()[["changes", "prediction", "probability"]]
                     changes prediction probability
        0  [x0 ≤ 35 (is 50)]       [no]       [1.0]
        """
        names = ("changes", "prediction", "probability", "node", "distance")
        return {name: [[getattr(one, name) for one in found] for found in self.rows] for name in names}

    def __repr__(self) -> str:
        lines = []
        for row, found in enumerate(self[:_MOST_ROWS]):
            none = "is as wanted already" if self.as_wanted[row] else "no change leads there"
            lines += [f"row {row}: {one}" for one in found] or [f"row {row}: {none}"]
        if len(self) > _MOST_ROWS:
            lines.append(f"… and {len(self) - _MOST_ROWS:,} more rows")
        return "\n".join(lines) or "[]"

    def _grid(self) -> Grid:
        """Return a table with a row per counterfactual."""
        rows = [(row, one.outcome, one.changes) for row, several in enumerate(self) for one in several]
        return Grid("Counterfactuals", ("row", "would be", "if"), rows, "><")


def counterfactuals(
    tree: Tree,
    table: Table,
    *,
    wanted: Any = None,
    fixed: Iterable[str] = (),
    n: int = 1,
    spread: Mapping[str, float] | None = None,
) -> Counterfactuals:
    """Find the smallest changes of rows that lead to another prediction (`TreeClassifier.counterfactuals`).

    All values that meet `needed` lead to the same prediction. If a missing value is distributed over children that test
    a changed feature again, that does not hold, and the search goes on in the children.
    """
    check_whole("n", n, 1)
    outcome: _Outcome = _within(wanted) if tree.is_regression else tree.decision
    search = _Search(tree, table, outcome, _positions(tree, fixed), Distance(tree, spread))
    aim = 1 if tree.is_regression else _class(tree, wanted)
    current = outcome(predict_rows(tree, table)).tolist()
    found = (
        () if now == aim else tuple(islice(search.found(i, now, aim), n)) for i, now in enumerate(current)
    )
    return Counterfactuals(tuple(found), tuple([now == aim for now in current]))


type _Outcome = Callable[[Floats], NDArray[np.intp]]
"""Function from beliefs to codes: the predicted class, or 1 if the mean is within the wanted bounds, else 0."""


def _class(tree: Tree, wanted: Any) -> int | None:
    classes = tree.schema.classes
    if wanted is not None and wanted not in classes:
        raise ParameterError(f"wanted={wanted!r}: expected one of the classes, {list(classes)}.")
    return None if wanted is None else classes.index(wanted)


def _within(wanted: Any) -> _Outcome:
    """Return the function that tests whether means are within two bounds."""
    if not isinstance(wanted, (tuple, list)) or len(wanted) != 2 or all(bound is None for bound in wanted):
        raise ParameterError(
            f"wanted={wanted!r}, and the target is numeric: expected the lowest and the highest mean. "
            "Pass wanted=(200, None) for at least 200, say."
        )
    low, high = (-inf if wanted[0] is None else wanted[0], inf if wanted[1] is None else wanted[1])
    return lambda belief: ((low <= belief[:, 0]) & (belief[:, 0] <= high)).astype(np.intp)


type _Needs = dict[int, tuple[Condition, float | None]]
"""Per feature tested on a path, the condition on its value and the distance to it; None if it holds already."""


class _Search:
    """Best-first search over nodes, by the changes needed to reach them: descendants never need less."""

    def __init__(
        self, tree: Tree, table: Table, outcome: _Outcome, fixed: set[int], distance: Distance
    ) -> None:
        self.tree, self.table, self.outcome, self.fixed = tree, table, outcome, fixed
        self.distance = distance
        self.shares = child_shares(tree)
        self.branch = cache(lambda node: branch_condition(tree, node))
        self.predict = row_predictor(tree)

    def found(self, i: int, now: int, aim: int | None) -> Iterator[Counterfactual]:
        """Yield the counterfactuals of row i, nearest first."""
        row = [column[i].item() for column in self.table.columns]
        number = count(1)  # of two equal ones, the first that was found
        todo: list[tuple[int, float, int, int, int, _Needs]] = [(0, 0.0, 0, 0, 0, {})]
        while todo:
            _, distance, node, moved, _, needs = heappop(todo)
            belief = self.belief(i, row, node, needs)
            reached = False
            if belief is not None:
                then = self.outcome(belief[None])[0].item()
                reached = then != now and aim in (None, then)
                if reached:
                    yield self.counterfactual(row, node, needs, then, belief, distance)
            further = [(child, 0, more) for child, more in self.children(row, node, needs)]
            if belief is not None and not reached and not moved:
                moves = self.moves(row, node, needs, now, aim)
                further += [(node, at, more) for at, more in enumerate(moves, start=1)]
            for to, at, more in further:
                distances = [distance for _, distance in more.values() if distance is not None]
                heappush(todo, (len(distances), sum(distances), to, at, next(number), more))

    def children(self, row: list[float], node: int, needs: _Needs) -> Iterator[tuple[int, _Needs]]:
        """Yield the children that a row can reach, and the conditions for it."""
        skeleton = self.tree.skeleton
        tested, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        for child in range(first, first + skeleton.n_children.item(node)):
            condition = self.branch(child)
            if tested in needs:
                condition = needs[tested][0] & condition
            if condition.holds(row[tested]):
                yield child, {**needs, tested: (condition, None)}
            elif tested not in self.fixed:
                nearest = condition.nearest(row[tested])
                if nearest is not None:
                    yield child, {**needs, tested: (condition, self.distance(tested, row[tested], nearest))}

    def moves(
        self, row: list[float], node: int, needs: _Needs, now: int, aim: int | None
    ) -> Iterator[_Needs]:
        """Yield the conditions for each move of a feature with a term that leads to the aim.

        The changed row stops at the node: at an inner one because the value that it tests is missing, and stays so.
        """

        def reaches(values: list[float]) -> bool:
            then = self.outcome(np.array([self.predict(values)]))[0].item()
            return then != now and aim in (None, then)

        if not self.tree.path_slopes.of_node(node):
            return
        given = {feature: condition for feature, (condition, _) in needs.items()}
        for condition in term_moves(self.tree, node, self.nearest(row, needs), given, reaches):
            feature = condition.column
            nearest = condition.nearest(row[feature])
            stays = feature != self.tree.skeleton.feature[node]
            if stays and feature not in self.fixed and nearest is not None:
                yield {**needs, feature: (condition, self.distance(feature, row[feature], nearest))}

    def nearest(self, row: list[float], needs: _Needs) -> list[float]:
        """Return a row with all changes, each to the nearest value."""
        changed = list(row)
        for feature, (condition, distance) in needs.items():
            if distance is not None:
                nearest = condition.nearest(row[feature])
                assert nearest is not None  # `children` has checked it
                changed[feature] = nearest
        return changed

    def belief(self, i: int, row: list[float], node: int, needs: _Needs) -> Floats | None:
        """Return the prediction of the changed row if it stops at the node; None if it goes on as a whole."""
        skeleton = self.tree.skeleton
        tested = skeleton.feature.item(node)
        if tested < 0:
            return self.sloped(row, node, needs)
        changed = {feature for feature, (_, distance) in needs.items() if distance is not None}
        slot = follow(skeleton, node, self.tree.schema.features[tested], row[tested])
        if tested in changed or slot >= 0:
            return None
        if slot == STOP or node not in self.shares:
            return self.sloped(row, node, needs)
        below = skeleton.feature[descendants(skeleton, node)].tolist()
        return (
            None if changed.intersection(below) else predict_rows(self.tree, self.changed(i, row, needs))[0]
        )

    def sloped(self, row: list[float], node: int, needs: _Needs) -> Floats:
        """Return the prediction of the changed row, which stops at the node."""
        if not self.tree.path_slopes.of_node(node):
            own: Floats = self.tree.belief[node]
            return own
        return np.array(self.predict(self.nearest(row, needs)))

    def changed(self, i: int, row: list[float], needs: _Needs) -> Table:
        """Return row i with all changes."""
        one = self.table.take(np.array([i]))
        columns = list(one.columns)
        for feature, value in enumerate(self.nearest(row, needs)):
            columns[feature] = np.array([value], columns[feature].dtype)
        return replace(one, columns=tuple(columns), matrix=None)

    def counterfactual(
        self, row: list[float], node: int, needs: _Needs, then: int, belief: Floats, distance: float
    ) -> Counterfactual:
        """Describe the changes that lead to a node."""
        needed, values, present = {}, {}, {}
        for tested, (condition, change) in needs.items():
            if change is not None:
                feature = condition.feature
                nearest = condition.nearest(row[tested])
                value = None if nearest is None else value_of(feature, nearest)
                assert value is not None  # `children` has checked it
                needed[feature.name], values[feature.name] = replace(condition, missing=False), value
                present[feature.name] = value_text(feature, row[tested])
        prediction: tuple[Any, float | None] = (belief.item(0), None)
        if not self.tree.is_regression:
            prediction = self.tree.schema.classes[then], belief.item(then)
        return Counterfactual(*prediction, node, needed, values, present, distance)


def _positions(tree: Tree, fixed: Iterable[str]) -> set[int]:
    """Look up the positions of the features that cannot change."""
    names = tree.schema.names
    fixed = [fixed] if isinstance(fixed, str) else fixed
    if not isinstance(fixed, Iterable):
        raise ParameterError(f"fixed={shown(fixed)}: expected a list of names of features.")
    fixed = list(fixed)
    for name in fixed:
        if name not in names:
            raise ParameterError(
                f"fixed names the feature {name!r}: expected some of {list(names[:5])}{', …' * (len(names) > 5)}."
            )
    return {names.index(name) for name in fixed}


class Distance:
    """Distance between two values of a feature.

    For numeric and ordinal features, the share of the tree's thresholds on the feature that lie between the values,
    from 0 to 1. Without thresholds, on features that only terms use, the difference as a share of the range
    of the terms. Two categories without an order have the distance 1, and so do a known and a missing value. For
    numeric features in `spread`, by name, the difference that has the distance 1 replaces the thresholds.
    """

    def __init__(self, tree: Tree, spread: Mapping[str, float] | None = None) -> None:
        skeleton, self._features = tree.skeleton, tree.schema.features
        if spread is not None and not isinstance(spread, Mapping):
            raise ParameterError(f"spread={shown(spread)}: expected a dict, such as {{'age': 10.0}}.")
        self._spread = dict(spread or {})
        self._thresholds: dict[int, Floats] = {}
        self._range: dict[int, float] = {}
        slopes = tree.slopes
        for used in np.unique(slopes.feature).tolist():
            terms = slopes.feature == used
            self._range[used] = float(slopes.high[terms].max() - slopes.low[terms].min()) or 1.0
        for tested in tree.features_used:
            self._thresholds[tested] = np.unique(skeleton.threshold[skeleton.feature == tested])
            name = self._features[tested].name
            scale = self._spread.get(name, 1.0)
            if not 0 < scale < np.inf:
                raise ParameterError(
                    f"spread[{name!r}] is {scale!r}: expected a finite number above 0, the change that counts 1. "
                    "Leave the feature out to use the thresholds of the tree."
                )

    def __call__(self, tested: int, value: float, other: float) -> float:
        """Compute the distance of two values, as in the columns of a table, of a feature that the tree uses."""
        feature = self._features[tested]
        if feature.is_nominal or is_missing(feature, value):
            return 1.0
        if feature.is_numeric and feature.name in self._spread:
            return abs(other - value) / self._spread[feature.name]
        thresholds = self._thresholds[tested]
        if tested in self._range and not len(thresholds):
            return abs(other - value) / self._range[tested]
        begin, end = np.searchsorted(thresholds, sorted([value, other])).tolist()
        return float(end - begin) / len(thresholds)
