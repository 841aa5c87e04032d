"""A tree as splits with two branches, for targets whose nodes have two children."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from hornbeam.tree import Skeleton

_NEXT = None  # target of a branch: the next split of the same node


@dataclass(frozen=True, slots=True)
class BinarySplit:
    """A split with two branches: a value is at most a threshold, or in a set of categories.

    `at_most` is NaN if the split tests categories, `among`, their codes, is empty if it tests a number. `yes` and `no`
    are the next split, or ``~node`` if the row stops at a node of the tree. `missing`: a missing value takes the
    branch `yes`.
    """

    feature: int
    at_most: float
    among: tuple[int, ...]
    yes: int
    no: int
    missing: bool


type _Target = int | None
type _Draft = tuple[float, tuple[int, ...], _Target, _Target, bool]


def binary_splits(skeleton: Skeleton) -> list[BinarySplit]:
    """Turn every split into binary splits; each comes after those that lead to it, those of a node in sequence.

    A split of several branches becomes one binary split per branch. Where missing values have a branch of their own,
    ``value <= +inf`` comes first, which is true for every known value. A value without a branch stops at the node; so
    does a missing value that goes to every child.
    """
    drafts = [_drafts(skeleton, node) for node in range(skeleton.n_nodes)]
    begin = np.cumsum([0, *map(len, drafts)]).tolist()
    splits: list[BinarySplit] = []
    for node, node_drafts in enumerate(drafts):
        for at_most, among, *targets, missing in node_drafts:
            yes, no = (
                len(splits) + 1
                if target is None
                else begin[target]
                if target >= 0 and drafts[target]
                else _stop(target)
                for target in targets
            )
            splits.append(BinarySplit(skeleton.feature.item(node), at_most, among, yes, no, missing))
    return splits


def _stop(target: int) -> int:
    return target if target < 0 else ~target


def _drafts(skeleton: Skeleton, node: int) -> list[_Draft]:
    """List the splits of one node; their targets are nodes, ``~node`` (stop here) or `_NEXT`."""
    if skeleton.n_children[node] == 0:
        return []
    first, missing_slot = skeleton.first_child.item(node), skeleton.missing_slot.item(node)
    missing_target = first + missing_slot if missing_slot >= 0 else ~node
    threshold = skeleton.threshold.item(node)
    known: _Draft = (inf, (), _NEXT, missing_target, False)
    if not isnan(threshold):
        if missing_slot in (0, 1):
            return [(threshold, (), first, first + 1, missing_slot == 0)]
        return [known, (threshold, (), first, first + 1, False)]
    run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
    groups = [(slot, np.flatnonzero(run == slot).tolist()) for slot in range(skeleton.n_children[node])]
    seen = [(slot, tuple(codes)) for slot, codes in groups if codes]
    drafts: list[_Draft] = [
        (np.nan, codes, first + slot, _NEXT, slot == missing_slot) for slot, codes in seen
    ]
    drafts[-1] = (*drafts[-1][:3], ~node, drafts[-1][4])
    own_branch = missing_slot >= 0 and not any(slot == missing_slot for slot, _ in seen)
    return [known, *drafts] if own_branch else drafts
