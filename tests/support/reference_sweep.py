"""Slow, obvious twins of the sweeps from the leaves to the root: one node and one class at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree import Skeleton


def children(skeleton: Skeleton, node: int) -> range:
    """The children of one node."""
    first = int(skeleton.first_child[node])
    return range(first, first + int(skeleton.n_children[node]))


def expected_costs(
    skeleton: Skeleton,
    evidence: NDArray[np.int64],
    unit: float,
    belief: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> tuple[list[float], list[float]]:
    """What each node costs as a leaf, and what the rows that stop there do, under its cheapest decision."""
    as_leaf, staying = [], []
    for node in range(skeleton.n_nodes):
        least = min(_in_order(belief[node] * costs[:, answer]) for answer in range(len(costs)))
        rows = int(evidence[node].sum())
        gone_on = sum(int(evidence[child].sum()) for child in children(skeleton, node))
        as_leaf.append(rows * unit * least)
        staying.append((rows - gone_on) * unit * least)
    return as_leaf, staying


def decide(
    skeleton: Skeleton,
    as_leaf: Sequence[float],
    staying: Sequence[float],
    slack: float = 0.0,
    relative: float = 0.0,
) -> tuple[list[bool], list[float]]:
    """Which nodes become leaves, and what is kept of each one's subtree costs."""
    cut, value = [False] * skeleton.n_nodes, list(as_leaf)
    for node in reversed(range(skeleton.n_nodes)):
        if skeleton.n_children[node]:
            below = _in_order([staying[node], *(value[child] for child in children(skeleton, node))])
            cut[node] = as_leaf[node] <= below + slack + relative * abs(below)
            value[node] = as_leaf[node] if cut[node] else below
    return cut, value


def rest(skeleton: Skeleton, cut: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Node, parent, first child and number of children of what is left when the nodes in `cut` become leaves."""
    left: list[int] = []
    for node in range(skeleton.n_nodes):
        above = int(skeleton.parent[node])
        if node == 0 or (above in left and not cut[above]):
            left.append(node)
    shape = []
    for node in left:
        born = [] if cut[node] else list(children(skeleton, node))
        parent = left.index(int(skeleton.parent[node])) if node else -1
        shape.append((node, parent, left.index(born[0]) if born else -1, len(born)))
    return shape


def _in_order(values: Any) -> float:
    """Add from left to right, as compiled code does; ``sum`` makes up for rounding."""
    total = 0.0
    for value in values:
        total += float(value)
    return total
