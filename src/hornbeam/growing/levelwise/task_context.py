"""What every task of a pass needs: the rows, the specification, the tree so far, and the node of each row."""

from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.sources import Partition
from hornbeam.errors import DataError
from hornbeam.kernels import levelwise
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import Cells, GrowthSpec, Rows, as_data_error
from hornbeam.typing import Counts, Indices

OTHER_ROWS = (
    "a node has other rows than were counted before",
    (
        "The rows were changed while the tree grew, or the checkpoint was changed. Begin anew with rows that stay as "
        "they are, without this checkpoint."
    ),
)


def check_same_rows(same: bool | np.bool_) -> None:
    """Raise `DataError` if a node has other rows than were counted before."""
    if not same:
        raise DataError(". ".join(OTHER_ROWS))


class _Entry(NamedTuple):
    node: Indices
    n_nodes: int


class NodeOfRowCache:
    """Cache from a partition to the nodes of its rows, so that the next pass does not start at the root.

    Results never depend on it: a missing entry is computed again. It has a limited size. A pickled copy is empty and
    stays empty, because another process has no signal for when to free it.
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


@dataclass(frozen=True, slots=True)
class TaskContext:
    """Rows, specification, the tree over codes that routes each row, and the cache of the last pass."""

    source: EncodedSource
    spec: GrowthSpec
    code_tree: CodeTree
    cache: NodeOfRowCache

    def read(self, partition: Partition, *, weighted: bool) -> Rows:
        """Read the rows of a partition; with ``weighted`` every row has a weight, 1 by default."""
        rows = self.source.read(partition)
        if weighted and rows.weight is None:
            return rows._replace(weight=np.ones(rows.n_rows, dtype=np.int64))
        return rows

    def count(
        self, partition: Partition, rows: Rows, slot_of_node: Indices, cells: Cells, squares: Counts
    ) -> None:
        """Add the rows of a partition to the histograms of their nodes, and to the sums of squares if needed."""
        n_nodes = len(self.code_tree.feature)
        node, n_known = self.cache.get(partition, rows.n_rows, n_nodes)
        with as_data_error():  # the rows may have changed since the pass before
            levelwise.count_open(
                rows,
                self.spec,
                self.code_tree,
                slot_of_node,
                cells,
                node,
                n_known,
                squares if self.spec.needs_variance else None,
            )
        self.cache.put(partition, node, n_nodes)

    def nodes(self, partition: Partition, rows: Rows) -> Indices:
        """Return the node of each row of a partition."""
        node, n_known = self.cache.get(partition, rows.n_rows, len(self.code_tree.feature))
        with as_data_error():
            return levelwise.descend(rows.codes, self.spec, self.code_tree, node, n_known)
