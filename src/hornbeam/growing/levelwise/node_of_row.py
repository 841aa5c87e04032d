"""Cache of the node that each row reached in the last pass."""

from collections.abc import Hashable
from threading import Lock
from typing import NamedTuple

import numpy as np

from hornbeam.typing import Indices

__all__ = ["NodeOfRowCache"]


class _Entry(NamedTuple):
    node: Indices
    n_nodes: int


class NodeOfRowCache:
    """Cache from a partition to the nodes of its rows, so that the next pass does not start at the root.

    Results never depend on it: a missing entry is computed again. It has a limited size. A pickled copy is empty and
    stays empty, because another process has no signal for when to free it.

    Parameters
    ----------
    max_bytes : int
        Largest total size of the entries.

    Examples
    --------
    >>> cache = NodeOfRowCache(max_bytes=100)
    >>> cache.get("a partition", n_rows=2, n_nodes=3)
    (array([0, 0], dtype=int32), 1)
    >>> cache.put("a partition", np.array([1, 2], np.int32), n_nodes=3)
    >>> cache.get("a partition", n_rows=2, n_nodes=5)
    (array([1, 2], dtype=int32), 3)
    """

    def __init__(self, max_bytes: int) -> None:
        self._free_bytes = max_bytes
        self._entries: dict[Hashable, _Entry] = {}
        self._putting = Lock()  # tasks of several threads share the limit

    def get(self, unit: Hashable, n_rows: int, n_nodes: int) -> tuple[Indices, int]:
        """Return the node of each row of a partition, and the size of the tree at that time; the root without an entry.

        An entry of a tree with more than ``n_nodes`` nodes is ignored: a slow task may still work on an older tree.
        """
        entry = self._entries.get(unit)
        if entry is None or len(entry.node) != n_rows or entry.n_nodes > n_nodes:
            return np.zeros(n_rows, dtype=np.int32), 1
        return entry.node.copy(), entry.n_nodes

    def put(self, unit: Hashable, node: Indices, n_nodes: int) -> None:
        """Store the nodes of the rows of a partition in a tree of ``n_nodes`` nodes, if there is space."""
        with self._putting:
            if unit not in self._entries:
                if self._free_bytes < node.nbytes:
                    return
                self._free_bytes -= node.nbytes
            self._entries[unit] = _Entry(node, n_nodes)

    def __reduce__(self) -> tuple[type["NodeOfRowCache"], tuple[int]]:
        """Pickle as an empty cache of size 0."""
        return NodeOfRowCache, (0,)
