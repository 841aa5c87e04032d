"""Subtrees of a skeleton: taking one out, and putting another in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree.level_order import level_order, take_ranges
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import descendants, slots

__all__ = ["replace_subtree", "subtree"]


def subtree(skeleton: Skeleton, node: int) -> Skeleton:
    """Return a node and all nodes below it as a skeleton of their own."""
    return _take((skeleton,), descendants(skeleton, node))


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
    return _take((skeleton, other), source), source


def _take(skeletons: tuple[Skeleton, ...], nodes: NDArray[np.intp]) -> Skeleton:
    """Copy some nodes, numbered through all skeletons, in the level order of the new one."""
    first_slot = np.cumsum([0, *(len(one.slot_of) for one in skeletons)])
    begin = np.concatenate([one.slot_start[:-1] + at for one, at in zip(skeletons, first_slot, strict=False)])
    length = np.concatenate([np.diff(one.slot_start) for one in skeletons])
    slot_of = np.concatenate([one.slot_of for one in skeletons])
    slot_start, slot_of = take_ranges(slot_of, begin[nodes], length[nodes])

    def taken(name: str) -> NDArray[Any]:
        array: NDArray[Any] = np.concatenate([getattr(one, name) for one in skeletons])[nodes]
        return array

    arrays = {name: taken(name) for name in ("n_children", "feature", "threshold", "missing_slot")}
    return Skeleton.of(**arrays, slot_start=slot_start, slot_of=slot_of)
