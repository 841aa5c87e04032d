"""Several trees side by side, as one tree with several roots.

Fifty fold trees of a hundred rows take little time to grow, and much to build, check, smooth and prune one by one. Side
by side they are one tree for every step that works level by level, and for one call of a kernel. Nodes are in level
order: all roots, then all their children, and so on. Such a tree is private to a fit, and never checked or saved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.tree.level_order import level_order
from hornbeam.tree.route import in_blocks, values
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping, n_roots, pull_up, slots, take_nodes
from hornbeam.typing import Counts, Floats, Indices

_MOST_BITS = 61  # of the sum of all rows of a tree
_OF_NODES = ("evidence", "rows", "gain", "belief", "borrowed")


def roots(skeleton: Skeleton) -> Indices:
    """Find the root above each node."""
    root = np.arange(skeleton.n_nodes, dtype=np.int32)
    for begin, end in pairwise(skeleton.levels[1:]):
        root[begin:end] = root[skeleton.parent[begin:end]]
    return root


def side_by_side(trees: Sequence[Tree]) -> Tree:
    """Put trees of one schema side by side, with the history of the first, without slopes and decision rules."""
    first = trees[0]
    begins = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    parent = np.concatenate(
        [
            np.where(tree.skeleton.parent < 0, -1, tree.skeleton.parent + begin)
            for tree, begin in zip(trees, begins[:-1], strict=True)
        ]
    )
    order = level_order(parent, np.concatenate([slots(tree.skeleton) for tree in trees]))
    arrays = {name: np.concatenate([getattr(tree, name) for tree in trees])[order] for name in _OF_NODES}
    unit, evidence = _in_one_unit(trees)
    arrays["evidence"] = np.concatenate(evidence)[order]
    skeleton = take_nodes([tree.skeleton for tree in trees], order)
    return Tree._unchecked(schema=first.schema, skeleton=skeleton, unit=unit, history=first.history, **arrays)


def _in_one_unit(trees: Sequence[Tree]) -> tuple[Floats, list[Counts]]:
    """Count the evidence of trees in the smallest of their units, or in the smallest one in which no sum overflows.

    Units differ by powers of two where rows are divided among children.
    """
    units = np.array([tree.unit[0] for tree in trees])
    if (units == units[0]).all():
        return trees[0].unit, [tree.evidence for tree in trees]
    total = max(float(tree.evidence[0].sum() * tree.unit[0]) for tree in trees)
    unit = math.ldexp(units.min(), max(0, math.frexp(total / units.min())[1] - _MOST_BITS))
    steps = []
    for tree in trees:
        if tree.unit[0] >= unit:
            steps.append(tree.evidence * np.int64(tree.unit[0] / unit))
        else:
            own = evidence_stopping(tree.skeleton, tree.evidence) * (tree.unit[0] / unit)
            steps.append(pull_up(tree.skeleton, np.rint(own).astype(np.int64)))
    return np.full_like(trees[0].unit, unit), steps


def apart(tree: Tree) -> list[tuple[Tree, NDArray[np.intp]]]:
    """Take trees apart; each with its nodes, by their numbers among all."""
    root, found = roots(tree.skeleton), []
    for number in range(n_roots(tree.skeleton)):
        nodes = np.flatnonzero(root == number)
        arrays = {name: getattr(tree, name)[nodes] for name in _OF_NODES}
        skeleton = take_nodes([tree.skeleton], nodes)
        one = Tree._unchecked(
            schema=tree.schema, skeleton=skeleton, unit=tree.unit, history=tree.history, **arrays
        )
        found.append((one, nodes))
    return found


def apply_to_each(step: Callable[[Tree], Tree], tree: Tree) -> Tree:
    """Apply a step to a tree, or to each of several trees; at once if it says that it works for several."""
    if n_roots(tree.skeleton) == 1 or getattr(step, "_for_several", False):
        return step(tree)
    return side_by_side([step(one) for one, _ in apart(tree)])


def ends(
    skeleton: Skeleton, table: Table, rows: NDArray[np.intp], start: Indices, n_jobs: int = 1
) -> Indices:
    """Find the node where each of some rows of a table stops, from the node `start` on."""
    router, columns, rows = skeleton.router, values(table), rows.astype(np.int64, copy=False)
    stops = np.empty(len(rows), np.int32)

    def fill(begin: int, end: int) -> None:
        router.ends(columns, rows[begin:end], start[begin:end], stops[begin:end])

    in_blocks(fill, len(rows), n_jobs)
    return stops


def root_weights(tree: Tree, nodes: NDArray[np.integer[Any]] | slice = slice(None)) -> Floats:
    """Return the weight of all rows of the tree that each node belongs to; the number of rows if each has weight 1."""
    if n_roots(tree.skeleton) == 1:
        return tree.weight_at([0])
    return tree.weight_at(roots(tree.skeleton)[nodes])
