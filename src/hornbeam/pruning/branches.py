"""Skeleton edits for subtree raising: leaves for unseen categories, and branches moved up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree.level_order import concat_ranges, level_order
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import slots
from hornbeam.typing import Bools, Indices

__all__ = ["open_branches", "transplant"]

type _Ids = NDArray[np.intp]


def open_branches(skeleton: Skeleton) -> tuple[Skeleton, _Ids]:
    """Add a leaf for each unseen category to every nominal split, after its siblings.

    Also returns the node of `skeleton` that each node was; its number of nodes or more for new leaves.
    """
    n = skeleton.n_nodes
    unseen = np.flatnonzero(skeleton.slot_of < 0)
    parent = np.repeat(np.arange(n), np.diff(skeleton.slot_start))[unseen]
    n_new = np.bincount(parent, minlength=n)
    rank = skeleton.n_children[parent] + np.arange(len(parent)) - (np.cumsum(n_new) - n_new)[parent]
    slot_of = skeleton.slot_of.astype(np.int32)
    slot_of[unseen] = rank
    origin = level_order(np.concatenate((skeleton.parent, parent)), np.concatenate((slots(skeleton), rank)))

    def with_leaves(values: NDArray[np.generic], leaf: float) -> NDArray[np.generic]:
        return np.concatenate((values, np.full(len(parent), leaf, values.dtype)))[origin]

    run = with_leaves(np.diff(skeleton.slot_start), 0)
    begin = with_leaves(skeleton.slot_start[:-1], 0)
    opened = Skeleton.of(
        n_children=with_leaves(skeleton.n_children + n_new.astype(np.int32), 0),
        feature=with_leaves(skeleton.feature, -1),
        threshold=with_leaves(skeleton.threshold, np.nan),
        missing_slot=with_leaves(skeleton.missing_slot, -1),
        slot_start=np.concatenate(([0], np.cumsum(run))),
        slot_of=slot_of[concat_ranges(begin, run)],
    )
    return opened, origin


def transplant(skeleton: Skeleton, standing: Indices, kept: Bools) -> tuple[Skeleton, _Ids]:
    """Make the skeleton in which some nodes are replaced by the split and the children of another.

    `standing` is the node whose split is used in the place of each node. Nodes that are not `kept` are left out, with
    all below; rows of their categories stop above. Also returns the place of each new node in `skeleton`.
    """
    levels = [np.zeros(1, np.intp)]
    while len(levels[-1]):
        node = standing[levels[-1]]
        below = concat_ranges(skeleton.first_child[node], skeleton.n_children[node])
        levels.append(below[kept[below]])
    places = np.concatenate(levels)
    node = standing[places]

    # The slot of a child among the siblings that are kept; -1 for the others.
    before = np.append(0, np.cumsum(kept))
    first, n_children = skeleton.first_child[node], skeleton.n_children[node]
    new_slot = np.where(kept, before[:-1] - before[np.maximum(skeleton.first_child[skeleton.parent], 0)], -1)

    run = np.diff(skeleton.slot_start)[node]
    slot_of = skeleton.slot_of[concat_ranges(skeleton.slot_start[node], run)]
    child = np.repeat(first, run) + slot_of
    missing = skeleton.missing_slot[node]
    return Skeleton.of(
        n_children=np.where(n_children > 0, before[first + n_children] - before[first], 0),
        feature=skeleton.feature[node],
        threshold=skeleton.threshold[node],
        missing_slot=np.where(missing >= 0, new_slot[np.maximum(first + missing, 0)], missing),
        slot_start=np.concatenate(([0], np.cumsum(run))),
        slot_of=np.where(slot_of >= 0, new_slot[child], -1),
    ), places
