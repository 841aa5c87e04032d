"""Branches that come and go: leaves for the categories a test might meet, and nodes moved up."""

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
    """Give every nominal test a leaf for each category it has never seen.

    Missing values that would stop go to every child, as in C4.5, unless some test has a branch for them.

    Returns
    -------
    Skeleton
        The same tests; new leaves stand behind their siblings.
    origin : intp array
        The node each one was in `skeleton`; as many as it has, or more, for new leaves.

    Examples
    --------
    >>> import numpy as np
    >>> run = {"slot_start": [0, 3, 3, 3], "slot_of": [0, -1, 1]}
    >>> colour = Skeleton.of([2, 0, 0], [0, -1, -1], [np.nan] * 3, **run)
    >>> opened, origin = open_branches(colour)
    >>> opened.slot_of.tolist(), origin.tolist()
    ([0, 2, 1], [0, 1, 2, 3])
    """
    n = skeleton.n_nodes
    unseen = np.flatnonzero(skeleton.slot_of < 0)
    mother = np.repeat(np.arange(n), np.diff(skeleton.slot_start))[unseen]
    born = np.bincount(mother, minlength=n)
    rank = skeleton.n_children[mother] + np.arange(len(mother)) - (np.cumsum(born) - born)[mother]
    slot_of = skeleton.slot_of.astype(np.int32)
    slot_of[unseen] = rank
    missing_slot = skeleton.missing_slot
    if not (missing_slot >= 0).any():
        missing_slot = np.where(skeleton.is_leaf, np.int32(-1), np.int32(-2))
    origin = level_order(np.concatenate((skeleton.parent, mother)), np.concatenate((slots(skeleton), rank)))

    def grown(values: NDArray[np.generic], leaf: float) -> NDArray[np.generic]:
        return np.concatenate((values, np.full(len(mother), leaf, values.dtype)))[origin]

    run = grown(np.diff(skeleton.slot_start), 0)
    begin = grown(skeleton.slot_start[:-1], 0)
    opened = Skeleton.of(
        n_children=grown(skeleton.n_children + born.astype(np.int32), 0),
        feature=grown(skeleton.feature, -1),
        threshold=grown(skeleton.threshold, np.nan),
        missing_slot=grown(missing_slot, -1),
        slot_start=np.concatenate(([0], np.cumsum(run))),
        slot_of=slot_of[concat_ranges(begin, run)],
    )
    return opened, origin


def transplant(skeleton: Skeleton, standing: Indices, kept: Bools) -> tuple[Skeleton, _Ids]:
    """Make the skeleton in which another node's test, and its children, stand in some places.

    Parameters
    ----------
    skeleton : Skeleton
    standing : int32 array of shape (n_nodes,)
        The node that stands in each place.
    kept : bool array of shape (n_nodes,)
        Places that are not kept are left out, with all below; the categories that led there stop.

    Returns
    -------
    Skeleton
    places : intp array
        The place each of its nodes had.

    Examples
    --------
    The right child of the root stands in the root's place:

    >>> import numpy as np
    >>> test = [0.2, np.nan, 0.7, np.nan, np.nan]
    >>> tree = Skeleton.of([2, 0, 2, 0, 0], [0, -1, 0, -1, -1], test)
    >>> moved, places = transplant(tree, np.array([2, 1, 2, 3, 4]), np.ones(5, bool))
    >>> moved.threshold.tolist(), places.tolist()
    ([0.7, nan, nan], [0, 3, 4])
    """
    levels = [np.zeros(1, np.intp)]
    while len(levels[-1]):
        node = standing[levels[-1]]
        below = concat_ranges(skeleton.first_child[node], skeleton.n_children[node])
        levels.append(below[kept[below]])
    places = np.concatenate(levels)
    node = standing[places]

    # The place of a child among those siblings that are kept; -1 for the others.
    before = np.append(0, np.cumsum(kept))
    first, n_children = skeleton.first_child[node], skeleton.n_children[node]
    new_slot = np.where(kept, before[:-1] - before[np.maximum(skeleton.first_child[skeleton.parent], 0)], -1)

    run = np.diff(skeleton.slot_start)[node]
    slot_of = skeleton.slot_of[concat_ranges(skeleton.slot_start[node], run)]
    led = np.repeat(first, run) + slot_of
    missing = skeleton.missing_slot[node]
    return Skeleton.of(
        n_children=np.where(n_children > 0, before[first + n_children] - before[first], 0),
        feature=skeleton.feature[node],
        threshold=skeleton.threshold[node],
        missing_slot=np.where(missing >= 0, new_slot[np.maximum(first + missing, 0)], missing),
        slot_start=np.concatenate(([0], np.cumsum(run))),
        slot_of=np.where(slot_of >= 0, new_slot[led], -1),
    ), places
