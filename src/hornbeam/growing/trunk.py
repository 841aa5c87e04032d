"""The trunk: nodes with so many rows that threads share each one.

Level by level every thread counts a share of each big node's rows; then whole subtrees are handed out. All
sums are integers, so the tree is the one a single thread grows.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from hornbeam.growing.nodes import NodeList, graft
from hornbeam.growing.sprout import Sprout, child_bounds, may_split
from hornbeam.growing.watch import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import Block, Cells, Nodes, Rows, Split, Terms
from hornbeam.typing import Counts

__all__ = ["Trunk"]

_SMALLEST_GRAIN = 8_192
_SUBTREES_PER_THREAD = 8


class Trunk:
    """Grows the big nodes with all threads, then the subtrees below them one thread each."""

    def __init__(self, rows: Rows, terms: Terms, n_jobs: int, pool: ThreadPoolExecutor) -> None:
        self.rows = rows
        self.terms = terms
        self.n_jobs = n_jobs
        self.pool = pool
        self.grain = max(_SMALLEST_GRAIN, len(rows.label) // (_SUBTREES_PER_THREAD * n_jobs))
        self.made = NodeList(terms.n_classes)

    def grow(self, watch: Watch) -> Nodes:
        """Grow the tree of all rows."""
        n_rows = len(self.rows.label)
        counts = self._class_weights(0, n_rows)
        sprouts = [Sprout(self.made.add(-1, 0, n_rows, counts), Block(0, n_rows), counts)]
        small: list[Sprout] = []
        while sprouts and not watch.stopped:
            small += [s for s in sprouts if s.n_rows <= self.grain]
            big = [s for s in sprouts if s.n_rows > self.grain]
            asked = [s for s in big if may_split(s, self.terms)]
            self._count(asked)
            splits = list(self.pool.map(self._best, asked))
            grown = [(s, split) for s, split in zip(asked, splits, strict=True) if split is not None]
            watch.settle(sum(s.n_rows for s in big) - sum(s.n_rows for s, _ in grown))
            sprouts = self._divide(grown)
        # The biggest first: the last subtree to finish should be a small one.
        small.sort(key=lambda s: -s.n_rows)
        slips = [watch.slip() for _ in small]

        def subtree_of(sprout: Sprout, slip: Counts) -> Nodes:
            return subtree.grow(self.rows, self.terms, sprout.block, slip, sprout.cells)

        grafts = self.pool.map(subtree_of, small, slips)
        return graft(self.made.nodes(), [(s.node, nodes) for s, nodes in zip(small, grafts, strict=True)])

    def _best(self, sprout: Sprout) -> Split | None:
        assert sprout.cells is not None
        block = sprout.block
        return subtree.best_split(
            sprout.cells, self.terms, sprout.counts, sprout.n_rows, block.lower, block.upper
        )

    def _class_weights(self, begin: int, end: int) -> Counts:
        label = self.rows.label[begin:end]
        if self.rows.weight is None:
            return np.bincount(label, minlength=self.terms.n_classes)
        counts = np.zeros(self.terms.n_classes, dtype=np.int64)
        np.add.at(counts, label, self.rows.weight[begin:end])
        return counts

    def _count(self, sprouts: list[Sprout]) -> None:
        """Fill the cells of those that have none, each thread counting a share of the rows of each."""
        todo = [s for s in sprouts if s.cells is None]

        def share(job: tuple[Sprout, int, int]) -> Cells:
            _, begin, end = job
            cells = subtree.empty_cells(self.rows, self.terms)
            subtree.histogram(self.rows, self.terms, begin, end, cells)
            return cells

        jobs = [(s, begin, end) for s in todo for begin, end in self._shares(s)]
        for (sprout, _, _), cells in zip(jobs, self.pool.map(share, jobs), strict=True):
            sprout.cells = cells if sprout.cells is None else sprout.cells + cells

    def _shares(self, sprout: Sprout) -> list[tuple[int, int]]:
        bounds = np.linspace(sprout.block.begin, sprout.block.end, self.n_jobs + 1).astype(int).tolist()
        return list(pairwise(bounds))

    def _divide(self, grown: list[tuple[Sprout, Split]]) -> list[Sprout]:
        """Partition the rows of every split node; the children are the next sprouts."""
        if not grown:
            return []
        starts = list(self.pool.map(lambda g: self._partition(*g), grown))
        children: list[Sprout] = []
        for (parent, split), bounds in zip(grown, starts, strict=True):
            self.made.test(parent.node, split, self.terms)
            family = self._children(parent, split, bounds.tolist())
            self._inherit(parent, family)
            children += family
        return children

    def _partition(self, sprout: Sprout, split: Split) -> Counts:
        return subtree.partition(self.rows, self.terms, sprout.block.begin, sprout.block.end, split)

    def _children(self, parent: Sprout, split: Split, bounds: list[int]) -> list[Sprout]:
        counts = [self._class_weights(begin, end) for begin, end in pairwise(bounds)]
        family = []
        for slot, (begin, end) in enumerate(pairwise(bounds)):
            lower, upper = child_bounds(parent.block, split, slot, counts, self.terms)
            block = Block(begin, end, parent.block.depth + 1, lower, upper)
            node = self.made.add(parent.node, slot, end - begin, counts[slot])
            family.append(Sprout(node, block, counts[slot]))
        return family

    def _inherit(self, parent: Sprout, family: list[Sprout]) -> None:
        """Give the largest child the parent's cells less those of its siblings."""
        largest = max(family, key=lambda s: s.n_rows)
        if largest.n_rows <= self.grain or not may_split(largest, self.terms):
            return
        siblings = [s for s in family if s is not largest]
        self._count(siblings)
        assert parent.cells is not None
        largest.cells = parent.cells - sum(s.cells for s in siblings if s.cells is not None)
