"""The kernel of boosting: a tree of sums grown best first, from coded rows that stay where they are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam import _native
from hornbeam.kernels.subtree import GrowthSpec, Nodes
from hornbeam.typing import Codes, Floats, Indices

__all__ = ["Gradients", "grow_leafwise"]


class Gradients(NamedTuple):
    """What rows are added up as, and the steps it is rounded to.

    A row's numerator times ``numerator_scale`` is rounded to a whole number, and so is its denominator (None: 1 for
    each row); both are multiplied by the times the row counts (None: once). ``shift`` bits hold the times of all rows.
    """

    numerator: Floats
    denominator: Floats | None
    times: Indices | None
    numerator_scale: float
    denominator_scale: float
    shift: int


def grow_leafwise(
    codes: Codes,
    pulls: Gradients,
    order: NDArray[np.int32],
    n_added: int,
    terms: GrowthSpec,
    max_leaves: int | None,
    key: int,
    n_jobs: int = 1,
) -> tuple[Nodes, Indices]:
    """Grow a tree of at most so many leaves; return its nodes, and for each row the one that answers for it.

    ``order`` lists rows, first the ``n_added`` that are added up, then those that only look on; it is reordered. The
    result depends neither on the order nor on the threads.
    """
    *arrays, numerator_scale, denominator_scale, shift = pulls
    nodes, node = _native.grow_leafwise(
        codes,
        *arrays,
        order,
        n_added,
        terms.columns,
        terms.rules,
        numerator_scale,
        denominator_scale,
        shift,
        max_leaves or 0,
        key,
        n_jobs,
    )
    return Nodes(*nodes), node
