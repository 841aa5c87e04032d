"""A tree as the arrays that shap reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf, isnan, prod
from typing import Any

import numpy as np

from hornbeam.errors import ExportError
from hornbeam.export.checks import HasTree, check_not_fractional, single_tree
from hornbeam.tree import Tree
from hornbeam.tree.walk import evidence_stopping

__all__ = ["to_shap"]

_MOST_COPIES = 100_000
_HARDLY_ANY = 1e-6  # of a row, where none came: shap divides by the weight of a node


def to_shap(tree: Tree | HasTree) -> dict[str, Any]:
    """Make the dict of arrays that ``shap.TreeExplainer`` takes for a model.

    Parameters
    ----------
    tree : Tree or fitted TreeClassifier or TreeRegressor

    Returns
    -------
    dict
        Of a model from a float64 matrix (`to_matrix`) to the class probabilities, or the mean: expected value and
        SHAP values of a row add up to the tree's belief. The package shap itself is not needed here.

    Raises
    ------
    ExportError
        If missing values go to every child, or if tests of categories would take too many nodes.

    Notes
    -----
    `hornbeam.explain.shap_values` needs neither shap nor the copies below, and takes every tree.

    In shap a test has two children and compares numbers. A test of categories becomes comparisons of their
    positions; a set of them that do not stand side by side leads to a copy of the branch for each run, the
    weight shared out by the number of categories; where a path tests one feature's categories twice, that is an
    approximation. Where a row may stop on its way, there is a leaf with the belief of the node it stops at.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> arrays = to_shap(clf.tree_)["trees"][0]
    >>> arrays["thresholds"].tolist(), arrays["features"].tolist()
    ([inf, 35.0, 0.0, 0.0, 0.0], [0, 0, -1, -1, -1])
    """
    tree = single_tree(tree)
    check_not_fractional(tree, "shap")
    ways, yes, no = _laid_out(tree)
    weight = np.array([max(way.weight, _HARDLY_ANY) if isinstance(way, _Stop) else 0.0 for way in ways])
    for place in range(len(ways) - 1, -1, -1):  # children stand behind their parents
        if yes[place] >= 0:
            weight[place] = weight[yes[place]] + weight[no[place]]
    arrays = {
        "children_left": np.array(yes, np.int32),
        "children_right": np.array(no, np.int32),
        "children_default": np.where([way.missing for way in ways], yes, no).astype(np.int32),
        "features": np.array([way.feature for way in ways], np.int32),
        "thresholds": np.array([way.at_most for way in ways]),
        "values": tree.belief[[way.node for way in ways]],
        "node_sample_weight": weight,
    }
    return {"trees": [arrays], "internal_dtype": np.float64, "input_dtype": np.float64, "base_offset": 0.0}


@dataclass(frozen=True, slots=True)
class _Held:
    """Which positions of a nominal feature come to a copy of a node, and which categories to the node.

    Positions go from -1, for every number below the categories, to their number, for every one above.
    """

    first: int
    last: int
    among: frozenset[int]

    @property
    def part(self) -> float:
        """The part of the node's rows that comes to the copy, as if all categories were alike."""
        here = sum(self.first <= code <= self.last for code in self.among)
        return here / len(self.among) if self.among else 1.0  # else missing values alone come to the node


@dataclass(frozen=True, slots=True)
class _Go:
    """To a copy of a node."""

    node: int
    held: dict[int, _Held]


@dataclass(frozen=True, slots=True)
class _Stop:
    """At a copy of a node, with a part of its rows: nothing is asked."""

    node: int
    weight: float
    feature: int = -1
    at_most: float = 0.0
    missing: bool = False


@dataclass(frozen=True, slots=True)
class _Fork:
    """Whether a value is at most a number, and what comes after yes, no and a missing value."""

    node: int
    feature: int
    at_most: float
    yes: _Way
    no: _Way
    missing: bool


type _Way = _Go | _Stop | _Fork


def _laid_out(tree: Tree) -> tuple[list[_Stop | _Fork], list[int], list[int]]:
    """Give every fork and every stop a place, level by level, and say where yes and no lead; -1 from a stop."""
    copies = _Copies(tree)
    ways: list[_Stop | _Fork] = []
    yes: list[int] = []
    no: list[int] = []
    todo: list[_Way] = [_Go(0, {})]
    for way in todo:  # which grows while it is read
        while isinstance(way, _Go):
            way = copies.fork(way.node, way.held)
        ways.append(way)
        begin = len(todo)
        if isinstance(way, _Fork):
            todo += [way.yes, way.no]
        yes.append(begin if begin < len(todo) else -1)
        no.append(begin + 1 if begin < len(todo) else -1)
    return ways, yes, no


class _Copies:
    """Nodes of a tree as forks of comparisons."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.room = tree.n_nodes + _MOST_COPIES
        self.rows = (tree.weight * tree.unit[0]).tolist()
        self.stopped = (evidence_stopping(tree.skeleton, tree.weight) * tree.unit[0]).tolist()

    def fork(self, node: int, held: dict[int, _Held]) -> _Way:
        """What comes after a row has come to a copy of a node."""
        skeleton = self.tree.skeleton
        part = prod(copy.part for copy in held.values())
        if skeleton.n_children[node] == 0:
            return _Stop(node, self.rows[node] * part)
        asked, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        threshold, slot = skeleton.threshold.item(node), skeleton.missing_slot.item(node)
        if isnan(threshold):
            return self._nominal(node, held, self.stopped[node] * part)
        away: _Way = _Go(first + slot, held) if slot >= 0 else _Stop(node, self.stopped[node] * part)
        test = _Fork(node, asked, threshold, _Go(first, held), _Go(first + 1, held), slot == 0)
        return test if slot in (0, 1) else _Fork(node, asked, inf, test, away, False)

    def _nominal(self, node: int, held: dict[int, _Held], stay: float) -> _Way:
        """Compare positions: one after the other lead to the same child, or stop."""
        skeleton = self.tree.skeleton
        asked, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        slot_of = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]].tolist()
        every = _Held(-1, len(slot_of), frozenset(range(len(slot_of))))
        here, missing = held.get(asked, every), skeleton.missing_slot.item(node)
        slot_at = [-1, *slot_of, -1][here.first + 1 : here.last + 2]
        runs = [
            (slot, [position for position, _ in run])
            for slot, run in groupby(enumerate(slot_at, here.first), key=lambda pair: pair[1])
        ]
        self._take_room(len(runs))
        n_stops = sum(slot < 0 for slot, _ in runs) + (missing < 0)
        among = [
            frozenset(code for code in here.among if slot_of[code] == slot)
            for slot in range(skeleton.n_children[node])
        ]

        def child(slot: int, begin: int, end: int) -> _Way:
            if slot < 0:
                return _Stop(node, stay / n_stops)
            return _Go(first + slot, {**held, asked: _Held(begin, end, among[slot])})

        if not runs:  # missing values alone come to this copy
            return child(missing, 0, -1)
        own_way = missing < 0 or missing not in slot_at
        ways = [(run[0], child(slot, run[0], run[-1])) for slot, run in runs]
        lead = 0 if own_way else [slot for slot, _ in runs].index(missing)
        known = _compared(node, asked, ways, lead)
        return _Fork(node, asked, inf, known, child(missing, 0, -1), False) if own_way else known

    def _take_room(self, n_copies: int) -> None:
        self.room -= n_copies
        if self.room < 0:
            raise ExportError(
                f"the tests of sets of categories take more than {_MOST_COPIES:,} copies of branches as comparisons "
                "of numbers, the only tests that shap knows: use hornbeam.explain.shap_values, which has no copies, or "
                "grow the tree with nominal='multiway', or prune it."
            )


def _compared(node: int, feature: int, ways: Sequence[tuple[int, _Way]], missing: int) -> _Way:
    """Find among ways, each from a position on, the one of a position by halving; a missing value takes its own."""
    if len(ways) == 1:
        return ways[0][1]
    half = len(ways) // 2
    before = _compared(node, feature, ways[:half], missing)
    after = _compared(node, feature, ways[half:], missing - half)
    return _Fork(node, feature, ways[half][0] - 0.5, before, after, missing < half)
