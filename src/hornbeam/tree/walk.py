"""Sweeps over a tree, level by level and without recursion: sums, depths, paths; subtrees taken out and put in.

In level order the children of a level are the next level. So an upward sweep adds each level to the one above, a
downward sweep passes values to the next level, and the descendants of a node are one slice of each level below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import TreeError
from hornbeam.kernels.sweep import pull_up as kernel_pull_up
from hornbeam.tree.level_order import level_order, parents_and_children, take_ranges
from hornbeam.tree.skeleton import Skeleton
from hornbeam.typing import Counts, Floats, Indices


def n_roots(skeleton: Skeleton) -> int:
    """Return the number of trees side by side (`hornbeam.tree.several`); 1 for every other tree."""
    return skeleton.levels[1]


def pull_up[T: np.generic](skeleton: Skeleton, values: NDArray[T], combine: np.ufunc = np.add) -> NDArray[T]:
    """Combine the values of each node and its descendants, from the deepest level up."""
    out = values.copy(order="C")
    if combine is np.add and out.dtype in (np.float64, np.int64):
        kernel_pull_up(skeleton.first_child, skeleton.n_children, cast("Floats | Counts", out))
        return out
    levels = skeleton.levels
    inner = np.flatnonzero(skeleton.n_children)
    first = skeleton.first_child[inner]
    at = np.searchsorted(inner, levels).tolist()
    for d in range(len(levels) - 3, -1, -1):
        here = slice(at[d], at[d + 1])
        # The last siblings of the next level end where that level ends.
        below = combine.reduceat(out[: levels[d + 2]], first[here], axis=0, dtype=out.dtype)
        out[inner[here]] = combine(out[inner[here]], below)
    return out


def push_down[T: np.generic](
    skeleton: Skeleton,
    values: NDArray[T],
    combine: Callable[[NDArray[T], NDArray[T]], NDArray[T]] = np.add,
) -> NDArray[T]:
    """Combine the values of each node and its ancestors, from the root down, with ``combine(from_parent, own)``."""
    out = values.copy()
    levels = skeleton.levels
    for begin, end in pairwise(levels[1:]):
        out[begin:end] = combine(out[skeleton.parent[begin:end]], out[begin:end])
    return out


def depths(skeleton: Skeleton) -> Indices:
    """Compute the depth of each node; 0 for the root."""
    sizes = np.diff(skeleton.levels)
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def heights(skeleton: Skeleton) -> Indices:
    """Compute the depth of the subtree below each node; 0 for a leaf."""
    depth = depths(skeleton)
    return pull_up(skeleton, depth, np.maximum) - depth


def path_tests(skeleton: Skeleton) -> int:
    """Add up the depths of all leaves: the number of splits on the paths to them."""
    return int(depths(skeleton)[skeleton.is_leaf].sum(dtype=np.int64))


def leaves_below(skeleton: Skeleton) -> Counts:
    """Count the leaves below each node; 1 for a leaf."""
    return pull_up(skeleton, skeleton.is_leaf.astype(np.int64))


def slots(skeleton: Skeleton) -> Indices:
    """Find the slot of each node among its siblings; 0 for the root."""
    slot = np.arange(skeleton.n_nodes, dtype=np.int32)
    slot[1:] -= skeleton.first_child[skeleton.parent[1:]]
    return slot


def evidence_stopping(skeleton: Skeleton, evidence: Counts) -> Counts:
    """Subtract the evidence of the children from each node: the rows that stop there."""
    own = evidence.copy()
    inner = np.flatnonzero(skeleton.n_children)
    if len(inner):
        own[inner] -= np.add.reduceat(evidence, skeleton.first_child[inner], axis=0)
    return own


def path(skeleton: Skeleton, node: int) -> list[int]:
    """List the nodes from the root to `node`, both included."""
    steps = [node]
    while (node := skeleton.parent.item(node)) >= 0:
        steps.append(node)
    return steps[::-1]


def with_ancestors(skeleton: Skeleton, nodes: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """List some nodes and all nodes above them, each once, in level order."""
    found = [nodes]
    while len(nodes := skeleton.parent[nodes[nodes > 0]]):
        found.append(nodes)
    return np.unique(np.concatenate(found)).astype(np.intp)


def features_above(skeleton: Skeleton, node: int) -> list[int]:
    """List the features that split the ancestors of `node`, that of the root first."""
    features: list[int] = skeleton.feature[path(skeleton, node)[:-1]].tolist()
    return features


def descendants(skeleton: Skeleton, node: int) -> NDArray[np.intp]:
    """List `node` and all nodes below it, in level order."""
    last = np.cumsum(skeleton.n_children)
    begin, end = node, node + 1
    slices = []
    while begin < end:
        slices.append(np.arange(begin, end))
        begin, end = last.item(begin) - skeleton.n_children.item(begin) + 1, last.item(end - 1) + 1
    return np.concatenate(slices)


def subtree(skeleton: Skeleton, node: int) -> Skeleton:
    """Return a node and all nodes below it as a skeleton of their own."""
    return take_nodes((skeleton,), descendants(skeleton, node))


def replace_subtree(skeleton: Skeleton, node: int, other: Skeleton) -> tuple[Skeleton, NDArray[np.intp]]:
    """Put a skeleton in the place of a node and all nodes below it.

    Also returns where each node comes from: its number in `skeleton`, or ``skeleton.n_nodes`` plus its number in
    `other`.
    """
    n = skeleton.n_nodes
    kept = np.setdiff1d(np.arange(n), descendants(skeleton, node), assume_unique=True)
    number = np.full(n, -1)
    number[kept] = np.arange(len(kept))
    above, rank = skeleton.parent[kept], slots(skeleton)
    inside = np.where(other.parent < 0, -1, other.parent + len(kept))
    if node:
        inside[0] = number[skeleton.parent[node]]
    other_rank = slots(other).copy()
    other_rank[0] = rank[node]
    order = level_order(
        np.concatenate((np.where(above < 0, -1, number[above]), inside)),
        np.concatenate((rank[kept], other_rank)),
    )
    source = np.concatenate((kept, n + np.arange(other.n_nodes)))[order]
    return take_nodes((skeleton, other), source), source


def with_least_rows(
    skeleton: Skeleton, weight: Floats, split: float, leaf: float
) -> tuple[Skeleton, NDArray[np.intp]]:
    """Take out splits and branches of too few rows; also return where each node comes from.

    A node of less weight than `split` becomes a leaf, which comes from ``skeleton.n_nodes``. Of the branches of a split
    two need the weight `leaf`: if one has it, that branch takes the place of the node, and its weight grows.

    Examples
    --------
    >>> two_splits = Skeleton.of([2, 0, 2, 0, 0], [0, -1, 0, -1, -1], [1.0, np.nan, 2.0, np.nan, np.nan])
    >>> weight = np.array([9.0, 1.0, 8.0, 4.0, 4.0])
    >>> [with_least_rows(two_splits, weight, *least)[1].tolist() for least in ((2, 2), (9, 1))]
    [[2, 3, 4], [0, 1, 5]]
    """
    first, count = skeleton.first_child.tolist(), skeleton.n_children.tolist()
    weights, heavy = weight.tolist(), (weight >= leaf).tolist()

    def branches(node: int) -> tuple[range, list[int]]:
        children = range(first[node], first[node] + count[node])
        return children, [child for child in children if heavy[child]]

    nodes, level = [], [0]
    while level:
        below: list[int] = []
        for top in level:
            node, (children, enough) = top, branches(top)
            while len(enough) == 1 and weights[top] >= split:
                node, (children, enough) = enough[0], branches(enough[0])
            is_split = len(enough) > 1 and weights[top] >= split
            nodes.append(node if is_split or not children else skeleton.n_nodes)
            below += children if is_split else ()
        level = below
    source = np.array(nodes, np.intp)
    return take_nodes((skeleton, Skeleton.leaf()), source), source


def take_nodes(skeletons: Sequence[Skeleton], nodes: NDArray[np.integer[Any]]) -> Skeleton:
    """Copy some nodes, numbered through all skeletons, in the level order of the new one.

    The nodes are whole trees, or what is left of them when whole subtrees are taken out and put in; not checked.
    """
    first_slot = np.cumsum([0, *(len(one.slot_of) for one in skeletons)])
    begin = np.concatenate([one.slot_start[:-1] + at for one, at in zip(skeletons, first_slot, strict=False)])
    length = np.concatenate([np.diff(one.slot_start) for one in skeletons])
    slot_of = np.concatenate([one.slot_of for one in skeletons])
    slot_start, slot_of = take_ranges(slot_of, begin[nodes], length[nodes])

    def taken(name: str) -> NDArray[Any]:
        array: NDArray[Any] = np.concatenate([getattr(one, name) for one in skeletons])[nodes]
        return array

    arrays = {name: taken(name) for name in ("n_children", "feature", "threshold", "missing_slot")}
    parent, first_child = parents_and_children(arrays["n_children"])
    if slot_start[-1] > np.iinfo(np.int32).max:
        raise TreeError(
            f"the nominal splits have {slot_start[-1]:,} categories in all; expected fewer than 2**31. Merge rare "
            "categories, or limit the number of leaves."
        )
    return Skeleton._unchecked(
        **arrays,
        parent=parent,
        first_child=first_child,
        slot_start=slot_start.astype(np.int32),
        slot_of=slot_of,
    )
