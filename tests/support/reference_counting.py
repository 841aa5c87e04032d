"""Slow, obvious twins of what the library does fast: one row, one node, one step at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree import Skeleton


def slot_taken(skeleton: Skeleton, node: int, value: float | int) -> int:
    """The slot one value takes at one inner node; -1 if it stops there, -2 if it goes to every child."""
    threshold = skeleton.threshold[node]
    if not np.isnan(threshold):
        if np.isnan(value):
            return int(skeleton.missing_slot[node])
        return 0 if value <= threshold else 1
    if value == -1:
        return int(skeleton.missing_slot[node])
    if value == -2:
        return -1
    return int(skeleton.slot_of[skeleton.slot_start[node] + value])


def route_nodes(skeleton: Skeleton, columns: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
    """The node where each row stops; a value that would go to every child stops, too."""
    stops = []
    for row in range(len(columns[0]) if columns else 0):
        node = 0
        while skeleton.n_children[node] > 0:
            slot = slot_taken(skeleton, node, columns[skeleton.feature[node]][row])
            if slot < 0:
                break
            node = int(skeleton.first_child[node]) + slot
        stops.append(node)
    return np.array(stops, np.int32)


def count_nodes(
    skeleton: Skeleton,
    columns: Sequence[NDArray[Any]],
    target: Sequence[int],
    weight: Sequence[int],
    n_classes: int,
) -> tuple[list[list[int]], list[int]]:
    """Evidence and rows of every node, with rows shared over all children of nodes that share them."""
    evidence = [[0] * n_classes for _ in range(skeleton.n_nodes)]
    rows = [0] * skeleton.n_nodes
    present: list[list[tuple[int, int]]] = [[] for _ in range(skeleton.n_nodes)]
    present[0] = [(row, int(w)) for row, w in enumerate(weight)]
    for node in range(skeleton.n_nodes):
        for row, w in present[node]:
            evidence[node][target[row]] += w
            rows[node] += 1
        if skeleton.n_children[node] == 0:
            continue
        children = [int(skeleton.first_child[node]) + slot for slot in range(skeleton.n_children[node])]
        shared = []
        for row, w in present[node]:
            slot = slot_taken(skeleton, node, columns[skeleton.feature[node]][row])
            if slot >= 0:
                present[children[slot]].append((row, w))
            elif slot == -2:
                shared.append((row, w))
        known = [sum(w for _, w in present[child]) for child in children]
        if sum(known) == 0:
            continue
        last = max(i for i, k in enumerate(known) if k > 0)
        for row, w in shared:
            parts = [w * k // sum(known) for k in known]
            parts[last] += w - sum(parts)
            for child, part in zip(children, parts, strict=True):
                if part > 0:
                    present[child].append((row, part))
    return evidence, rows
