"""What every task of the level phase stands on: the rows, the terms, and the tree so far."""

from dataclasses import dataclass

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.sources import Unit
from hornbeam.growing.levelwise.node_of_row import NodeOfRowCache
from hornbeam.kernels import levelwise
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import Cells, GrowthSpec, Rows, refusing
from hornbeam.typing import Indices

__all__ = ["TaskContext"]


@dataclass(frozen=True, slots=True)
class TaskContext:
    """Rows, terms, the tree over codes that leads each row to its node, and where rows were before."""

    source: EncodedSource
    terms: GrowthSpec
    guide: CodeTree
    whereabouts: NodeOfRowCache

    def read(self, unit: Unit, *, weighted: bool) -> Rows:
        """Read the rows of a unit; where weights are wanted, each has one."""
        rows = self.source.read(unit)
        if weighted and rows.weight is None:
            return rows._replace(weight=np.ones(rows.n_rows, dtype=np.int64))
        return rows

    def count(self, unit: Unit, rows: Rows, slot_of_node: Indices, cells: Cells) -> None:
        """Count the rows of a unit into the cells of their nodes' slots."""
        n_nodes = len(self.guide.feature)
        node, seen = self.whereabouts.recall(unit, rows.n_rows, n_nodes)
        with refusing():  # they may be others than in the pass before
            levelwise.count_open(rows, self.terms, self.guide, slot_of_node, cells, node, seen)
        self.whereabouts.keep(unit, node, n_nodes)

    def nodes(self, unit: Unit, rows: Rows) -> Indices:
        """Find the node of each row of a unit."""
        node, seen = self.whereabouts.recall(unit, rows.n_rows, len(self.guide.feature))
        with refusing():
            return levelwise.descend(rows.codes, self.terms, self.guide, node, seen)
