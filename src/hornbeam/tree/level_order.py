"""Level order: parents before children, siblings together, children of a level in the order of their parents.

Every function takes and returns arrays with one entry per node; `hornbeam.tree.walk` has those that take a skeleton.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import TreeError
from hornbeam.typing import Counts, Indices

_BLOCK = 1 << 20


def parents_and_children(n_children: NDArray[Any]) -> tuple[Indices, Indices]:
    """Find parent and first child of every node, which the numbers of children determine in level order."""
    n = len(n_children)
    parent = np.full(n, -1, np.int32)
    parent[1:] = np.repeat(np.arange(n, dtype=np.int32), n_children)
    first_child = np.cumsum(n_children, dtype=np.int32) - n_children.astype(np.int32) + np.int32(1)
    first_child[n_children == 0] = -1
    return parent, first_child


def level_offsets(n_children: NDArray[Any]) -> tuple[int, ...]:
    """Find the first node of each level; level ``d`` is nodes ``offsets[d]:offsets[d + 1]``."""
    # The children of nodes 0..i are nodes 1..last[i], so `last` of a level's last node is the next level's last node.
    last = np.cumsum(n_children)
    offsets = [0, 1]
    while offsets[-1] < len(last):
        offsets.append(last.item(offsets[-1] - 1) + 1)
    return tuple(offsets)


def level_order(parent: NDArray[Any], rank: NDArray[Any]) -> NDArray[np.intp]:
    """Compute the level order of nodes in another order that has parents before children.

    `parent` is -1 for the root, which is node 0; `rank` is the slot of each node among its siblings. ``order[i]`` is
    the old number of the node that becomes node ``i``: index any array of nodes with it. `TreeError` if a node does not
    come after its parent, or siblings do not fill the slots 0, 1, ... once each.
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
        gap = int(np.argmin(child))
        node = int(np.searchsorted(begin, gap, side="right")) - 1
        raise TreeError(
            f"no child of node {node} has rank {gap - begin[node]}; expected the ranks 0 to "
            f"{n_children[node] - 1} once each: number siblings by their slot"
        )
    # A list that grows while it is read is faster than arrays, for small trees and for deep ones.
    children, begins = child.tolist(), [*begin.tolist(), n - 1]
    order = [0]
    for at in order:
        order += children[begins[at] : begins[at + 1]]
    return np.array(order, np.intp)


def nearest_with_rows(parent: NDArray[Any], weight: Counts) -> NDArray[np.intp]:
    """Find the nearest node with rows for each node: itself, or an ancestor."""
    empty = weight == 0
    source = np.where(empty, np.maximum(parent, 0), np.arange(len(weight)))
    # An empty node points at its parent, and every round doubles the distance.
    while empty[source[1:]].any() and not empty[0]:
        source = source[source]
    return source


def concat_ranges(begin: NDArray[Any], length: NDArray[Any]) -> NDArray[np.intp]:
    """Concatenate the ranges ``begin[i], ..., begin[i] + length[i] - 1``."""
    length = np.asarray(length, np.intp)
    before = np.cumsum(length) - length
    return np.repeat(begin - before, length) + np.arange(length.sum())


def take_ranges[T: np.generic](
    values: NDArray[T], begin: NDArray[Any], length: NDArray[Any], block: int = _BLOCK
) -> tuple[NDArray[np.int64], NDArray[T]]:
    """Copy ranges of an array and concatenate them; return their starts and the copy."""
    starts = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=starts[1:])
    taken = np.empty(starts[-1], values.dtype)
    for first, last in node_blocks(starts, block):
        taken[starts[first] : starts[last]] = values[concat_ranges(begin[first:last], length[first:last])]
    return starts, taken


def node_blocks(starts: NDArray[Any], block: int = _BLOCK) -> Iterator[tuple[int, int]]:
    """Divide nodes into blocks of at most `block` entries together, or of one node; temporary arrays stay small."""
    first, n = 0, len(starts) - 1
    while first < n:
        last = int(np.searchsorted(starts, starts[first] + block, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last
