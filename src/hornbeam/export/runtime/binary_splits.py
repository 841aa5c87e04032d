"""A tree as questions that are answered by yes or no, for targets whose nodes have two children."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from hornbeam.tree import Skeleton

__all__ = ["BinarySplit", "binary_splits"]

_NEXT = None  # as a way to go: the next question of the same node


@dataclass(frozen=True, slots=True)
class BinarySplit:
    """Whether a value is at most a number, or a category among some.

    Parameters
    ----------
    feature : int
    at_most : float
        The largest value whose answer is yes; NaN where categories are asked for.
    among : tuple of int
        The category codes whose answer is yes; empty where a number is asked for.
    yes, no : int
        The question that comes next, or ``~node`` where the row stops at a node of the tree.
    missing : bool
        The answer for a missing value.

    Examples
    --------
    >>> BinarySplit(feature=0, at_most=30.5, among=(), yes=~1, no=~2, missing=False).no
    -3
    """

    feature: int
    at_most: float
    among: tuple[int, ...]
    yes: int
    no: int
    missing: bool


type _Way = int | None
type _Draft = tuple[float, tuple[int, ...], _Way, _Way, bool]


def binary_splits(skeleton: Skeleton) -> list[BinarySplit]:
    """Turn every test into questions, the root's first and a node's own one after the other.

    A test of several branches asks for one after the other. Where a missing value has a way of its own,
    ``value <= +inf`` comes first: yes for every value there is. What no question of a node knows, stops there;
    so does a missing value that would go to every child.

    Parameters
    ----------
    skeleton : Skeleton

    Returns
    -------
    list of Question
        In an order that puts every question behind those that lead to it; empty for a single leaf.

    Examples
    --------
    >>> import numpy as np
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    >>> for question in binary_splits(stump):
    ...     print(question.at_most, question.yes, question.no)
    inf 1 -1
    0.5 -2 -3
    """
    drafts = [_drafts(skeleton, node) for node in range(skeleton.n_nodes)]
    begin = np.cumsum([0, *map(len, drafts)]).tolist()
    found: list[BinarySplit] = []
    for node, asked in enumerate(drafts):
        for at_most, among, yes, no, missing in asked:
            ways = [
                len(found) + 1 if way is None else begin[way] if way >= 0 and drafts[way] else _stop(way)
                for way in (yes, no)
            ]
            feature = skeleton.feature.item(node)
            found.append(BinarySplit(feature, at_most, among, ways[0], ways[1], missing))
    return found


def _stop(way: int) -> int:
    return way if way < 0 else ~way


def _drafts(skeleton: Skeleton, node: int) -> list[_Draft]:
    """The questions of one node, whose ways lead to nodes, to ``~node`` (stop here) or to the next question."""
    if skeleton.n_children[node] == 0:
        return []
    first, missing_slot = skeleton.first_child.item(node), skeleton.missing_slot.item(node)
    away = first + missing_slot if missing_slot >= 0 else ~node
    threshold = skeleton.threshold.item(node)
    known: _Draft = (inf, (), _NEXT, away, False)
    if not isnan(threshold):
        if missing_slot in (0, 1):
            return [(threshold, (), first, first + 1, missing_slot == 0)]
        return [known, (threshold, (), first, first + 1, False)]
    run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
    groups = [(slot, np.flatnonzero(run == slot).tolist()) for slot in range(skeleton.n_children[node])]
    seen = [(slot, tuple(codes)) for slot, codes in groups if codes]
    asked: list[_Draft] = [(np.nan, codes, first + slot, _NEXT, slot == missing_slot) for slot, codes in seen]
    asked[-1] = (*asked[-1][:3], ~node, asked[-1][4])
    own_branch = missing_slot >= 0 and not any(slot == missing_slot for slot, _ in seen)
    return [known, *asked] if own_branch else asked
