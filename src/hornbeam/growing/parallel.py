"""The trunk: nodes with so many rows that threads share each one.

Level by level every thread counts a share of each big node's rows; then whole subtrees are handed out. All
sums are integers, so the tree is the one a single thread grows.
"""

from itertools import pairwise

import numpy as np

from hornbeam.growing.levelwise.nodes import NodeList, attach_subtrees
from hornbeam.growing.levelwise.open_node import OpenNode, may_split
from hornbeam.growing.progress import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Nodes, Rows, Split
from hornbeam.typing import Counts

__all__ = ["ParallelGrower"]

_SMALLEST_GRAIN = 8_192
_SUBTREES_PER_THREAD = 8


class ParallelGrower:
    """Grows the big nodes with all threads, then the subtrees below them one thread each."""

    def __init__(self, rows: Rows, terms: GrowthSpec, n_jobs: int, pool: Pool, key: int = 0) -> None:
        self.rows = rows
        self.terms = terms
        self.n_jobs = n_jobs
        self.pool = pool
        self.grain = max(_SMALLEST_GRAIN, rows.n_rows // (_SUBTREES_PER_THREAD * n_jobs))
        self.made = NodeList(terms)
        self.root = NodeRange.root(rows.n_rows, terms, key)

    def grow(self, watch: Watch) -> Nodes:
        """Grow the tree of all rows."""
        root = OpenNode(0, self.root, np.zeros(self.terms.n_channels, dtype=np.int64))
        self._count([root])
        root.counts = self._evidence(root)
        self.made.add(-1, 0, root.n_rows, root.counts)
        sprouts = [root]
        small: list[OpenNode] = []
        while sprouts and not watch.stopped:
            small += [s for s in sprouts if s.n_rows <= self.grain]
            big = [s for s in sprouts if s.n_rows > self.grain]
            asked = [s for s in big if may_split(s, self.terms)]
            splits = list(self.pool.map(self._best, asked))
            grown = [(s, split) for s, split in zip(asked, splits, strict=True) if split is not None]
            watch.settle(sum(s.n_rows for s in big) - sum(s.n_rows for s, _ in grown))
            sprouts = self._divide(grown)
        # The biggest first: the last subtree to finish should be a small one.
        small.sort(key=lambda s: -s.n_rows)
        slips = [watch.slip() for _ in small]

        def subtree_of(sprout: OpenNode, slip: Counts) -> Nodes:
            return subtree.grow(self.rows, self.terms, sprout.block, slip)

        grafts = self.pool.map(subtree_of, small, slips)
        return attach_subtrees(
            self.made.nodes(), [(s.node, nodes) for s, nodes in zip(small, grafts, strict=True)]
        )

    def _best(self, sprout: OpenNode) -> Split | None:
        assert sprout.cells is not None
        spread = subtree.spread(self.rows, self.terms, sprout.block)
        return subtree.best_split(
            sprout.cells, self.terms, sprout.counts, sprout.n_rows, sprout.block, spread
        )

    def _evidence(self, sprout: OpenNode) -> Counts:
        """Read off the cells of the first feature: every row has one of its codes."""
        assert sprout.cells is not None
        evidence, _ = subtree.channels(sprout.cells, self.terms)
        total: Counts = evidence[: self.terms.offsets[1]].sum(axis=0)
        return total

    def _count(self, sprouts: list[OpenNode]) -> None:
        """Fill the cells of nodes, each thread counting a share of the rows of each."""

        def share(job: tuple[OpenNode, int, int]) -> Cells:
            _, begin, end = job
            cells = subtree.empty_cells(self.rows, self.terms)
            subtree.histogram(self.rows, self.terms, begin, end, cells)
            return cells

        jobs = [(s, begin, end) for s in sprouts for begin, end in self._shares(s)]
        for (sprout, _, _), cells in zip(jobs, self.pool.map(share, jobs), strict=True):
            sprout.cells = cells if sprout.cells is None else sprout.cells + cells

    def _shares(self, sprout: OpenNode) -> list[tuple[int, int]]:
        bounds = np.linspace(sprout.block.begin, sprout.block.end, self.n_jobs + 1).astype(int).tolist()
        return list(pairwise(bounds))

    def _divide(self, grown: list[tuple[OpenNode, Split]]) -> list[OpenNode]:
        """Partition the rows of every split node; the children are the next sprouts."""
        starts = list(self.pool.map(lambda pair: self._partition(*pair), grown))
        families = [
            self._children(*pair, bounds.tolist()) for pair, bounds in zip(grown, starts, strict=True)
        ]
        self._count_children([parent for parent, _ in grown], families)
        return [child for family in families for child in family]

    def _partition(self, sprout: OpenNode, split: Split) -> Counts:
        return subtree.partition(self.rows, self.terms, sprout.block.begin, sprout.block.end, split)

    def _children(self, parent: OpenNode, split: Split, bounds: list[int]) -> list[OpenNode]:
        assert parent.cells is not None
        counts, _ = subtree.children_totals(parent.cells, split, self.terms)
        return self.made.split(parent, split, counts, list(pairwise(bounds)))

    def _count_children(self, parents: list[OpenNode], families: list[list[OpenNode]]) -> None:
        """Count all but the largest child of each node; the largest inherits what remains of the parent's."""
        heirs = []
        for parent, family in zip(parents, families, strict=True):
            largest = max(family, key=lambda s: s.n_rows)
            if any(s.n_rows > self.grain and may_split(s, self.terms) for s in family):
                heirs.append((parent, largest, [s for s in family if s is not largest]))
        self._count([s for _, _, siblings in heirs for s in siblings])
        for parent, largest, siblings in heirs:
            assert parent.cells is not None
            rest = parent.cells.copy()
            for sibling in siblings:
                assert sibling.cells is not None
                rest -= sibling.cells
                if sibling.n_rows <= self.grain:
                    sibling.cells = None
            largest.cells = rest
