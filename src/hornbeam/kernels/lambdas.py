"""The kernel of LambdaMART: negative gradients and weights of rows, from all pairs of a query."""

from hornbeam import _native
from hornbeam.typing import Counts, Floats

__all__ = ["lambdas"]


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
