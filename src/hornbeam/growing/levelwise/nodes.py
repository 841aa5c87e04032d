"""Nodes of the tree so far: unfinished ones, those added one by one near the root, and subtrees of the kernel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.route import Slots, narrow_slots
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Nodes, Split, child_key
from hornbeam.typing import Bools, Counts


@dataclass(slots=True)
class OpenNode:
    """An unfinished node: its number in the tree, range of rows, evidence and histogram."""

    node: int
    node_range: NodeRange
    counts: Counts
    cells: Cells | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of the node."""
        return self.node_range.end - self.node_range.begin


def may_split(open_node: OpenNode, spec: GrowthSpec) -> bool:
    """Return whether size, purity and depth of a node allow a split."""
    rules = spec.rules
    return bool(
        (spec.sums or np.count_nonzero(open_node.counts) > 1)
        and open_node.n_rows >= max(rules.min_rows_split, 2 * rules.min_rows_leaf)
        and _weight(open_node.counts, spec) >= 2 * rules.min_weight_leaf
        and open_node.node_range.depth < rules.max_depth
    )


def _weight(evidence: Counts, spec: GrowthSpec) -> int:
    return int(evidence[0] if spec.sums else evidence.sum())


def child_bounds(
    parent: NodeRange, split: Split, slot: int, counts: list[Counts], spec: GrowthSpec
) -> tuple[float, float]:
    """Return the bounds of a child on the second class's probability, or on the mean, after a monotone split.

    The middle between the rates of both children bounds each of them on one side. A split of known against missing
    values has no order, so it adds no bound.
    """
    sign = 0 if spec.monotone is None else int(spec.monotone[split.feature])
    cuts = not spec.nominal[split.feature] and split.right < len(split.slot_of) - 1
    if sign == 0 or slot > 1 or not cuts:
        return parent.lower, parent.upper
    ridge = spec.rules.ridge / spec.rules.unit if spec.sums else 0.0
    rates = [float(c[1]) / (float(_weight(c, spec)) + ridge) for c in counts[:2]]
    middle = (rates[0] + rates[1]) / 2
    return (parent.lower, middle) if (slot == 0) == (sign > 0) else (middle, parent.upper)


class NodeList:
    """Nodes that are added one by one in Python: few, near the root."""

    def __init__(self, spec: GrowthSpec) -> None:
        self._spec = spec
        self._columns: dict[str, list[Any]] = {name: [] for name in Nodes._fields if name != "map"}
        self._maps: list[Slots] = [np.empty(0, dtype=np.int32)]
        self._n_map = 0

    @classmethod
    def of(cls, nodes: Nodes, spec: GrowthSpec) -> Self:
        """Continue with nodes that exist already."""
        node_list = cls(spec)
        node_list._columns = {name: list(getattr(nodes, name).tolist()) for name in node_list._columns}
        node_list._columns["evidence"] = list(nodes.evidence)
        node_list._maps = [nodes.map]
        node_list._n_map = len(nodes.map)
        return node_list

    def add(self, parent: int, slot: int, n_rows: int, counts: Counts) -> int:
        """Add a leaf, and return its number."""
        leaf = (parent, slot, -1, -1, -1, -1, np.nan, n_rows, counts, -1)
        for column, value in zip(self._columns.values(), leaf, strict=True):
            column.append(value)
        return len(self._columns["parent"]) - 1

    def split(
        self, parent: OpenNode, split: Split, counts: Counts, row_ranges: Sequence[tuple[int, int]]
    ) -> list[OpenNode]:
        """Split a leaf into children with this evidence and these ranges of rows."""
        for name in ("feature", "left", "right", "missing_slot", "gain"):
            self._columns[name][parent.node] = getattr(split, name)
        if self._spec.nominal[split.feature]:
            self._columns["map_start"][parent.node] = self._n_map
            self._maps.append(split.slot_of[:-1])
            self._n_map += len(split.slot_of) - 1
        family = []
        path = (*parent.node_range.path, split.feature)
        for slot, (begin, end) in enumerate(row_ranges):
            lower, upper = child_bounds(parent.node_range, split, slot, list(counts), self._spec)
            node = self.add(parent.node, slot, end - begin, counts[slot])
            key = child_key(parent.node_range.key, slot)
            node_range = NodeRange(begin, end, parent.node_range.depth + 1, lower, upper, key, path)
            family.append(OpenNode(node, node_range, counts[slot]))
        return family

    def nodes(self) -> Nodes:
        """Return all nodes as arrays."""
        wide = {"gain": np.float64, "rows": np.int64, "evidence": np.int64, "map_start": np.int64}
        columns: dict[str, Any] = {
            name: np.array(column, dtype=wide.get(name, np.int32)) for name, column in self._columns.items()
        }
        return Nodes(**columns, map=np.concatenate(self._maps))


def nodes_to_code_tree(nodes: Nodes, towards: Sequence[int] | None = None) -> CodeTree:
    """Return the splits of nodes for routing rows that were counted already; siblings are adjacent.

    With `towards` only the splits that lead to these nodes are kept; a row that cannot reach them stops early.

    If a split stops missing values, no counted row has one there. So it may send them to the second child, like all
    high codes, and the kernel needs no special case.
    """
    first_child = np.full(len(nodes.parent), -1, dtype=np.int32)
    first = np.flatnonzero((nodes.slot == 0) & (nodes.parent >= 0))
    first_child[nodes.parent[first]] = first
    feature = nodes.feature
    if towards is not None:
        feature = np.where(_ancestors(nodes, towards), feature, -1).astype(np.int32)
    stops_missing = (nodes.missing_slot < 0) & (nodes.feature >= 0)
    missing_slot = np.where(stops_missing, 1, nodes.missing_slot).astype(np.int32)
    wide = nodes.map.astype(np.int32, copy=False)
    return CodeTree(feature, first_child, nodes.left, missing_slot, nodes.map_start, wide)


def _ancestors(nodes: Nodes, targets: Sequence[int]) -> Bools:
    """Return whether each node is an ancestor of a target."""
    is_ancestor = np.zeros(len(nodes.parent), dtype=np.bool_)
    here = nodes.parent[np.asarray(targets, dtype=np.intp)]
    while len(here := np.unique(here[here >= 0])):
        here = here[~is_ancestor[here]]
        is_ancestor[here] = True
        here = nodes.parent[here]
    return is_ancestor


def attach_subtrees(top: Nodes, subtrees: list[tuple[int, Nodes]]) -> Nodes:
    """Replace leaves of the top nodes by the roots of subtrees."""
    parts = [top, *(nodes for _, nodes in subtrees)]
    offset = len(top.parent)
    maps = len(top.map)
    parents, map_starts = [top.parent], [top.map_start]
    heads: list[tuple[int, Nodes, int]] = []
    for leaf, nodes in subtrees:
        # Node 0 of the subtree becomes the leaf; its other nodes are appended.
        number = np.arange(offset - 1, offset - 1 + len(nodes.parent), dtype=np.int32)
        number[0] = leaf
        parents.append(number[nodes.parent[1:]])
        shifted = np.where(nodes.map_start >= 0, nodes.map_start + maps, -1)
        heads.append((leaf, nodes, int(shifted[0])))
        map_starts.append(shifted[1:])
        offset += len(nodes.parent) - 1
        maps += len(nodes.map)

    def join(pick: Callable[[Nodes], np.ndarray]) -> np.ndarray:
        return np.concatenate([pick(top), *(pick(part)[1:] for part in parts[1:])])

    joined = Nodes(
        np.concatenate(parents),
        join(lambda p: p.slot),
        join(lambda p: p.feature),
        join(lambda p: p.left),
        join(lambda p: p.right),
        join(lambda p: p.missing_slot),
        join(lambda p: p.gain),
        join(lambda p: p.rows),
        join(lambda p: p.evidence),
        np.concatenate(map_starts),
        np.concatenate([narrow_slots(part.map) for part in parts]),
    )
    for leaf, nodes, map_start in heads:
        for name in ("feature", "left", "right", "missing_slot", "gain"):
            getattr(joined, name)[leaf] = getattr(nodes, name)[0]
        joined.map_start[leaf] = map_start
    return joined
