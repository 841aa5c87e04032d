"""Nodes on their way to a tree: made one by one near the root, and joined with subtrees the kernel made."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from hornbeam.growing.levelwise.open_node import OpenNode, child_bounds
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.slots import Slots, narrow_slots
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes, Split, child_key
from hornbeam.typing import Bools, Counts

__all__ = ["NodeList", "attach_subtrees", "code_tree"]


class NodeList:
    """Nodes made one by one in Python: few, near the root."""

    def __init__(self, terms: GrowthSpec) -> None:
        self._terms = terms
        self._columns: dict[str, list[Any]] = {name: [] for name in Nodes._fields if name != "map"}
        self._maps: list[Slots] = [np.empty(0, dtype=np.int32)]
        self._n_map = 0

    @classmethod
    def of(cls, nodes: Nodes, terms: GrowthSpec) -> Self:
        """Go on with nodes that were made before."""
        made = cls(terms)
        made._columns = {name: list(getattr(nodes, name).tolist()) for name in made._columns}
        made._columns["evidence"] = list(nodes.evidence)
        made._maps = [nodes.map]
        made._n_map = len(nodes.map)
        return made

    def add(self, parent: int, slot: int, n_rows: int, counts: Counts) -> int:
        """Add a leaf and return its number."""
        leaf = (parent, slot, -1, -1, -1, -1, np.nan, n_rows, counts, -1)
        for column, value in zip(self._columns.values(), leaf, strict=True):
            column.append(value)
        return len(self._columns["parent"]) - 1

    def split(
        self, parent: OpenNode, split: Split, counts: Counts, blocks: Sequence[tuple[int, int]]
    ) -> list[OpenNode]:
        """Make an inner node of a leaf; its children have this evidence and these blocks of rows."""
        for name in ("feature", "left", "right", "missing_slot", "gain"):
            self._columns[name][parent.node] = getattr(split, name)
        if self._terms.nominal[split.feature]:
            self._columns["map_start"][parent.node] = self._n_map
            self._maps.append(split.slot_of[:-1])
            self._n_map += len(split.slot_of) - 1
        family = []
        for slot, (begin, end) in enumerate(blocks):
            lower, upper = child_bounds(parent.block, split, slot, list(counts), self._terms)
            node = self.add(parent.node, slot, end - begin, counts[slot])
            key = child_key(parent.block.key, slot)
            block = NodeRange(begin, end, parent.block.depth + 1, lower, upper, key)
            family.append(OpenNode(node, block, counts[slot]))
        return family

    def nodes(self) -> Nodes:
        """All nodes as arrays."""
        wide = {"gain": np.float64, "rows": np.int64, "evidence": np.int64, "map_start": np.int64}
        columns: dict[str, Any] = {
            name: np.array(column, dtype=wide.get(name, np.int32)) for name, column in self._columns.items()
        }
        return Nodes(**columns, map=np.concatenate(self._maps))


def code_tree(nodes: Nodes, towards: Sequence[int] | None = None) -> CodeTree:
    """Return the tests alone, as the rows that were counted follow them; siblings stand in a row.

    With `towards` only tests that lead to these nodes: other rows stop as soon as they cannot come there.

    None of these rows stops at a test. So where a missing value would, there is none, and it may as well go to
    the second child, where codes as high as its own go: the kernel need not look for it.
    """
    first_child = np.full(len(nodes.parent), -1, dtype=np.int32)
    first = np.flatnonzero((nodes.slot == 0) & (nodes.parent >= 0))
    first_child[nodes.parent[first]] = first
    feature = nodes.feature
    if towards is not None:
        feature = np.where(_above(nodes, towards), feature, -1).astype(np.int32)
    stops = (nodes.missing_slot < 0) & (nodes.feature >= 0)
    missing_slot = np.where(stops, 1, nodes.missing_slot).astype(np.int32)
    wide = nodes.map.astype(np.int32, copy=False)
    return CodeTree(feature, first_child, nodes.left, missing_slot, nodes.map_start, wide)


def _above(nodes: Nodes, some: Sequence[int]) -> Bools:
    """Whether each node is an ancestor of one of some."""
    above = np.zeros(len(nodes.parent), dtype=np.bool_)
    here = nodes.parent[np.asarray(some, dtype=np.intp)]
    while len(here := np.unique(here[here >= 0])):
        here = here[~above[here]]
        above[here] = True
        here = nodes.parent[here]
    return above


def attach_subtrees(trunk: Nodes, subtrees: list[tuple[int, Nodes]]) -> Nodes:
    """Put each subtree's root in the place of a leaf of the trunk."""
    parts = [trunk, *(nodes for _, nodes in subtrees)]
    offset = len(trunk.parent)
    maps = len(trunk.map)
    parents, map_starts = [trunk.parent], [trunk.map_start]
    heads: list[tuple[int, Nodes, int]] = []
    for leaf, nodes in subtrees:
        # The subtree's node 0 is the trunk's leaf; its other nodes follow those made before.
        number = np.arange(offset - 1, offset - 1 + len(nodes.parent), dtype=np.int32)
        number[0] = leaf
        parents.append(number[nodes.parent[1:]])
        shifted = np.where(nodes.map_start >= 0, nodes.map_start + maps, -1)
        heads.append((leaf, nodes, int(shifted[0])))
        map_starts.append(shifted[1:])
        offset += len(nodes.parent) - 1
        maps += len(nodes.map)

    def join(pick: Callable[[Nodes], np.ndarray]) -> np.ndarray:
        return np.concatenate([pick(trunk), *(pick(part)[1:] for part in parts[1:])])

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
