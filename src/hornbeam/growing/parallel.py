"""Growing with several threads.

All threads count the rows of the root together. Below it each node is the task of one thread: a large node is split,
a small one is grown to the end. All sums are integers, so the tree is the one that a single thread grows.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import pairwise
from threading import Lock

import numpy as np

from hornbeam.growing.forced_splits import ForcedTop
from hornbeam.growing.levelwise.nodes import NodeList, OpenNode, attach_subtrees, may_split
from hornbeam.growing.watch import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Nodes, Rows, Split
from hornbeam.typing import Counts

_SUBTREES_PER_THREAD = 8

type _Counter = Callable[[OpenNode], Cells]


class ParallelGrower:
    """Grows the nodes of a tree with several threads."""

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
        self.lock = Lock()  # of the list
        self.key = key
        self.top = top

    def grow(self, watch: Watch) -> Nodes:
        """Grow the tree of all rows, from the root or from the leaves of the forced splits."""
        waiting = self._below_root(watch) if self.top is None else self._leaves(self.top)
        running: dict[Future[list[OpenNode] | Nodes], OpenNode] = {}
        subtrees: list[tuple[int, Nodes]] = []
        while (waiting or running) and not watch.stopped:
            # The largest first, so that the last one to finish is small.
            waiting.sort(key=lambda node: node.n_rows)
            while waiting and len(running) < self.n_jobs:
                node = waiting.pop()
                if node.n_rows > self.grain:
                    running[self.pool.submit(self._split, node, self._count)] = node
                else:
                    running[self.pool.submit(self._finish, node, watch.progress_slot())] = node
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                node, grown = running.pop(future), future.result()
                if isinstance(grown, Nodes):
                    subtrees.append((node.node, grown))
                elif grown:
                    waiting += grown
                else:
                    watch.finish_rows(node.n_rows)
        return attach_subtrees(self.node_list.nodes(), subtrees)

    def _below_root(self, watch: Watch) -> list[OpenNode]:
        """Split the root by all threads; return its children."""
        node_range = NodeRange.root(self.rows.n_rows, self.spec, self.key)
        root = OpenNode(0, node_range, np.zeros(self.spec.n_channels, dtype=np.int64))
        root.cells = self._count_together(root)
        root.counts = self._evidence(root.cells)
        self.node_list.add(-1, 0, root.n_rows, root.counts)
        if root.n_rows <= self.grain:
            return [root]
        children = self._split(root, self._count_together)
        if not children:
            watch.finish_rows(root.n_rows)
        return children

    def _leaves(self, top: ForcedTop) -> list[OpenNode]:
        for leaf in top.leaves:
            if leaf.n_rows > self.grain:
                leaf.cells = self._count_together(leaf)
        return top.leaves

    def _finish(self, node: OpenNode, progress: Counts) -> Nodes:
        return subtree.grow(self.rows, self.spec, node.node_range, progress)

    def _split(self, node: OpenNode, count: _Counter) -> list[OpenNode]:
        """Split a node, and give its large children a histogram if one may be split; return all, none of a leaf."""
        if node.cells is None or not may_split(node, self.spec):
            return []
        split = self._best_split(node, node.cells)
        if split is None:
            return []
        begin, end = node.node_range.begin, node.node_range.end
        starts = subtree.partition(self.rows, self.spec, begin, end, split).tolist()
        counts, _ = subtree.children_totals(node.cells, split, self.spec)
        with self.lock:
            children = self.node_list.split(node, split, counts, list(pairwise(starts)))
        if any(child.n_rows > self.grain and may_split(child, self.spec) for child in children):
            self._give_cells(node.cells, children, count)
        return children

    def _best_split(self, node: OpenNode, cells: Cells) -> Split | None:
        spread = subtree.target_variance(self.rows, self.spec, node.node_range)
        return subtree.best_split(cells, self.spec, node.counts, node.n_rows, node.node_range, spread)

    def _give_cells(self, rest: Cells, children: list[OpenNode], count: _Counter) -> None:
        """Count all children but the largest, whose histogram is that of the parent without the others."""
        largest = max(children, key=lambda child: child.n_rows)
        for child in children:
            if child is not largest:
                cells = count(child)
                rest -= cells
                child.cells = cells if child.n_rows > self.grain else None
        largest.cells = rest

    def _evidence(self, cells: Cells) -> Counts:
        """Sum the cells of the first feature: every row has one of its codes."""
        evidence, _ = subtree.channels(cells, self.spec)
        total: Counts = evidence[: self.spec.offsets[1]].sum(axis=0)
        return total

    def _count(self, node: OpenNode) -> Cells:
        """Count the rows of a node."""
        return self._count_range(node.node_range.begin, node.node_range.end)

    def _count_together(self, node: OpenNode) -> Cells:
        """Count the rows of a node, of which each thread counts a part."""
        bounds = np.linspace(node.node_range.begin, node.node_range.end, self.n_jobs + 1).astype(int).tolist()
        first, *others = self.pool.map(self._count_range, bounds[:-1], bounds[1:])
        for cells in others:
            first += cells
        return first

    def _count_range(self, begin: int, end: int) -> Cells:
        cells = subtree.empty_cells(self.rows, self.spec)
        subtree.histogram(self.rows, self.spec, begin, end, cells)
        return cells
