"""Confidence bounds of a rate or mean, and pessimistic error estimates (Quinlan, C4.5, 1993, chapter 4)."""

from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from hornbeam.errors import ParameterError, shown
from hornbeam.kernels.elementary import beta_cdf, beta_quantile, exp, log, student_bound
from hornbeam.typing import Bools, Floats

_PSEUDO_COUNT = 0.5  # rows added against each bound, so that an estimate of 0 or 1 is never certain
_LARGEST = 700.0  # difference of log-odds: exp of it is finite
_TOLERANCE = 1e-6  # of both C4.5 and J48
# C4.5 interpolates the normal deviate in this table.
_LEVELS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def rate_bounds(belief: Floats, size: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
    """Compute bounds that contain the true rate with the probability `level`; without rows they are 0 and 1.

    `belief` are the estimated rates, `size` the effective number of rows of each. For an estimate p from s rows, the
    lower bound is a quantile of Beta(s p, s (1 - p) + 1/2) and the upper bound a quantile of
    Beta(s p + 1/2, s (1 - p)), with equal tails. With 1 instead of 1/2 it is the interval of Clopper and Pearson
    (Biometrika 26, 1934), which covers more than its level. For p = 0 the lower bound is 0 and the upper one about
    2 / s.
    """
    _check_level(level)
    tail = (1 - level) / 2
    yes, no = size * belief, size * (1 - belief)
    low, high = np.zeros_like(belief), np.ones_like(belief)
    some, none = yes > 0, no <= 0
    low[some] = beta_quantile(yes[some], no[some] + _PSEUDO_COUNT, tail)
    high[~none] = 1 - beta_quantile(no[~none], yes[~none] + _PSEUDO_COUNT, tail)
    # At small levels rounding or the pseudo-count could put the estimate outside.
    return np.minimum(low, belief), np.maximum(high, belief)


def rate_in_bounds(belief: Floats, size: Floats, truth: Floats, level: float = 0.9) -> Bools:
    """Test whether rates lie within `rate_bounds`, without computing the bounds.

    The distribution function takes a tenth of the time of its inverse.
    """
    _check_level(level)
    tail, truth = (1 - level) / 2, np.clip(truth, 0.0, 1.0)
    yes, no = size * belief, size * (1 - belief)
    above = beta_cdf(yes, no + _PSEUDO_COUNT, truth) >= tail
    below = beta_cdf(yes + _PSEUDO_COUNT, no, truth) <= 1 - tail
    within: Bools = (above | (yes <= 0) | (truth >= belief)) & (below | (no <= 0) | (truth <= belief))
    return within


def moved_rate_bounds(
    low: Floats, high: Floats, base: Floats, moved: Floats, wider: Floats
) -> tuple[Floats, Floats]:
    """Move bounds of the rates of a leaf as the terms of a row have moved the rates, and widen them.

    `base` are the rates of the leaf, within the bounds, `moved` those after the terms. The odds of a bound, divided by
    those of the rate, are raised to the power `wider`, which is at least 1: in log-odds the bounds are that many times
    as far from the rate. ``0 <= low <= moved <= high <= 1``. A bound of 0 or 1 stays, and so do the bounds of a rate of
    0 or 1, which no term moves.
    """
    return (
        np.minimum(_moved(low, base, moved, wider), moved),
        np.maximum(_moved(high, base, moved, wider), moved),
    )


def _moved(bound: Floats, base: Floats, moved: Floats, wider: Floats) -> Floats:
    inside = (bound > 0) & (bound < 1) & (base > 0) & (base < 1)
    a, b = np.where(inside, bound, 0.5), np.where(inside, base, 0.5)
    apart = wider * (log(a) - log(1 - a) - log(b) + log(1 - b))
    yes = moved * exp(np.clip(apart, -_LARGEST, _LARGEST))
    found: Floats = np.divide(yes, yes + (1 - moved), out=bound.copy(), where=inside)
    return found


def mean_bounds(mean: Floats, variance: Floats, size: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
    """Compute Student's t bounds of a mean, from the variance of single rows; without rows they are infinite.

    `size` is the effective number of rows, which is also the degrees of freedom, at least 1.
    """
    half = _half_width(variance, size, level)
    return mean - half, mean + half


def mean_in_bounds(mean: Floats, variance: Floats, size: Floats, truth: Floats, level: float = 0.9) -> Bools:
    """Test whether means lie within `mean_bounds`."""
    within: Bools = np.abs(truth - mean) <= _half_width(variance, size, level)
    return within


def _half_width(variance: Floats, size: Floats, level: float) -> Floats:
    _check_level(level)
    bound = student_bound(np.maximum(size, 1.0), level)
    some = np.where(size > 0, size, 1.0)
    half: Floats = np.where(size > 0, bound * np.sqrt(variance / some), np.inf)
    return half


def _check_level(level: Any) -> None:
    if not isinstance(level, Real) or not 0 < level < 1:  # type: ignore[operator]
        raise ParameterError(f"level={shown(level)}: expected a number between 0 and 1. Pass level=0.9, say.")


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
