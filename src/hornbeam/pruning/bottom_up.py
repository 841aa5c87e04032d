"""The bottom-up sweep of most pruners: a node becomes a leaf where that costs no more than its subtree.

Rows that stop at an inner node, with a category never seen or a missing value without a branch, have the prediction of
that node whether or not its subtree is kept, so their cost counts on both sides.

The decision on a node depends on its children alone, so all nodes of one height, a frontier, can be processed in
parallel, one height after the other (Chou, Bayes Risk Pruning, 2021, section 4). So can all nodes of one depth, the
deepest first, in as many rounds: threads share these levels, which are contiguous in memory.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels.pool import Pool
from hornbeam.kernels.sweep import GivenCosts, PruneSweep
from hornbeam.kernels.sweep import frontiers as frontiers_of_arrays
from hornbeam.tree.skeleton import Skeleton
from hornbeam.typing import Bools, Counts, Floats, Indices


def frontiers(skeleton: Skeleton) -> tuple[Indices, Counts]:
    """Order nodes by height, the distance to the deepest leaf below: leaves first, the root last.

    Frontier ``h`` is ``order[begin[h]:begin[h + 1]]``.
    """
    return frontiers_of_arrays(skeleton.first_child, skeleton.n_children)


@dataclass(frozen=True, slots=True)
class WorkSpan:
    """Work and span of a bottom-up sweep, in operations, and the number of nodes of each frontier, leaves first.

    The span is that of the critical path if each frontier is processed in parallel: the sum over frontiers of their
    largest node. A sequential sweep has the work as its span.
    """

    work: float
    span: float
    sizes: tuple[int, ...]

    @property
    def rounds(self) -> int:
        """Number of frontiers."""
        return len(self.sizes)

    @property
    def parallelism(self) -> float:
        """Work divided by span: an upper bound of the speed-up by threads."""
        return self.work / self.span


def work_span(skeleton: Skeleton, work: Floats | None = None) -> WorkSpan:
    """Compute work and span of a bottom-up sweep over a tree."""
    order, begin = frontiers(skeleton)
    each = np.ones(skeleton.n_nodes) if work is None else np.asarray(work, np.float64)
    largest = np.maximum.reduceat(each[order], begin[:-1])
    return WorkSpan(float(each.sum()), float(largest.sum()), tuple(np.diff(begin).tolist()))


_SLICE = 16_384  # nodes per thread: their work is a few times the cost of starting it


def bottom_up(
    skeleton: Skeleton,
    as_leaf: Floats,
    staying: Floats,
    *,
    slack: float = 0.0,
    relative: float = 0.0,
    n_jobs: int = 1,
) -> Bools:
    """Find the nodes that cost no more as leaves than what is kept of their subtrees.

    `as_leaf` is the cost of each node if it is a leaf, `staying` the cost, at an inner node, of the rows that stop
    there. A node is cut where ``as_leaf <= below + slack + relative * abs(below)``. Threads share each level; the
    result does not depend on them.
    """
    costs = GivenCosts(as_leaf, staying)
    sweep = PruneSweep(skeleton.first_child, skeleton.n_children, costs, slack=slack, relative=relative)
    return run_sweep(skeleton, sweep, n_jobs)


def run_sweep(skeleton: Skeleton, sweep: PruneSweep, n_jobs: int = 1) -> Bools:
    """Process every node of a new sweep, and return which become leaves; threads share each wide level."""
    n = skeleton.n_nodes
    if n_jobs == 1 or n < 2 * _SLICE:
        sweep.decide(0, n)
        return sweep.cut
    with Pool(n_jobs) as pool:
        decided = n  # nodes from here on are
        for begin, end in reversed(list(pairwise(skeleton.levels))):
            slices = min(n_jobs, (end - begin) // _SLICE)
            if slices < 2:
                continue
            sweep.decide(end, decided)
            bounds = [begin + (end - begin) * i // slices for i in range(slices + 1)]
            list(pool.map(sweep.decide, bounds[:-1], bounds[1:]))
            decided = begin
        sweep.decide(0, decided)
    return sweep.cut


def stopping_at_inner[T: np.generic](skeleton: Skeleton, counts: NDArray[T]) -> NDArray[T]:
    """Count the rows that stop at each inner node: its count minus that of its children; 0 on leaves."""
    out: NDArray[Any] = np.zeros_like(counts)
    if not np.array_equal(counts[skeleton.is_leaf].sum(axis=0), counts[0]):  # else every row is in a leaf
        inner = np.flatnonzero(skeleton.n_children)
        below = np.add.reduceat(counts[1:], skeleton.first_child[inner] - 1, axis=0)
        out[inner] = np.subtract(counts[inner], below)
    return out
