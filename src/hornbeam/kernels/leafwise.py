"""The kernels of boosting: a tree of sums grown best first, from encoded rows that stay in place; LambdaMART."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import _native
from hornbeam.kernels.subtree import GrowthSpec, Nodes
from hornbeam.typing import Codes, Counts, Floats, Indices


class Gradients(NamedTuple):
    """Per-row gradients and hessians, and their fixed-point scales.

    The numerator (negative gradient) times ``numerator_scale`` is rounded to an integer, and so is the denominator
    (hessian; None: 1 per row). Both are multiplied by the number of times that the row counts (None: once).
    ``shift`` bits are reserved for the sum of the times.
    """

    numerator: Floats
    denominator: Floats | None
    times: Indices | None
    numerator_scale: float
    denominator_scale: float
    shift: int


def grow_leafwise(
    codes: Codes,
    gradients: Gradients,
    order: NDArray[np.int32],
    n_train: int,
    spec: GrowthSpec,
    max_leaves: int | None,
    key: int,
    n_jobs: int = 1,
) -> tuple[Nodes, Indices]:
    """Grow a tree of at most ``max_leaves`` leaves; return its nodes, and the node where each row ends.

    ``order`` lists row numbers, first the ``n_train`` training rows, then rows that are only routed; it is reordered.
    The result depends neither on the order nor on the threads.
    """
    nodes, node = _native.grow_leafwise(
        codes,
        gradients.numerator,
        gradients.denominator,
        gradients.times,
        order,
        n_train,
        spec.columns,
        spec.rules,
        gradients.numerator_scale,
        gradients.denominator_scale,
        gradients.shift,
        max_leaves or 0,
        key,
        n_jobs,
    )
    return Nodes(*nodes), node


def lambdas(
    score: Floats,
    gain: Floats,
    rows: Counts,
    starts: Counts,
    sigma: float,
    truncation: int | None,
    normalize: bool,
) -> tuple[Floats, Floats]:
    """Return the negative gradient and the weight per row; query q has ``rows[starts[q]:starts[q + 1]]``."""
    gradient, weight = _native.lambdas(score, gain, rows, starts, sigma, truncation or 0, normalize)
    return gradient, weight
