"""Trees from the nodes of the kernels: level order, thresholds instead of codes, concatenated slot maps."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.settings import GrowthSettings
from hornbeam.kernels.route import Slots
from hornbeam.kernels.subtree import Nodes
from hornbeam.tree.edit import keep_best_leaves
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.level_order import level_order, parents_and_children, take_ranges
from hornbeam.tree.several import apply_to_each
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Counts, Floats, Indices


def build_tree(
    settings: GrowthSettings,
    nodes: Nodes,
    bins: Bins,
    schema: Schema,
    unit: float | Floats,
    squares: Counts | None = None,
    thresholds: Mapping[int, float] = MappingProxyType({}),
) -> Tree:
    """Build a tree from nodes whose splits are on codes.

    Thresholds lie midway between neighbouring values of the node; C4.5 lowers them to a value of the training set.
    ``thresholds`` are those of nodes whose threshold is given. For a numeric target ``squares`` is the sum of squares
    of the rows that end at each node.
    """
    order = level_order(nodes.parent, nodes.slot)
    at_values = settings.criterion is Criterion.GAIN_RATIO
    skeleton = build_skeleton(nodes, bins, order, at_values=at_values, thresholds=thresholds)
    evidence = nodes.evidence[order]
    if squares is not None:
        evidence = np.column_stack([evidence, pull_up(skeleton, squares[order])])
    tree = Tree._grown(
        schema,
        skeleton,
        evidence,
        unit=unit,
        rows=nodes.rows[order],
        gain=nodes.gain[order],
        history=(settings.as_step(),),
    )
    return limit_leaves(settings, tree)


def build_tree_of_table(
    settings: GrowthSettings,
    nodes: Nodes,
    bins: Bins,
    table: Table,
    unit: float,
    thresholds: Mapping[int, float] = MappingProxyType({}),
) -> Tree:
    """Build the tree of rows in memory; a numeric target is counted again: the kernels do not sum its squares."""
    if table.numeric_target is None:
        return build_tree(settings, nodes, bins, table.schema, unit, thresholds=thresholds)
    order = level_order(nodes.parent, nodes.slot)
    skeleton = build_skeleton(nodes, bins, order, thresholds=thresholds)
    tree = count_rows(skeleton, table, gain=nodes.gain[order], history=(settings.as_step(),))
    return limit_leaves(settings, tree)


def limit_leaves(settings: GrowthSettings, tree: Tree) -> Tree:
    """Cut a tree, or each of several side by side, to the maximum number of leaves."""
    n = settings.max_leaf_nodes
    return tree if n is None else apply_to_each(lambda one: keep_best_leaves(one, n), tree)


def build_skeleton(
    nodes: Nodes,
    bins: Bins,
    order: np.ndarray,
    *,
    at_values: bool = False,
    thresholds: Mapping[int, float] = MappingProxyType({}),
) -> Skeleton:
    """Build a skeleton from nodes whose splits are on codes; ``order`` lists the nodes in level order."""
    splits = _splits(nodes, bins, order, at_values)
    if thresholds:
        place = np.argsort(order)
        splits["threshold"][place[list(thresholds)]] = list(thresholds.values())
    parent, first_child = parents_and_children(splits["n_children"])
    return Skeleton._unchecked(parent=parent, first_child=first_child, **splits)


def build_skeletons(nodes: Nodes, bins: Bins, order: np.ndarray, begins: Counts) -> list[Skeleton]:
    """Build the skeletons of several trees at once; ``order[begins[i]:begins[i + 1]]`` is the level order of one."""
    splits = _splits(nodes, bins, order, at_values=False)
    slot_start, slot_of = splits.pop("slot_start"), splits.pop("slot_of")
    skeletons = []
    for begin, end in pairwise(begins.tolist()):
        own = {name: array[begin:end] for name, array in splits.items()}
        own["parent"], own["first_child"] = parents_and_children(own["n_children"])
        own["slot_start"] = slot_start[begin : end + 1] - slot_start[begin]
        own["slot_of"] = slot_of[slot_start[begin] : slot_start[end]]
        skeletons.append(Skeleton._unchecked(**own))
    return skeletons


def _splits(nodes: Nodes, bins: Bins, order: np.ndarray, at_values: bool) -> dict[str, NDArray[Any]]:
    """Return the arrays of a skeleton that do not depend on the numbers of the nodes."""
    feature = nodes.feature[order]
    slot_start, slot_of = _slot_maps(nodes, order, bins, feature)
    return {
        "feature": feature,
        "threshold": _thresholds(feature, nodes.left[order], nodes.right[order], bins, at_values),
        "slot_start": slot_start,
        "slot_of": slot_of,
        "n_children": np.bincount(nodes.parent[nodes.parent >= 0], minlength=len(order))[order].astype(
            np.int32
        ),
        "missing_slot": nodes.missing_slot[order],
    }


def _thresholds(feature: Indices, left: Indices, right: Indices, bins: Bins, at_values: bool) -> Floats:
    """Thresholds of the numeric splits; infinite for a split of known against missing values."""
    threshold = np.full(len(feature), np.nan)
    numeric = np.flatnonzero(left >= 0)
    if len(numeric) == 0:
        return threshold
    known = right[numeric] < bins.n_codes[feature[numeric]]
    if not known.all():
        threshold[numeric[~known]] = np.inf
        numeric = numeric[known]
    threshold[numeric] = bins.threshold(feature[numeric], left[numeric], right[numeric], at_values=at_values)
    return threshold


def _slot_maps(nodes: Nodes, order: np.ndarray, bins: Bins, feature: Indices) -> tuple[Indices, Slots]:
    start = nodes.map_start[order]
    nominal = start >= 0
    if not nominal.any():
        return np.zeros(len(order) + 1, dtype=np.int32), np.empty(0, dtype=np.int32)
    length = np.where(nominal, bins.n_codes[feature], 0).astype(np.int64)
    slot_start, slot_of = take_ranges(nodes.map, start, length)
    return slot_start.astype(np.int32), slot_of
