"""From nodes as the kernels make them to a tree: level order, thresholds for codes, slot maps in a row."""

import numpy as np

from hornbeam.data.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.kernels.subtree import Nodes
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree, raw_belief
from hornbeam.tree.walk import level_order
from hornbeam.typing import Floats, Indices

__all__ = ["build_tree"]


def build_tree(nodes: Nodes, bins: Bins, schema: Schema, unit: float, step: Step) -> Tree:
    """Make a tree of nodes whose tests are still on codes."""
    order = level_order(nodes.parent, nodes.slot)
    feature = nodes.feature[order]
    slot_start, slot_of = _slot_maps(nodes, order, bins, feature)
    parent, first_child, n_children = _family(nodes.parent, order)
    skeleton = Skeleton(
        parent=parent,
        first_child=first_child,
        n_children=n_children,
        feature=feature,
        threshold=_thresholds(feature, nodes.left[order], nodes.right[order], bins),
        slot_start=slot_start,
        slot_of=slot_of,
        missing_slot=nodes.missing_slot[order],
    )
    evidence = nodes.evidence[order]
    return Tree(
        schema=schema,
        skeleton=skeleton,
        evidence=evidence,
        unit=np.full(evidence.shape[1], unit),
        rows=nodes.rows[order],
        gain=nodes.gain[order],
        belief=raw_belief(evidence, skeleton),
        borrowed=np.zeros(len(order)),
        history=(step,),
    )


def _family(parent: Indices, order: np.ndarray) -> tuple[Indices, Indices, Indices]:
    """Parents, first children and numbers of children under the new numbering."""
    n = len(order)
    place = np.empty(n, dtype=np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    moved = parent[order]
    moved[1:] = place[moved[1:]]
    n_children = np.bincount(moved[1:], minlength=n).astype(np.int32)
    first_child = np.full(n, -1, dtype=np.int32)
    inner = n_children > 0
    first_child[inner] = 1 + np.cumsum(n_children[inner]) - n_children[inner]
    return moved, first_child, n_children


def _thresholds(feature: Indices, left: Indices, right: Indices, bins: Bins) -> Floats:
    """Cut points of the numeric tests; a test that only parts known from missing values lets every number pass."""
    threshold = np.full(len(feature), np.nan)
    numeric = np.flatnonzero(left >= 0)
    if len(numeric) == 0:
        return threshold
    f, lo, hi = feature[numeric], left[numeric], right[numeric]
    known = hi < bins.n_codes[f]
    threshold[numeric[~known]] = np.finfo(np.float64).max
    threshold[numeric[known]] = bins.threshold(f[known], lo[known], hi[known])
    return threshold


def _slot_maps(nodes: Nodes, order: np.ndarray, bins: Bins, feature: Indices) -> tuple[Indices, Indices]:
    start = nodes.map_start[order]
    nominal = start >= 0
    if not nominal.any():
        return np.zeros(len(order) + 1, dtype=np.int32), np.empty(0, dtype=np.int32)
    length = np.where(nominal, bins.n_codes[feature], 0).astype(np.int64)
    slot_start = np.concatenate([[0], np.cumsum(length)])
    take = np.repeat(start - slot_start[:-1], length) + np.arange(slot_start[-1])
    return slot_start.astype(np.int32), nodes.map[take]
