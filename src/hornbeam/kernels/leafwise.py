"""The kernels of boosting: gradients, trees of sums grown best first from encoded rows that stay in place, scores."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import _native
from hornbeam.kernels.subtree import Nodes, Rules
from hornbeam.typing import Counts, Floats, Indices

BoostingRows = _native.BoostingRows


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
    rows: BoostingRows,
    gradients: Gradients,
    order: NDArray[np.int32] | None,
    n_train: int,
    rules: Rules,
    least_hessian: float,
    dispersion: float,
    max_leaves: int | None,
    key: int,
    n_jobs: int = 1,
) -> tuple[Nodes, Indices]:
    """Grow a tree of at most ``max_leaves`` leaves; return its nodes, and the node where each row ends.

    Each leaf has at least one step of hessians, and ``least_hessian``. Units and dispersion of ``rules`` are not read.

    ``order`` lists row numbers, first the ``n_train`` training rows, then rows that are only routed; it is reordered.
    None: all rows. The result depends neither on the order nor on the threads.
    """
    nodes, node = rows.grow(
        gradients.numerator,
        gradients.denominator,
        gradients.times,
        order,
        n_train,
        rules,
        gradients.numerator_scale,
        gradients.denominator_scale,
        gradients.shift,
        least_hessian,
        dispersion,
        max_leaves or 0,
        key,
        n_jobs,
    )
    return Nodes(*nodes), node


def log_loss_gradients(scores: Floats, target: Indices) -> tuple[Floats, Floats]:
    """Return the class minus its probability p, and p (1 - p), from the log-odds of the second of two classes."""
    gradient, hessian = np.empty_like(scores), np.empty_like(scores)
    _native.gradients_of_log_loss(scores.ravel(), target, gradient.ravel(), hessian.ravel())
    return gradient, hessian


def softmax_gradients(scores: Floats, target: Indices, factor: float) -> tuple[Floats, Floats]:
    """Return the class indicators minus the probabilities p, and ``factor`` p (1 - p); all of shape [class, row]."""
    gradient, hessian = np.empty_like(scores), np.empty_like(scores)
    _native.gradients_of_softmax(scores, target, factor, gradient, hessian)
    return gradient, hessian


def add_values(scores: Floats, values: Floats, node: Indices) -> float:
    """Add the value of its node to the score of each row; return the largest absolute score, NaN if any is."""
    return _native.add_values(scores, values, node)


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
