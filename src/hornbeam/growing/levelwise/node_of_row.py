"""Where the rows of each unit were at the last pass: a memory that may be lost, and is, wherever tasks travel."""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from hornbeam.typing import Indices

__all__ = ["NodeOfRowCache"]


class _Entry(NamedTuple):
    node: Indices
    seen: int


class NodeOfRowCache:
    """Nodes of rows, so that in the next pass they go on from there and not from the root.

    Tasks must not depend on it: what is not remembered is found again. So it has a limited room, and none at
    all once it was sent to another process, where nobody could tell when to forget.

    Parameters
    ----------
    room : int
        Bytes it may hold.

    Examples
    --------
    >>> memory = NodeOfRowCache(room=100)
    >>> memory.recall("a unit", n_rows=2, n_nodes=3)
    (array([0, 0], dtype=int32), 1)
    >>> memory.keep("a unit", np.array([1, 2], np.int32), n_nodes=3)
    >>> memory.recall("a unit", n_rows=2, n_nodes=5)
    (array([1, 2], dtype=int32), 3)
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._places: dict[Hashable, _Entry] = {}

    def recall(self, unit: Hashable, n_rows: int, n_nodes: int) -> tuple[Indices, int]:
        """Return a node for each row of a unit, and how many nodes there were then; else all at the root.

        A task that is late may ask for a tree of so many nodes when a later one has seen more.
        """
        place = self._places.get(unit)
        if place is None or len(place.node) != n_rows or place.seen > n_nodes:
            return np.zeros(n_rows, dtype=np.int32), 1
        return place.node.copy(), place.seen

    def keep(self, unit: Hashable, node: Indices, n_nodes: int) -> None:
        """Remember where the rows of a unit are in a tree of so many nodes, while there is room."""
        if unit not in self._places:
            if self._room < node.nbytes:
                return
            self._room -= node.nbytes
        self._places[unit] = _Entry(node, n_nodes)

    def __reduce__(self) -> tuple[type["NodeOfRowCache"], tuple[int]]:
        """Travel without memories, and make none."""
        return NodeOfRowCache, (0,)
