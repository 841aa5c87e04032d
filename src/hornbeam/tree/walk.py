"""Walks and sweeps over a tree in level order; nothing recurses.

Parents come before children and siblings sit together, so the children of a level are the next level, in
order. A backward sweep adds each level into the one above it, a forward sweep hands each level down to the
next, and the descendants of a node are one slice of every level below it: a handful of array calls a level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import TreeError
from hornbeam.typing import Counts, Indices

if TYPE_CHECKING:
    from hornbeam.tree.skeleton import Skeleton

__all__ = [
    "concat_ranges",
    "depths",
    "descendants",
    "evidence_stopping",
    "heights",
    "leaves_below",
    "level_offsets",
    "level_order",
    "nearest_with_rows",
    "node_blocks",
    "parents_and_children",
    "path",
    "path_tests",
    "pull_up",
    "push_down",
    "slots",
    "take_ranges",
]

_BLOCK = 1 << 20


def concat_ranges(begin: NDArray[Any], length: NDArray[Any]) -> NDArray[np.intp]:
    """Concatenate the ranges ``begin[i], ..., begin[i] + length[i] - 1``.

    Examples
    --------
    >>> import numpy as np
    >>> concat_ranges(np.array([5, 0, 9]), np.array([2, 3, 1])).tolist()
    [5, 6, 0, 1, 2, 9]
    """
    length = np.asarray(length, np.intp)
    before = np.cumsum(length) - length
    return np.repeat(begin - before, length) + np.arange(length.sum())


def take_ranges[T: np.generic](
    values: NDArray[T], begin: NDArray[Any], length: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[T]]:
    """Copy some runs of an array one behind the other: where each begins, and the copy.

    Examples
    --------
    >>> import numpy as np
    >>> starts, taken = take_ranges(np.arange(10), np.array([5, 0, 9]), np.array([2, 3, 1]))
    >>> starts.tolist(), taken.tolist()
    ([0, 2, 5, 6], [5, 6, 0, 1, 2, 9])
    """
    starts = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=starts[1:])
    taken = np.empty(starts[-1], values.dtype)
    for first, last in node_blocks(starts):
        taken[starts[first] : starts[last]] = values[concat_ranges(begin[first:last], length[first:last])]
    return starts, taken


def node_blocks(starts: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Divide nodes into ranges whose runs together have about a million entries, so that temporary arrays stay small.

    Examples
    --------
    >>> import numpy as np
    >>> list(node_blocks(np.array([0, 1 << 20, 1 << 20, 3 << 20, 3 << 20])))
    [(0, 2), (2, 3), (3, 4)]
    """
    first, n = 0, len(starts) - 1
    while first < n:
        last = int(np.searchsorted(starts, starts[first] + _BLOCK, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def parents_and_children(n_children: NDArray[Any]) -> tuple[Indices, Indices]:
    """Find parent and first child of every node; in level order the numbers of children say it all.

    Examples
    --------
    >>> import numpy as np
    >>> parent, first_child = parents_and_children(np.array([2, 0, 3, 0, 0, 0]))
    >>> parent.tolist(), first_child.tolist()
    ([-1, 0, 0, 2, 2, 2], [1, -1, 3, -1, -1, -1])
    """
    n = len(n_children)
    parent = np.full(n, -1, np.int32)
    parent[1:] = np.repeat(np.arange(n, dtype=np.int32), n_children)
    first_child = np.cumsum(n_children, dtype=np.int32) - n_children.astype(np.int32) + np.int32(1)
    first_child[n_children == 0] = -1
    return parent, first_child


def nearest_with_rows(skeleton: Skeleton, weight: Counts) -> NDArray[np.intp]:
    """Find for each node the one whose rows speak for it: itself, or its nearest ancestor that has any.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree.skeleton import Skeleton
    >>> skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan])
    >>> nearest_with_rows(skeleton, np.array([4, 0, 4])).tolist()
    [0, 0, 2]
    """
    empty = weight == 0
    source = np.where(empty, np.maximum(skeleton.parent, 0), np.arange(len(weight)))
    # Each empty node looks at its parent, and every round doubles how far up it sees.
    while empty[source[1:]].any() and not empty[0]:
        source = source[source]
    return source


def level_offsets(n_children: NDArray[Any]) -> tuple[int, ...]:
    """Find where each level begins; level ``d`` is nodes ``offsets[d]:offsets[d + 1]``.

    Examples
    --------
    >>> import numpy as np
    >>> level_offsets(np.array([2, 0, 3, 0, 0, 0]))
    (0, 1, 3, 6)
    """
    # The children of nodes 0..i are nodes 1..last[i], so a level's last node points at the next level's.
    last = np.cumsum(n_children)
    offsets = [0, 1]
    while offsets[-1] < len(last):
        offsets.append(last.item(offsets[-1] - 1) + 1)
    return tuple(offsets)


def level_order(parent: NDArray[Any], rank: NDArray[Any]) -> NDArray[np.intp]:
    """Order nodes by level, given in any order that puts parents before children.

    Parameters
    ----------
    parent : int array of shape (n,)
        Parent of each node, -1 for the root, which is node 0.
    rank : int array of shape (n,)
        Slot of each node among its siblings, 0, 1, ...; ignored for the root.

    Returns
    -------
    order : intp array of shape (n,)
        ``order[i]`` is the given node that becomes node ``i``: index any array of nodes with it.

    Raises
    ------
    TreeError
        If a node does not come after its parent, or siblings do not fill the slots 0, 1, ... once each.

    Examples
    --------
    A depth-first grower met the nodes as root, left, left's children, right:

    >>> import numpy as np
    >>> level_order(np.array([-1, 0, 1, 1, 0]), np.array([0, 0, 0, 1, 1])).tolist()
    [0, 1, 4, 2, 3]
    """
    n = len(parent)
    early = (parent >= np.arange(n)) | (parent < 0)
    if n == 0 or parent[0] != -1 or early[1:].any():
        node = 1 + int(early[1:].argmax()) if n and parent[0] == -1 else 0
        found = f"parent[{node}] is {parent[node]}" if n else "there are no nodes"
        raise TreeError(f"{found}, expected -1 for node 0 and an earlier node for others: emit parents first")
    n_children = np.bincount(parent[1:], minlength=n)
    begin = np.cumsum(n_children) - n_children
    child = np.full(n - 1, -1, np.intp)
    inside = (rank[1:] >= 0) & (rank[1:] < n_children[parent[1:]])
    child[(begin[parent[1:]] + rank[1:])[inside]] = np.flatnonzero(inside) + 1
    if not inside.all() or (child < 0).any():
        hole = int(np.argmin(child))
        family = int(np.searchsorted(begin, hole, side="right")) - 1
        raise TreeError(
            f"no child of node {family} has rank {hole - begin[family]}; expected the ranks 0 to "
            f"{n_children[family] - 1} once each: number siblings by their slot"
        )
    # A list that grows while it is read: on small trees, and on deep ones, far cheaper than arrays level by level.
    children, begins = child.tolist(), [*begin.tolist(), n - 1]
    order = [0]
    for at in order:
        order += children[begins[at] : begins[at + 1]]
    return np.array(order, np.intp)


def pull_up[T: np.generic](skeleton: Skeleton, values: NDArray[T], combine: np.ufunc = np.add) -> NDArray[T]:
    """Combine children into their parents, from the deepest level up; sums of integers are exact.

    Parameters
    ----------
    skeleton : Skeleton
    values : array of shape (n_nodes, ...)
        What each node has of its own.
    combine : binary ufunc, default ``np.add``

    Returns
    -------
    array like `values`
        Each node's own value combined with those of all its descendants.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> pull_up(Skeleton.leaf(), np.array([7])).tolist()
    [7]
    """
    out = values.copy()
    levels = skeleton.levels
    inner = np.flatnonzero(skeleton.n_children)
    first = skeleton.first_child[inner]
    at = np.searchsorted(inner, levels).tolist()
    for d in range(len(levels) - 3, -1, -1):
        here = slice(at[d], at[d + 1])
        # The last family of a level ends where the next level ends, so cutting there closes its segment.
        below = combine.reduceat(out[: levels[d + 2]], first[here], axis=0, dtype=out.dtype)
        out[inner[here]] = combine(out[inner[here]], below)
    return out


def push_down[T: np.generic](
    skeleton: Skeleton,
    values: NDArray[T],
    combine: Callable[[NDArray[T], NDArray[T]], NDArray[T]] = np.add,
) -> NDArray[T]:
    """Hand values from parents to children, from the root down.

    Parameters
    ----------
    skeleton : Skeleton
    values : array of shape (n_nodes, ...)
        What each node has of its own.
    combine : callable ``(from_parent, own) -> array``, default ``np.add``

    Returns
    -------
    array like `values`
        Each node's own value combined with those of all its ancestors.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> push_down(Skeleton.leaf(), np.array([7])).tolist()
    [7]
    """
    out = values.copy()
    levels = skeleton.levels
    for begin, end in pairwise(levels[1:]):
        out[begin:end] = combine(out[skeleton.parent[begin:end]], out[begin:end])
    return out


def depths(skeleton: Skeleton) -> Indices:
    """Count the steps from the root to each node.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> depths(Skeleton.leaf()).tolist()
    [0]
    """
    sizes = np.diff(skeleton.levels)
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def heights(skeleton: Skeleton) -> Indices:
    """Count the steps from each node to the deepest leaf below it; 0 for a leaf.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> heights(Skeleton.leaf()).tolist()
    [0]
    """
    depth = depths(skeleton)
    return pull_up(skeleton, depth, np.maximum) - depth


def path_tests(skeleton: Skeleton) -> int:
    """Count the tests on the paths to all leaves; a test counts once for each leaf below it.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton
    >>> path_tests(Skeleton.of([2, 0, 2, 0, 0], [0, -1, 0, -1, -1], [1.0, np.nan, 2.0, np.nan, np.nan]))
    5
    """
    return int(depths(skeleton)[skeleton.is_leaf].sum(dtype=np.int64))


def leaves_below(skeleton: Skeleton) -> Counts:
    """Count the leaves under each node; a leaf counts itself.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> leaves_below(Skeleton.leaf()).tolist()
    [1]
    """
    return pull_up(skeleton, skeleton.is_leaf.astype(np.int64))


def slots(skeleton: Skeleton) -> Indices:
    """Find the place of each node among its siblings; 0 for the root.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> slots(Skeleton.leaf()).tolist()
    [0]
    """
    slot = np.arange(skeleton.n_nodes, dtype=np.int32)
    slot[1:] -= skeleton.first_child[skeleton.parent[1:]]
    return slot


def evidence_stopping(skeleton: Skeleton, evidence: Counts) -> Counts:
    """Count the evidence that goes no further than each node: all of it at a leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton
    >>> skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan])
    >>> evidence_stopping(skeleton, np.array([[5, 5], [4, 1], [1, 3]])).tolist()
    [[0, 1], [4, 1], [1, 3]]
    """
    own = evidence.copy()
    inner = np.flatnonzero(skeleton.n_children)
    if len(inner):
        own[inner] -= np.add.reduceat(evidence, skeleton.first_child[inner], axis=0)
    return own


def path(skeleton: Skeleton, node: int) -> list[int]:
    """List the nodes from the root to `node`, both included.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> path(Skeleton.leaf(), 0)
    [0]
    """
    steps = [node]
    while (node := skeleton.parent.item(node)) >= 0:
        steps.append(node)
    return steps[::-1]


def descendants(skeleton: Skeleton, node: int) -> NDArray[np.intp]:
    """List `node` and all nodes below it, in level order.

    Examples
    --------
    >>> from hornbeam.tree import Skeleton
    >>> descendants(Skeleton.leaf(), 0).tolist()
    [0]
    """
    last = np.cumsum(skeleton.n_children)
    begin, end = node, node + 1
    slices = []
    while begin < end:
        slices.append(np.arange(begin, end))
        begin, end = last.item(begin) - skeleton.n_children.item(begin) + 1, last.item(end - 1) + 1
    return np.concatenate(slices)
