"""What every task of a pass needs: the rows, the specification, and the tree so far."""

from dataclasses import dataclass

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.sources import Partition
from hornbeam.growing.levelwise.node_of_row import NodeOfRowCache
from hornbeam.kernels import levelwise
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import Cells, GrowthSpec, Rows, as_data_error
from hornbeam.typing import Counts, Indices

__all__ = ["TaskContext"]


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
