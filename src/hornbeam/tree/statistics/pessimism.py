"""Pessimistic error estimates (Quinlan, C4.5, 1993, chapter 4)."""

from functools import lru_cache

import numpy as np

from hornbeam.kernels.elementary import exp, log
from hornbeam.typing import Floats

__all__ = ["pessimistic_errors"]

_TOLERANCE = 1e-6  # of both C4.5 and J48

# C4.5 interpolates the normal deviate in this table.
_LEVELS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def pessimistic_errors(n: Floats, e: Floats, confidence: float = 0.25, constants: str = "j48") -> Floats:
    """Compute the upper confidence limit of the number of errors, from the weights of rows `n` and of errors `e`.

    A smaller `confidence` gives a larger limit; without rows it is 0. With the `constants` of ``j48``, the normal
    deviate is exact, the limit is `n` if ``e + 1/2 >= n``, and `e` for a confidence above 0.5. With those of ``c4.5``,
    the deviate is from the table of that program, and if ``e + 1/2 >= n``, two thirds of the other rows are added.
    """
    if constants == "j48" and confidence > 0.5:
        return e
    some = n > _TOLERANCE
    safe = np.where(some, n, 1.0)
    none_seen = safe * (1 - exp(log(confidence) / safe))
    one_seen = 1 + _added(safe, np.ones_like(e), confidence, constants)
    few = none_seen + e * (one_seen - none_seen)
    many = e + _added(safe, np.maximum(e, 1.0), confidence, constants)
    expected: Floats = np.where(some, np.where(e < 1 - _TOLERANCE, few, many), 0.0)
    return expected


def _added(n: Floats, e: Floats, confidence: float, constants: str) -> Floats:
    """Compute the limit minus `e`, for `e` of 1 or more."""
    z, rest = _deviate_and_share(confidence, constants)
    f = np.minimum((e + 0.5) / n, 1.0)
    limit = (f + z * z / (2 * n) + z * np.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n)
    added: Floats = np.where(e + 0.5 >= n, rest * np.maximum(n - e, 0.0), n * limit - e)
    return added


@lru_cache(maxsize=64)
def _deviate_and_share(confidence: float, constants: str) -> tuple[float, float]:
    """Return the normal deviate, and the share of the other rows that is added if nearly all rows are errors."""
    if constants == "j48":
        from statistics import NormalDist  # slow to import

        # Rounded, because the last bits depend on the C library.
        return round(NormalDist().inv_cdf(1 - confidence), 12), 1.0
    return float(np.interp(confidence, _LEVELS, _DEVIATES)), 0.67
