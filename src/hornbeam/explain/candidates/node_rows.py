"""The rows of a table that reach a node of a tree, counted as growing counts them."""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.data.table import Table
from hornbeam.explain.candidates.counted_node import CountedNode, refuse_empty
from hornbeam.explain.candidates.node_histogram import NodePlace
from hornbeam.growing.grower import Grower
from hornbeam.growing.search import Search, search_table
from hornbeam.growing.tree_builder import build_tree_of_table
from hornbeam.growing.watch import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.evidence.count import evidence_units
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats


@dataclass(frozen=True, slots=True, eq=False)
class NodeRows:
    """A table encoded for growing, and the parts of its rows that reach a node.

    `table` has class weights, if the tree was grown with them; `rows` are the same rows in the weights of the search
    for splits. `at` are those that reach the node, `weight` their weights there, None if each is 1.
    """

    tree: Tree
    table: Table
    bins: Bins
    grower: Grower
    search: Search
    place: NodePlace
    rows: Rows
    at: NDArray[np.intp]
    weight: Counts | None

    @classmethod
    def of(cls, tree: Tree, encoded: EncodedTable, grower: Grower, node: int) -> "NodeRows":
        """Find the rows of a node among encoded rows; a `DataError` if there are none."""
        table, bins = encoded.table, encoded.bins
        rows, search = search_table(grower, table, bins, encoded.codes)
        place = NodePlace(
            tree.skeleton, node, search.spec, rows.weight is not None or tree.skeleton.is_fractional
        )
        at, weight = place.rows_here(table, rows.weight)
        refuse_empty(len(at), table.n_rows, node)
        return cls(tree, table, bins, grower, search, place, rows, at, weight)

    @property
    def node(self) -> int:
        """Number of the node."""
        return self.place.node

    def count(self) -> CountedNode:
        """Count the rows of the node by feature and code."""
        table = self.table
        counts = self.place.count(table, self.rows, self.at, self.weight)
        steps, units = self.search.row_steps, evidence_units(table)
        return CountedNode.of(
            self.tree, self.bins, self.grower, self.place, counts, steps, units, table.n_rows
        )

    def grow(self, max_depth: int | None, max_leaf_nodes: int | None = None) -> tuple[Skeleton, Floats]:
        """Grow the node again, down to a depth of the whole tree; return the splits and their gains.

        Of more than ``max_leaf_nodes`` leaves those of the best splits are kept.
        """
        spec = self.place.spec
        if max_depth is not None:
            rules = copy(spec.rules)
            rules.max_depth = min(max_depth, rules.max_depth)
            spec = spec._replace(rules=rules)
        rows = self.rows_here()
        node_range = self.place.node_range(rows.n_rows, self.place.beside(self.table, self.rows))
        nodes = subtree.grow(rows, spec, node_range, Watch().progress_slot())
        grower, here = replace(self.grower, max_leaf_nodes=max_leaf_nodes), self.table.take(self.at)
        grown = build_tree_of_table(grower, nodes, self.bins, here, spec.rules.unit)
        return grown.skeleton, grown.gain

    def rows_here(self) -> Rows:
        """Copy the rows of the node: growing reorders them."""
        weight = None if self.weight is None else self.weight.copy()
        return self.rows.take(self.at)._replace(weight=weight)
