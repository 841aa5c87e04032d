"""Nodes on their way to a tree: made one by one near the root, and joined with subtrees the kernel made."""

from collections.abc import Callable, Sequence

import numpy as np

from hornbeam.growing.sprout import Sprout, child_bounds
from hornbeam.kernels.subtree import Block, Nodes, Split, Terms
from hornbeam.typing import Counts

__all__ = ["NodeList", "graft"]


class NodeList:
    """Nodes made one by one in Python: few, near the root."""

    def __init__(self) -> None:
        self._facts: list[tuple[int, int, int]] = []
        self._counts: list[Counts] = []
        self._splits: dict[int, Split] = {}
        self._nominal: set[int] = set()

    def add(self, parent: int, slot: int, n_rows: int, counts: Counts) -> int:
        """Add a leaf and return its number."""
        self._facts.append((parent, slot, n_rows))
        self._counts.append(counts)
        return len(self._facts) - 1

    def split(
        self, parent: Sprout, split: Split, counts: Counts, blocks: Sequence[tuple[int, int]], terms: Terms
    ) -> list[Sprout]:
        """Make an inner node of a leaf; its children have these class weights and blocks of rows."""
        self._splits[parent.node] = split
        if terms.nominal[split.feature]:
            self._nominal.add(parent.node)
        family = []
        for slot, (begin, end) in enumerate(blocks):
            lower, upper = child_bounds(parent.block, split, slot, list(counts), terms)
            node = self.add(parent.node, slot, end - begin, counts[slot])
            block = Block(begin, end, parent.block.depth + 1, lower, upper)
            family.append(Sprout(node, block, counts[slot]))
        return family

    def nodes(self) -> Nodes:
        """All nodes as arrays."""
        n = len(self._facts)
        parent, slot, n_rows = np.array(self._facts, dtype=np.int64).reshape(n, 3).T
        feature, left, right, missing_slot = (np.full(n, -1, dtype=np.int32) for _ in range(4))
        gain = np.full(n, np.nan)
        map_start = np.full(n, -1, dtype=np.int64)
        maps: list[np.ndarray] = []
        for node, split in sorted(self._splits.items()):
            feature[node], left[node], right[node] = split.feature, split.left, split.right
            missing_slot[node], gain[node] = split.missing_slot, split.gain
            if node in self._nominal:
                map_start[node] = sum(map(len, maps))
                maps.append(split.slot_of[:-1])
        return Nodes(
            parent.astype(np.int32),
            slot.astype(np.int32),
            feature,
            left,
            right,
            missing_slot,
            gain,
            n_rows.astype(np.int64),
            np.stack(self._counts),
            map_start,
            np.concatenate([np.empty(0, dtype=np.int32), *maps]),
        )


def graft(trunk: Nodes, subtrees: list[tuple[int, Nodes]]) -> Nodes:
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
        np.concatenate([part.map for part in parts]),
    )
    for leaf, nodes, map_start in heads:
        for name in ("feature", "left", "right", "missing_slot", "gain"):
            getattr(joined, name)[leaf] = getattr(nodes, name)[0]
        joined.map_start[leaf] = map_start
    return joined
