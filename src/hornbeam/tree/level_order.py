"""Level order: parents before children, siblings together, children of a level in the order of their parents.

Every function takes and returns arrays with one entry per node; `hornbeam.tree.walk` has those that take a skeleton.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import TreeError
from hornbeam.kernels.sweep import level_order as kernel_level_order
from hornbeam.typing import Counts, Indices

_BLOCK = 1 << 20


def parents_and_children(n_children: NDArray[Any]) -> tuple[Indices, Indices]:
    """Find parent and first child of every node, which the numbers of children determine in level order."""
    n = len(n_children)
    last = np.cumsum(n_children, dtype=np.int32)
    n_roots = n - int(last[-1])
    parent = np.full(n, -1, np.int32)
    parent[n_roots:] = np.repeat(np.arange(n, dtype=np.int32), n_children)
    first_child = last - n_children.astype(np.int32) + np.int32(n_roots)
    first_child[n_children == 0] = -1
    return parent, first_child


def level_offsets(n_children: NDArray[Any]) -> tuple[int, ...]:
    """Find the first node of each level; level ``d`` is nodes ``offsets[d]:offsets[d + 1]``."""
    # The children of nodes 0..i are the last[i] nodes after the roots; so those of a level end where the next one does.
    last = np.cumsum(n_children)
    n_roots = len(last) - last.item(-1)
    offsets = [0, n_roots]
    while offsets[-1] < len(last):
        offsets.append(last.item(offsets[-1] - 1) + n_roots)
    return tuple(offsets)


def level_order(parent: NDArray[Any], rank: NDArray[Any]) -> NDArray[np.int64]:
    """Compute the level order of nodes in another order that has parents before children.

    `parent` is -1 for a root; `rank` is the slot of each node among its siblings. ``order[i]`` is the old number of the
    node that becomes node ``i``: index any array of nodes with it. The roots of several trees come first, in their
    order. `TreeError` if a node does not come after its parent, or siblings do not fill the slots 0, 1, ... once each.
    """
    if len(parent) == 0:
        raise TreeError("there are no nodes, expected a root at least")
    try:
        return kernel_level_order(parent.astype(np.int32, copy=False), rank.astype(np.int32, copy=False))
    except ValueError as error:
        raise TreeError(str(error)) from error


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
