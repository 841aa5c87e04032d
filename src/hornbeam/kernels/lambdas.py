"""The kernel of LambdaMART: pulls and weights of rows, from all pairs of a query."""

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
    """Return the pull and the weight of every row; those of query q are ``rows[starts[q]:starts[q + 1]]``."""
    pull, weight = _native.lambdas(score, gain, rows, starts, sigma, truncation or 0, normalize)
    return pull, weight
