"""Frontiers: nodes that can be processed in parallel in a bottom-up sweep.

The decision on a node depends on its children alone, so all nodes of one height can be processed in parallel, one
height after the other (Chou, Bayes Risk Pruning, 2021, section 4).
"""

from dataclasses import dataclass

import numpy as np

from hornbeam.kernels import sweep
from hornbeam.tree.skeleton import Skeleton
from hornbeam.typing import Counts, Floats, Indices

__all__ = ["WorkSpan", "frontiers", "work_span"]


def frontiers(skeleton: Skeleton) -> tuple[Indices, Counts]:
    """Order nodes by height, the distance to the deepest leaf below: leaves first, the root last.

    Frontier ``h`` is ``order[begin[h]:begin[h + 1]]``.
    """
    return sweep.frontiers(skeleton.first_child, skeleton.n_children)


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
    """Compute work and span of a bottom-up sweep over a tree.

    Parameters
    ----------
    skeleton : Skeleton
    work : float64 array of shape (n_nodes,), optional
        Operations per node; default 1. Bayes risk takes K * K + n_children of them.

    Returns
    -------
    WorkSpan

    Examples
    --------
    >>> import numpy as np
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])
    >>> found = work_span(stump)
    >>> found.work, found.span, found.rounds, found.parallelism
    (3.0, 2.0, 2, 1.5)
    """
    order, begin = frontiers(skeleton)
    each = np.ones(skeleton.n_nodes) if work is None else np.asarray(work, np.float64)
    largest = np.maximum.reduceat(each[order], begin[:-1])
    return WorkSpan(float(each.sum()), float(largest.sum()), tuple(np.diff(begin).tolist()))
