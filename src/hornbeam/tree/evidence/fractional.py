"""Fractional rows of C4.5 in integers: a row with a missing value is split over every child.

Let ``known_c`` be the weight of the rows with a known value that go to child ``c``, and ``known`` their sum. A row of
weight ``w`` whose value is missing goes to every child ``c`` with weight ``floor(w * known_c / known)``, and the
remainder goes to the last child with known rows. So the weights of the parts add up to ``w``, and the order of the rows
does not matter. If no row has a known value, the row stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.tree.level_order import concat_ranges
from hornbeam.tree.skeleton import EVERY_CHILD, STOP, Skeleton
from hornbeam.tree.tree import Tree, node_weight
from hornbeam.typing import Bools, Counts

type _Ids = NDArray[np.intp]


class Arrivals(NamedTuple):
    """Parts of rows that reach one level of the tree."""

    place: _Ids  #: the places of the level
    at: _Ids  #: index into `place` of each part
    row: _Ids  #: row of each part
    weight: Counts  #: weight of each part
    known: Counts  #: weight of the rows with a known value that came to each place


def count_fractional(
    skeleton: Skeleton,
    table: Table,
    target: NDArray[np.int32],
    weight: Counts | None,
    shares: Counts | None = None,
) -> Counts:
    """Count the parts of rows of each class at each node, level by level; last, rows with a part of at least one step.

    `shares`, of shape (n_nodes,), are weights that rows with a missing value are split by; default: the rows of the
    table with a known value. Each child gets the floor of its part, and the last child the remainder.
    """
    k = table.schema.n_classes
    total = np.zeros((skeleton.n_nodes, k + 1), np.int64)
    weight = np.ones(table.n_rows, np.int64) if weight is None else weight
    for place, at, row, part, _ in route_fractional(
        skeleton, table, np.arange(table.n_rows), weight, shares=shares
    ):
        size = len(place)
        total[place, :k] = np.bincount(at * k + target[row], part, minlength=size * k).reshape(size, k)
        total[place, k] = np.bincount(at, minlength=size)
    return total


def known_weight(skeleton: Skeleton, table: Table, weight: Counts | None) -> Counts:
    """Add up the rows that come to each node with a known value: the weights that missing values are split by.

    As `shares` of `count_fractional`, they split any rows in the proportions of this table.
    """
    known = np.zeros(skeleton.n_nodes, np.int64)
    weight = np.ones(table.n_rows, np.int64) if weight is None else weight
    for level in route_fractional(skeleton, table, np.arange(table.n_rows), weight):
        known[level.place] = level.known
    return known


def child_shares(tree: Tree, nodes: _Ids | None = None) -> dict[int, dict[int, float]]:
    """Compute the share of each child in the missing values of its parent, for nodes that split them.

    `nodes` are parents in level order; default: every node. The result has them in that order, each with its children
    that have evidence; the shares of a node add up to 1. A node whose children have no evidence is left out: a missing
    value stops there.
    """
    skeleton = tree.skeleton
    nodes = np.arange(tree.n_nodes) if nodes is None else nodes
    fractional = nodes[skeleton.missing_slot[nodes] == EVERY_CHILD]
    below = concat_ranges(skeleton.first_child[fractional], skeleton.n_children[fractional])
    weights = node_weight(tree.schema, tree.evidence[below]).astype(np.float64)
    weight = dict(zip(below.tolist(), weights.tolist(), strict=True))
    shares = {}
    for node in fractional.tolist():
        first = skeleton.first_child.item(node)
        children = range(first, first + skeleton.n_children.item(node))
        total = 0.0
        for child in children:  # a loop, not `sum`, which corrects rounding: the router adds in this way
            total += weight[child]
        if total > 0:
            shares[node] = {child: weight[child] / total for child in children if weight[child] > 0}
    return shares


def route_fractional(
    skeleton: Skeleton,
    table: Table,
    row: _Ids,
    weight: Counts,
    *,
    place: int = 0,
    node_at: NDArray[np.int32] | None = None,
    shares: Counts | None = None,
) -> Iterator[Arrivals]:
    """Route rows down from a place, and yield the parts of rows at each level.

    `weight` is that of each row at the start. `node_at` is the node whose split and children are used at each place;
    default: the place itself. `shares` are weights that rows with a missing value are split by; default: the rows with
    a known value among these.
    """
    places, at, known = np.array([place]), np.zeros(len(row), np.intp), weight.sum(keepdims=True)
    while len(places):
        yield Arrivals(places, at, row, weight, known)
        node = places if node_at is None else node_at[places]
        n_children = skeleton.n_children[node]
        first = np.cumsum(n_children) - n_children
        places = concat_ranges(skeleton.first_child[node], n_children)

        slot, is_split = next_slots(skeleton, table, row, node[at])
        moves = slot >= 0
        child = first[at[moves]] + slot[moves]
        if shares is None:
            known = np.bincount(child, weight[moves], minlength=len(places)).astype(np.int64)
        else:
            known = shares[places]
        parent = at[is_split]
        part = _split_rows(first[parent], n_children[parent], known, row[is_split], weight[is_split])
        row = np.concatenate((row[moves], part[0]))
        at = np.concatenate((child, part[1]))
        weight = np.concatenate((weight[moves], part[2]))


def next_slots(skeleton: Skeleton, table: Table, row: _Ids, node: _Ids) -> tuple[_Ids, Bools]:
    """Find the slot that each row takes at its node, negative if it takes none, and whether the row is split."""
    slot = np.full(len(row), STOP, np.intp)
    missing = np.zeros(len(row), np.bool_)
    tested = skeleton.feature[node]
    for feature in np.unique(tested[tested >= 0]):
        at = np.flatnonzero(tested == feature)
        here, value = node[at], table.columns[feature][row[at]]
        if value.dtype == np.float64:
            slot[at] = value > skeleton.threshold[here]
            missing[at] = np.isnan(value)
        else:
            seen = value >= 0
            slot[at[seen]] = skeleton.slot_of[skeleton.slot_start[here[seen]] + value[seen]]
            missing[at] = value == -1
    slot[missing] = skeleton.missing_slot[node[missing]]
    return slot, slot == EVERY_CHILD


def _split_rows(
    begin: _Ids, n_children: NDArray[np.int32], known: Counts, row: _Ids, weight: Counts
) -> tuple[_Ids, _Ids, Counts]:
    """Split each row over the children ``begin, ..., begin + n_children - 1``; return rows, children and weights."""
    child = concat_ranges(begin, n_children)
    first = np.cumsum(n_children) - n_children
    if not len(child):
        return row, begin, weight
    share = known[child]
    total = np.add.reduceat(share, first)
    last = np.maximum.reduceat(np.where(share > 0, np.arange(len(child)), -1), first)
    known_here = np.repeat(np.maximum(total, 1), n_children)
    part = _floor_of_product(np.repeat(weight, n_children), share, known_here)
    rest = weight - np.add.reduceat(part, first)
    part[last[total > 0]] += rest[total > 0]
    some = part > 0
    return np.repeat(row, n_children)[some], child[some], part[some]


def _floor_of_product(a: Counts, b: Counts, d: Counts) -> Counts:
    """Compute ``floor(a * b / d)`` exactly for ``b <= d`` and ``a, d < 2**50``, where ``a * b`` may overflow.

    The float quotient is off by at most one. The products ``a * b`` and ``quotient * d`` wrap around modulo 2**64, but
    their difference is the true remainder, which corrects the quotient.
    """
    quotient = (a.astype(np.float64) * b / d).astype(np.int64)
    remainder = a * b - quotient * d
    return quotient + (remainder >= d) - (remainder < 0)
