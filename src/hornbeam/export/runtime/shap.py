"""A tree as the arrays that shap reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf, isnan, prod
from typing import Any

import numpy as np

from hornbeam.errors import ExportError
from hornbeam.export.checks import check_no_slopes, check_not_fractional
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import evidence_stopping

_MAX_COPIES = 100_000
_TINY_WEIGHT = 1e-6  # of a node without rows: shap divides by the weight


def to_shap(model: Tree | HasTree) -> dict[str, Any]:
    """Make the dict of arrays that ``shap.TreeExplainer`` accepts as a model.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor

    Returns
    -------
    dict
        A model from a float64 matrix (`to_matrix`) to the class probabilities, or the mean: expected value and SHAP
        values of a row add up to the tree's prediction. The package shap itself is not needed.

    Raises
    ------
    ExportError
        If missing values go to every child, if the tree has slopes, or if splits on categories would take too many
        nodes.

    Notes
    -----
    `TreeClassifier.shap_values` needs neither shap nor the copies below, and accepts every tree.

    In shap a split has two children and compares numbers. A split on categories becomes comparisons of their
    positions. If the categories of a branch are not adjacent, the branch is copied for each run of adjacent ones, and
    its weight is divided by the number of categories; where a path tests the categories of a feature twice, that is an
    approximation. Where a row may stop at an inner node, there is a leaf with the belief of that node.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> arrays = to_shap(clf)["trees"][0]
    >>> arrays["thresholds"].tolist(), arrays["features"].tolist()
    ([inf, 35.0, 0.0, 0.0, 0.0], [0, 0, -1, -1, -1])
    """
    tree = single_tree(model)
    check_not_fractional(tree, "shap")
    check_no_slopes(tree, "shap")
    nodes, yes, no = _node_list(tree)
    weight = np.array([max(node.weight, _TINY_WEIGHT) if isinstance(node, _Leaf) else 0.0 for node in nodes])
    for place in range(len(nodes) - 1, -1, -1):  # children come after their parents
        if yes[place] >= 0:
            weight[place] = weight[yes[place]] + weight[no[place]]
    arrays = {
        "children_left": np.array(yes, np.int32),
        "children_right": np.array(no, np.int32),
        "children_default": np.where([node.missing for node in nodes], yes, no).astype(np.int32),
        "features": np.array([node.feature for node in nodes], np.int32),
        "thresholds": np.array([node.at_most for node in nodes]),
        "values": tree.belief[[node.node for node in nodes]],
        "node_sample_weight": weight,
    }
    return {"trees": [arrays], "internal_dtype": np.float64, "input_dtype": np.float64, "base_offset": 0.0}


@dataclass(frozen=True, slots=True)
class _Range:
    """The range of positions of a nominal feature that reach a copy of a node, and the categories that reach the node.

    Positions go from -1, for every number below those of the categories, to their count, for every number above.
    """

    first: int
    last: int
    among: frozenset[int]

    @property
    def part(self) -> float:
        """Share of the node's rows that reaches the copy, if all categories have the same weight."""
        here = sum(self.first <= code <= self.last for code in self.among)
        # Without categories, only missing values reach it.
        return here / len(self.among) if self.among else 1.0


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of a node of the tree, with the range of each nominal feature that reaches it."""

    node: int
    ranges: dict[int, _Range]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A leaf with the belief of a node, and a part of its rows."""

    node: int
    weight: float
    feature: int = -1
    at_most: float = 0.0
    missing: bool = False


@dataclass(frozen=True, slots=True)
class _Split:
    """A comparison of a value with a number, its two targets, and whether a missing value goes to `yes`."""

    node: int
    feature: int
    at_most: float
    yes: _Target
    no: _Target
    missing: bool


type _Target = _Copy | _Leaf | _Split


def _node_list(tree: Tree) -> tuple[list[_Leaf | _Split], list[int], list[int]]:
    """List all splits and leaves level by level, with the positions of their children; -1 for a leaf."""
    copies = _Copies(tree)
    nodes: list[_Leaf | _Split] = []
    yes: list[int] = []
    no: list[int] = []
    todo: list[_Target] = [_Copy(0, {})]
    for target in todo:  # grows in the loop
        while isinstance(target, _Copy):
            target = copies.split(target.node, target.ranges)
        nodes.append(target)
        begin = len(todo)
        if isinstance(target, _Split):
            todo += [target.yes, target.no]
        yes.append(begin if begin < len(todo) else -1)
        no.append(begin + 1 if begin < len(todo) else -1)
    return nodes, yes, no


class _Copies:
    """Nodes of a tree as comparisons of numbers, copied where needed."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.n_left = tree.n_nodes + _MAX_COPIES
        self.rows = tree.weight_in_rows.tolist()
        self.stopped = (evidence_stopping(tree.skeleton, tree.weight) * tree.unit[0]).tolist()

    def split(self, node: int, ranges: dict[int, _Range]) -> _Target:
        """Make the split or leaf of a copy of a node."""
        skeleton = self.tree.skeleton
        part = prod(one.part for one in ranges.values())
        if skeleton.n_children[node] == 0:
            return _Leaf(node, self.rows[node] * part)
        feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        threshold, slot = skeleton.threshold.item(node), skeleton.missing_slot.item(node)
        if isnan(threshold):
            return self._nominal(node, ranges, self.stopped[node] * part)
        missing: _Target = (
            _Copy(first + slot, ranges) if slot >= 0 else _Leaf(node, self.stopped[node] * part)
        )
        test = _Split(node, feature, threshold, _Copy(first, ranges), _Copy(first + 1, ranges), slot == 0)
        return test if slot in (0, 1) else _Split(node, feature, inf, test, missing, False)

    def _nominal(self, node: int, ranges: dict[int, _Range], stopped: float) -> _Target:
        """Make the comparisons of positions: each run of adjacent positions goes to one child, or stops."""
        skeleton = self.tree.skeleton
        feature, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        slot_of = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]].tolist()
        every = _Range(-1, len(slot_of), frozenset(range(len(slot_of))))
        here, missing = ranges.get(feature, every), skeleton.missing_slot.item(node)
        slot_at = [-1, *slot_of, -1][here.first + 1 : here.last + 2]
        runs = [
            (slot, [position for position, _ in run])
            for slot, run in groupby(enumerate(slot_at, here.first), key=lambda pair: pair[1])
        ]
        self._count_copies(len(runs))
        n_stops = sum(slot < 0 for slot, _ in runs) + (missing < 0)
        among = [
            frozenset(code for code in here.among if slot_of[code] == slot)
            for slot in range(skeleton.n_children[node])
        ]

        def child(slot: int, begin: int, end: int) -> _Target:
            if slot < 0:
                return _Leaf(node, stopped / n_stops)
            return _Copy(first + slot, {**ranges, feature: _Range(begin, end, among[slot])})

        if not runs:  # only missing values reach this copy
            return child(missing, 0, -1)
        own_branch = missing < 0 or missing not in slot_at
        targets = [(run[0], child(slot, run[0], run[-1])) for slot, run in runs]
        missing_run = 0 if own_branch else [slot for slot, _ in runs].index(missing)
        known = _compared(node, feature, targets, missing_run)
        return _Split(node, feature, inf, known, child(missing, 0, -1), False) if own_branch else known

    def _count_copies(self, n_copies: int) -> None:
        self.n_left -= n_copies
        if self.n_left < 0:
            raise ExportError(
                f"the tests of sets of categories take more than {_MAX_COPIES:,} copies of branches as comparisons "
                "of numbers, the only tests that shap has: use TreeClassifier.shap_values, which has no copies, or "
                "grow the tree with nominal_split='multiway', or prune it."
            )


def _compared(node: int, feature: int, targets: Sequence[tuple[int, _Target]], missing: int) -> _Target:
    """Make a binary search over targets, each from a position on; `missing` is the index of that of missing values."""
    if len(targets) == 1:
        return targets[0][1]
    half = len(targets) // 2
    below = _compared(node, feature, targets[:half], missing)
    above = _compared(node, feature, targets[half:], missing - half)
    return _Split(node, feature, targets[half][0] - 0.5, below, above, missing < half)
