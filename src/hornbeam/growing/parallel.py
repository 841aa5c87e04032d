"""Growing with several threads.

Level by level, every thread counts a part of the rows of each large node; then each small node is grown to the end by
one thread. All sums are integers, so the tree is the one that a single thread grows.
"""

from itertools import pairwise

import numpy as np

from hornbeam.growing.forced_splits import ForcedTop
from hornbeam.growing.levelwise.nodes import NodeList, OpenNode, attach_subtrees, may_split
from hornbeam.growing.watch import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Nodes, Rows, Split
from hornbeam.typing import Counts

_SUBTREES_PER_THREAD = 8


class ParallelGrower:
    """Grows large nodes with all threads together, and the subtrees below them with one thread each."""

    def __init__(
        self,
        rows: Rows,
        spec: GrowthSpec,
        n_jobs: int,
        pool: Pool,
        key: int,
        smallest_grain: int,
        top: ForcedTop | None = None,
    ) -> None:
        self.rows = rows
        self.spec = spec
        self.n_jobs = n_jobs
        self.pool = pool
        self.grain = max(smallest_grain, rows.n_rows // (_SUBTREES_PER_THREAD * n_jobs))
        self.node_list = NodeList(spec) if top is None else top.node_list
        self.key = key
        self.top = top

    def grow(self, watch: Watch) -> Nodes:
        """Grow the tree of all rows, from the root or from the leaves of the forced splits."""
        open_nodes = [self._root()] if self.top is None else self._leaves(self.top)
        small: list[OpenNode] = []
        while open_nodes and not watch.stopped:
            small += [node for node in open_nodes if node.n_rows <= self.grain]
            large = [node for node in open_nodes if node.n_rows > self.grain]
            candidates = [node for node in large if may_split(node, self.spec)]
            splits = list(self.pool.map(self._best_split, candidates))
            found = [
                (node, split) for node, split in zip(candidates, splits, strict=True) if split is not None
            ]
            watch.finish_rows(sum(node.n_rows for node in large) - sum(node.n_rows for node, _ in found))
            open_nodes = self._split_nodes(found)
        # The largest first, so that the last subtree to finish is a small one.
        small.sort(key=lambda node: -node.n_rows)
        slots = [watch.progress_slot() for _ in small]

        def grow_subtree(node: OpenNode, slot: Counts) -> Nodes:
            return subtree.grow(self.rows, self.spec, node.node_range, slot)

        subtrees = self.pool.map(grow_subtree, small, slots)
        return attach_subtrees(
            self.node_list.nodes(), [(leaf.node, nodes) for leaf, nodes in zip(small, subtrees, strict=True)]
        )

    def _root(self) -> OpenNode:
        root_range = NodeRange.root(self.rows.n_rows, self.spec, self.key)
        root = OpenNode(0, root_range, np.zeros(self.spec.n_channels, dtype=np.int64))
        self._count([root])
        root.counts = self._evidence(root)
        self.node_list.add(-1, 0, root.n_rows, root.counts)
        return root

    def _leaves(self, top: ForcedTop) -> list[OpenNode]:
        self._count([leaf for leaf in top.leaves if leaf.n_rows > self.grain])
        return top.leaves

    def _best_split(self, node: OpenNode) -> Split | None:
        assert node.cells is not None
        spread = subtree.target_variance(self.rows, self.spec, node.node_range)
        return subtree.best_split(node.cells, self.spec, node.counts, node.n_rows, node.node_range, spread)

    def _evidence(self, node: OpenNode) -> Counts:
        """Sum the cells of the first feature: every row has one of its codes."""
        assert node.cells is not None
        evidence, _ = subtree.channels(node.cells, self.spec)
        total: Counts = evidence[: self.spec.offsets[1]].sum(axis=0)
        return total

    def _count(self, open_nodes: list[OpenNode]) -> None:
        """Fill the histograms of nodes; each thread counts a part of the rows of each node."""

        def count_part(job: tuple[OpenNode, int, int]) -> Cells:
            _, begin, end = job
            cells = subtree.empty_cells(self.rows, self.spec)
            subtree.histogram(self.rows, self.spec, begin, end, cells)
            return cells

        jobs = [(node, begin, end) for node in open_nodes for begin, end in self._row_ranges(node)]
        for (node, _, _), cells in zip(jobs, self.pool.map(count_part, jobs), strict=True):
            node.cells = cells if node.cells is None else node.cells + cells

    def _row_ranges(self, node: OpenNode) -> list[tuple[int, int]]:
        bounds = np.linspace(node.node_range.begin, node.node_range.end, self.n_jobs + 1).astype(int).tolist()
        return list(pairwise(bounds))

    def _split_nodes(self, found: list[tuple[OpenNode, Split]]) -> list[OpenNode]:
        """Partition the rows of every split node, and return the children."""
        starts = list(self.pool.map(lambda pair: self._partition(*pair), found))
        families = [
            self._children(*pair, bounds.tolist()) for pair, bounds in zip(found, starts, strict=True)
        ]
        self._count_children([parent for parent, _ in found], families)
        return [child for family in families for child in family]

    def _partition(self, node: OpenNode, split: Split) -> Counts:
        return subtree.partition(self.rows, self.spec, node.node_range.begin, node.node_range.end, split)

    def _children(self, parent: OpenNode, split: Split, bounds: list[int]) -> list[OpenNode]:
        assert parent.cells is not None
        counts, _ = subtree.children_totals(parent.cells, split, self.spec)
        return self.node_list.split(parent, split, counts, list(pairwise(bounds)))

    def _count_children(self, parents: list[OpenNode], families: list[list[OpenNode]]) -> None:
        """Count all children but the largest of each node, whose histogram is the parent's minus the others."""
        derived = []
        for parent, family in zip(parents, families, strict=True):
            largest = max(family, key=lambda child: child.n_rows)
            if any(child.n_rows > self.grain and may_split(child, self.spec) for child in family):
                derived.append((parent, largest, [child for child in family if child is not largest]))
        self._count([sibling for _, _, siblings in derived for sibling in siblings])
        for parent, largest, siblings in derived:
            assert parent.cells is not None
            rest = parent.cells.copy()
            for sibling in siblings:
                assert sibling.cells is not None
                rest -= sibling.cells
                if sibling.n_rows <= self.grain:
                    sibling.cells = None
            largest.cells = rest
