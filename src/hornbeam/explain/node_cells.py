"""The rows of a table that reach a node of a tree, counted as growing counts them."""

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing import Grower
from hornbeam.growing.candidates import NodeCells, Way
from hornbeam.growing.encoded_table import EncodedTable
from hornbeam.growing.in_memory import encoded_rows
from hornbeam.growing.levelwise.open_node import child_bounds
from hornbeam.growing.progress import Watch
from hornbeam.growing.tree_builder import build_skeleton
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Rows, Split
from hornbeam.tree.evidence.fractional import next_slots, route_fractional
from hornbeam.tree.level_order import level_order
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import EVERY_CHILD, Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants, features_above, path
from hornbeam.typing import Counts, Floats

__all__ = ["NodeRows"]


@dataclass(frozen=True, slots=True, eq=False)
class NodeRows:
    """A table encoded for growing, and the parts of its rows that reach a node.

    Parameters
    ----------
    tree : Tree
    table : Table
        All rows; with class weights, if the tree was grown with them.
    bins : Bins
    node : int
    rows : Rows
        All rows, encoded, in the weights of the search for splits.
    spec : GrowthSpec
    at : array of int
        The rows that reach the node.
    weight : int64 array or None
        Their weights at the node in the search for splits; None if each is 1.
    """

    tree: Tree
    table: Table
    bins: Bins
    node: int
    rows: Rows
    spec: GrowthSpec
    at: NDArray[np.intp]
    weight: Counts | None

    @classmethod
    def of(cls, tree: Tree, encoded: EncodedTable, grower: Grower, node: int) -> "NodeRows":
        """Find the rows of a node among encoded rows.

        Raises
        ------
        DataError
            If no row reaches the node.
        """
        table, bins = encoded.table, encoded.bins
        rows, spec = encoded_rows(grower, table, bins, encoded.codes)
        at, weight = _rows_at(tree, table, rows, node)
        if not len(at):
            raise DataError(
                f"none of the {table.n_rows:,} rows reaches node {node}; expected at least one. Pass the training "
                "rows, or another node."
            )
        return cls(tree, table, bins, node, rows, spec, at, weight)

    def count(self) -> NodeCells:
        """Count the rows of the node by feature and code."""
        return NodeCells.count(self.rows_here(), self.spec, self.node_range, self._shown())

    def grow(self, max_depth: int | None) -> tuple[Skeleton, Floats]:
        """Grow the node again, down to a depth of the whole tree; return the splits and their gains."""
        spec = self.spec
        if max_depth is not None:
            rules = copy(spec.rules)
            rules.max_depth = min(max_depth, rules.max_depth)
            spec = spec._replace(rules=rules)
        nodes = subtree.grow(self.rows_here(), spec, self.node_range, Watch().progress_slot())
        order = level_order(nodes.parent, nodes.slot)
        return build_skeleton(nodes, self.bins, order, at_values=spec.rules.gain_ratio), nodes.gain[order]

    def rows_here(self) -> Rows:
        """Copy the rows of the node: growing reorders them."""
        weight = None if self.weight is None else self.weight.copy()
        return self.rows.take(self.at)._replace(weight=weight)

    @property
    def node_range(self) -> NodeRange:
        """Its rows, depth and bounds, for the growing kernel."""
        above = tuple(features_above(self.tree.skeleton, self.node))
        return NodeRange(0, len(self.at), len(above), *self._bounds(), path=above)

    @property
    def mean(self) -> float:
        """Mean of a numeric target at the node."""
        assert self.table.numeric_target is not None
        return float(np.average(self.table.numeric_target.values[self.at], weights=self.own_weight()))

    def way(self) -> Way | None:
        """Return the split of the tree at this node in codes; None if it is a leaf, or these rows do not fit it."""
        skeleton, node = self.tree.skeleton, self.node
        f = skeleton.feature.item(node)
        if f < 0:
            return None
        slot, every = next_slots(skeleton, self.table, self.at, np.full(len(self.at), node))
        code = self.rows.codes[self.at, f]
        slot_of = np.full(self.bins.n_codes[f] + 1, -1, np.int32)
        slot_of[code] = np.where(every, -1, slot)
        nominal = bool(self.bins.nominal[f])
        if (slot_of[code] != np.where(every, -1, slot)).any() or not (nominal or (slot_of[:-1] == 0).any()):
            return None
        return Way.of_slots(f, nominal, slot_of, EVERY_CHILD if every.any() else slot_of.item(-1))

    def own_weight(self) -> Floats:
        """Return the weight of each row at the node, without class weights."""
        table, at = self.table, self.at
        own = np.full(len(at), table.unit)
        if table.weight is not None:
            own *= table.weight[at]
        if self.tree.skeleton.is_fractional and self.weight is not None and self.rows.weight is not None:
            own = own * (self.weight / self.rows.weight[at])
        return own

    def _shown(self) -> tuple[Floats, ...] | None:
        """For each feature and code: rows and class weights; or rows, weight, and sums of the centred target.

        None if rows of classes have no weights: the kernel counts the same.
        """
        if self.weight is None and self.table.unit == 1.0 and self.table.numeric_target is None:
            return None
        own, table = self.own_weight(), self.table
        if table.numeric_target is None:
            assert table.target is not None
            label = table.target[self.at]
            columns = [own * (label == k) for k in range(table.schema.n_classes)]
        else:
            centred = table.numeric_target.values[self.at] - self.mean
            columns = [own, own * centred, own * centred * centred]
        columns = [np.ones(len(own)), *columns]
        return tuple(
            np.column_stack([np.bincount(code, column, minlength=n + 1) for column in columns])
            for code, n in zip(self.rows.codes[self.at].T, self.bins.n_codes.tolist(), strict=True)
        )

    def _bounds(self) -> tuple[float, float]:
        """Bounds that monotone constraints set on the rate of the node."""
        skeleton, spec = self.tree.skeleton, self.spec
        node_range = NodeRange(0, 0, 0, *spec.bounds)
        if spec.monotone is None:
            return node_range.lower, node_range.upper
        stops = route(skeleton, self.table)
        for parent, child in pairwise(path(skeleton, self.node)):
            f, first = skeleton.feature.item(parent), skeleton.first_child.item(parent)
            n_codes, known_only = self.bins.n_codes.item(f), skeleton.threshold.item(parent) == inf
            slot_of = np.zeros(n_codes + 1, np.int32)
            split = Split(f, 0.0, 0, n_codes if known_only else 0, -1, 2, slot_of)
            counts = [self._evidence(np.isin(stops, descendants(skeleton, first + slot))) for slot in (0, 1)]
            node_range = NodeRange(0, 0, 0, *child_bounds(node_range, split, child - first, counts, spec))
        return node_range.lower, node_range.upper

    def _evidence(self, mask: NDArray[np.bool_]) -> Counts:
        """Class weights, or weight and sum, of some rows."""
        weight = np.ones(self.rows.n_rows, np.int64) if self.rows.weight is None else self.rows.weight
        if self.rows.numerator is not None:
            return np.array([weight[mask].sum(), self.rows.numerator[mask].sum()])
        label = self.rows.label
        return np.array([weight[mask & (label == k)].sum() for k in range(self.spec.n_classes)])


def _rows_at(tree: Tree, table: Table, rows: Rows, node: int) -> tuple[NDArray[np.intp], Counts | None]:
    """Find the rows that reach a node, and their weight there."""
    if not tree.skeleton.is_fractional:
        at = np.flatnonzero(np.isin(route(tree.skeleton, table), descendants(tree.skeleton, node)))
        return at, None if rows.weight is None else rows.weight[at]
    weight = np.ones(table.n_rows, np.int64) if rows.weight is None else rows.weight
    for level in route_fractional(tree.skeleton, table, np.arange(table.n_rows), weight):
        if node in level.place:
            mine = level.place[level.at] == node
            return level.row[mine], level.weight[mine]
    return np.empty(0, np.intp), None
