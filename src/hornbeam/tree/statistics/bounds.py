"""Confidence bounds of a rate or mean, from its estimate and the effective number of rows."""

from numbers import Real
from typing import Any

import numpy as np

from hornbeam.errors import ParameterError, shown
from hornbeam.kernels.beta import beta_cdf, beta_quantile, student_bound
from hornbeam.typing import Bools, Floats

__all__ = ["mean_bounds", "mean_in_bounds", "moved_rate_bounds", "rate_bounds", "rate_in_bounds"]

_PSEUDO_COUNT = 0.5  # rows added against each bound, so that an estimate of 0 or 1 is never certain


def rate_bounds(belief: Floats, size: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
    """Compute bounds that contain the true rate with a given probability.

    Parameters
    ----------
    belief : float64 array
        The estimated rates.
    size : float64 array
        The effective number of rows of each, of a shape that broadcasts with `belief`.
    level : float, default 0.9
        Probability that the true rate is within the bounds.

    Returns
    -------
    low, high : float64 arrays
        Without rows: 0 and 1.

    Notes
    -----
    For an estimate p from s rows, the lower bound is a quantile of Beta(s p, s (1 - p) + 1/2) and the upper bound a
    quantile of Beta(s p + 1/2, s (1 - p)), with equal tails. With 1 instead of 1/2 it is the interval of Clopper and
    Pearson (Biometrika 26, 1934), which covers more than its level. For p = 0 the lower bound is 0 and the upper one
    about 2 / s.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = rate_bounds(np.array([0.0, 0.5]), np.array([10.0, 40.0]))
    >>> low.round(3), high.round(3)
    (array([0.   , 0.366]), array([0.179, 0.634]))
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

    Examples
    --------
    >>> import numpy as np
    >>> rate_in_bounds(np.array([0.5, 0.5]), np.array([40.0, 40.0]), np.array([0.37, 0.36])).tolist()
    [True, False]
    """
    _check_level(level)
    tail, truth = (1 - level) / 2, np.clip(truth, 0.0, 1.0)
    yes, no = size * belief, size * (1 - belief)
    above = beta_cdf(yes, no + _PSEUDO_COUNT, truth) >= tail
    below = beta_cdf(yes + _PSEUDO_COUNT, no, truth) <= 1 - tail
    within: Bools = (above | (yes <= 0) | (truth >= belief)) & (below | (no <= 0) | (truth <= belief))
    return within


def moved_rate_bounds(low: Floats, high: Floats, base: Floats, moved: Floats) -> tuple[Floats, Floats]:
    """Move bounds of rates as the terms of a row have moved the rates: the odds by the same factor.

    Parameters
    ----------
    low, high : float64 arrays
        Bounds of the rates of a leaf.
    base : float64 array
        The rates of the leaf, within the bounds.
    moved : float64 array
        The rates after the terms.

    Returns
    -------
    low, high : float64 arrays
        ``0 <= low <= moved <= high <= 1``. For two classes they are the softmax of the bounds with the same terms. A
        bound of 0 or 1 stays, and so do the bounds of a rate of 0 or 1, which no term moves.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(1)
    >>> low, high = moved_rate_bounds(0.1 * one, 0.5 * one, base=0.2 * one, moved=0.5 * one)  # odds times 4
    >>> low.round(3), high.round(3)
    (array([0.308]), array([0.8]))
    """
    return np.minimum(_moved(low, base, moved), moved), np.maximum(_moved(high, base, moved), moved)


def _moved(bound: Floats, base: Floats, moved: Floats) -> Floats:
    yes = bound * moved * (1 - base)
    total = yes + (1 - bound) * (1 - moved) * base
    found: Floats = np.divide(yes, total, out=bound.copy(), where=total > 0)
    return found


def mean_bounds(mean: Floats, variance: Floats, size: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
    """Compute Student's t bounds of a mean.

    Parameters
    ----------
    mean : float64 array
    variance : float64 array
        Of single rows.
    size : float64 array
        The effective number of rows, which is also the degrees of freedom, at least 1.
    level : float, default 0.9
        Probability that the true mean is within the bounds.

    Returns
    -------
    low, high : float64 arrays
        Without rows infinite.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = mean_bounds(np.array([5.0]), np.array([4.0]), np.array([16.0]))
    >>> low.round(3), high.round(3)
    (array([4.127]), array([5.873]))
    """
    half = _half_width(variance, size, level)
    return mean - half, mean + half


def mean_in_bounds(mean: Floats, variance: Floats, size: Floats, truth: Floats, level: float = 0.9) -> Bools:
    """Test whether means lie within `mean_bounds`.

    Examples
    --------
    >>> import numpy as np
    >>> mean_in_bounds(np.array([5.0]), np.array([4.0]), np.array([16.0]), np.array([5.8])).tolist()
    [True]
    """
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
