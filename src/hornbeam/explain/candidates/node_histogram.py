"""The histogram of a node in integers, so that the sums of parts of the rows are those of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.growing.count_encoded import encoded_sums
from hornbeam.growing.levelwise.nodes import child_bounds
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Rows, Split
from hornbeam.tree.evidence.fractional import next_slots, route_fractional
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import descendants, features_above, path, pull_up
from hornbeam.typing import Counts, Indices

_MOST_CELLS = (
    1 << 24
)  # of a histogram that is divided by the children of the node, if there are more than a few
_FEW = 4  # children of a numeric split, and the rows of none


@dataclass(frozen=True, slots=True, eq=False)
class NodePlace:
    """A node of a tree, and how rows that reach it are counted.

    `weighted` is whether rows have weights in the search for splits. `shares` are the weights that rows with a missing
    value are divided by, if they go to every child; by default the known values of the rows themselves, which must then
    be all rows.
    """

    skeleton: Skeleton
    node: int
    spec: GrowthSpec
    weighted: bool
    shares: Counts | None = None

    @property
    def path(self) -> list[int]:
        """The nodes from the root to this one."""
        return list(path(self.skeleton, self.node))

    @property
    def depth(self) -> int:
        """Number of splits above the node."""
        return len(self.path) - 1

    @property
    def n_slots(self) -> int:
        """Parts of the histogram: the children of the tree's split, and rows that go to none or to every child.

        1 at a leaf, and for a split with thousands of children, whose histogram would be too large.
        """
        n = self.skeleton.n_children.item(self.node) + 1
        few = n <= _FEW or n * self.spec.n_cells * self.spec.n_classes <= _MOST_CELLS
        return n if few else 1

    # ---- for some rows -------------------------------------------------------------------------------------

    def rows_here(self, table: Table, weight: Counts | None) -> tuple[NDArray[np.intp], Counts | None]:
        """Find the rows that reach the node, and their weight there."""
        if not self.skeleton.is_fractional:
            at = self._reaching(route(self.skeleton, table), self.node)
            return at, None if weight is None else weight[at]
        row = np.arange(table.n_rows)
        part = np.ones(table.n_rows, np.int64) if weight is None else weight
        for parent, child in pairwise(self.path):
            levels = route_fractional(self.skeleton, table, row, part, place=parent, shares=self.shares)
            next(levels)
            below = next(levels)
            mine = below.place[below.at] == child
            row, part = below.row[mine], below.weight[mine]
        return row, part

    def count(
        self, table: Table, rows: Rows, at: NDArray[np.intp], weight: Counts | None
    ) -> list[NDArray[np.int64] | Cells]:
        """Count rows of the node, `at` and `weight` of `rows_here`; the sums of several tables add up.

        Returns the cells of each slot; sums of squares for the variance of S-values, of squares of the target by code,
        and of rows beside the path, for bounds: each of size 0 where it is not needed.
        """
        spec = self.spec
        here = rows.take(at)._replace(weight=weight)
        if self.weighted and weight is None:
            here = here._replace(weight=np.ones(len(at), np.int64))
        slots = self._slots(table, at)
        cells = subtree.zero_cells(spec, self.n_slots, weighted=self.weighted)
        subtree.histogram(here, spec, 0, len(at), cells, slots)
        parts, squares = np.zeros(0, np.int64), np.zeros(0, np.int64)
        if spec.needs_variance:
            parts = np.zeros(levelwise.SQUARE_PARTS, np.int64)
            levelwise.add_squares(here, np.zeros(len(at), np.int32), np.zeros(1, np.int32), parts)
        if table.numeric_target is not None:
            own = None if table.weight is None else table.weight[at]
            numerator = table.numeric_target.take(at).squares(own, table.unit)
            sums = subtree.zero_cells(spec, 1, weighted=False)
            subtree.histogram(Rows(here.codes, here.label, None, numerator), spec, 0, len(at), sums)
            squares = sums.reshape(spec.n_cells, -1)[:, 0].astype(np.int64)
        return [cells, parts, squares, self.beside(table, rows)]

    def empty(self) -> list[NDArray[np.int64] | Cells]:
        """Return the counts of no rows."""
        spec = self.spec
        return [
            subtree.zero_cells(spec, self.n_slots, weighted=self.weighted),
            np.zeros(levelwise.SQUARE_PARTS if spec.needs_variance else 0, np.int64),
            np.zeros(spec.n_cells if spec.sums else 0, np.int64),
            np.zeros(self._beside_shape(), np.int64),
        ]

    def known_below(self, table: Table, weight: Counts | None) -> Counts:
        """Add up the rows with a known value that go to each child."""
        at, part = self.rows_here(table, weight)
        assert part is not None
        slot, _ = next_slots(self.skeleton, table, at, np.full(len(at), self.node))
        known = np.zeros(self.skeleton.n_children.item(self.node), np.int64)
        np.add.at(known, slot[slot >= 0], part[slot >= 0])
        return known

    def beside(self, table: Table, rows: Rows) -> Counts:
        """Add up the evidence of both children of each node above; monotone constraints bound the node by them."""
        if self.spec.monotone is None:
            return np.zeros(self._beside_shape(), np.int64)
        stopped = encoded_sums(route(self.skeleton, table), rows, self.spec, self.skeleton.n_nodes)
        first = self.skeleton.first_child[self.path[:-1]]
        return pull_up(self.skeleton, stopped)[first[:, None] + [0, 1], :-1]

    def _reaching(self, stops: Indices, node: int) -> NDArray[np.intp]:
        return np.flatnonzero(np.isin(stops, descendants(self.skeleton, node)))

    def _slots(self, table: Table, at: NDArray[np.intp]) -> Indices | None:
        if self.n_slots == 1:
            return None
        slot, _ = next_slots(self.skeleton, table, at, np.full(len(at), self.node))
        return np.where(slot < 0, self.n_slots - 1, slot).astype(np.int32)

    def _beside_shape(self) -> tuple[int, ...]:
        return (0,) if self.spec.monotone is None else (len(self.path) - 1, 2, self.spec.n_channels)

    # ---- from the counts of all rows -----------------------------------------------------------------------

    def node_range(self, n_rows: int, beside: Counts) -> NodeRange:
        """Return the depth of the node and the bounds of monotone constraints, for the growing kernel."""
        above = tuple(features_above(self.skeleton, self.node))
        return NodeRange(0, n_rows, len(above), *self._bounds(beside), path=above)

    def _bounds(self, beside: Counts) -> tuple[float, float]:
        skeleton, spec = self.skeleton, self.spec
        bounds = NodeRange(0, 0, 0, *spec.bounds)
        if spec.monotone is None:
            return bounds.lower, bounds.upper
        for (parent, child), counts in zip(pairwise(self.path), beside, strict=True):
            f, first = skeleton.feature.item(parent), skeleton.first_child.item(parent)
            n_codes, known_only = spec.n_codes.item(f), skeleton.threshold.item(parent) == inf
            slot_of = np.zeros(n_codes + 1, np.int32)
            split = Split(f, 0.0, 0, n_codes if known_only else 0, -1, 2, slot_of)
            bounds = NodeRange(0, 0, 0, *child_bounds(bounds, split, child - first, list(counts), spec))
        return bounds.lower, bounds.upper
