"""Bounds for a true rate or mean, given its estimate and an effective number of rows."""

from numbers import Real
from typing import Any

import numpy as np

from hornbeam.errors import ParameterError, shown
from hornbeam.kernels.beta import beta_cdf, beta_quantile, student_bound
from hornbeam.typing import Bools, Floats

__all__ = ["holds_mean", "holds_rate", "mean_bounds", "rate_bounds"]

_AGAINST = 0.5  # rows that speak against each bound, so that no finite number of rows proves a 0 or a 1


def rate_bounds(belief: Floats, size: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
    """Give bounds between which true rates lie, with a stated probability.

    Parameters
    ----------
    belief : float64 array
        The believed rates.
    size : float64 array
        How many rows speak for each, of a shape that goes with `belief`.
    level : float, default 0.9
        How often the true rate is to be within.

    Returns
    -------
    low, high : float64 arrays
        Without rows: 0 and 1.

    Notes
    -----
    Where s rows speak for a rate of p, the equal-tailed bounds are those of Beta(s p, s (1 - p) + 1/2) below and
    Beta(s p + 1/2, s (1 - p)) above. With 1 for 1/2 that is the interval of Clopper and Pearson (Biometrika
    26, 1934), which is wider than its level; half a row against each bound keeps it finite at the edges: of
    no rows among s the lower bound is 0 and the upper one about 2 / s.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = rate_bounds(np.array([0.0, 0.5]), np.array([10.0, 40.0]))
    >>> low.round(3), high.round(3)
    (array([0.   , 0.366]), array([0.179, 0.634]))
    """
    _check(level)
    tail = (1 - level) / 2
    yes, no = size * belief, size * (1 - belief)
    low, high = np.zeros_like(belief), np.ones_like(belief)
    some, none = yes > 0, no <= 0
    low[some] = beta_quantile(yes[some], no[some] + _AGAINST, tail)
    high[~none] = 1 - beta_quantile(no[~none], yes[~none] + _AGAINST, tail)
    # At small levels rounding, or half a row, could put the belief itself outside.
    return np.minimum(low, belief), np.maximum(high, belief)


def holds_rate(belief: Floats, size: Floats, truth: Floats, level: float = 0.9) -> Bools:
    """Say whether true rates lie within `rate_bounds`, without computing the bounds.

    The distribution function takes a tenth of the time of its inverse.

    Examples
    --------
    >>> import numpy as np
    >>> holds_rate(np.array([0.5, 0.5]), np.array([40.0, 40.0]), np.array([0.37, 0.36])).tolist()
    [True, False]
    """
    _check(level)
    tail, truth = (1 - level) / 2, np.clip(truth, 0.0, 1.0)
    yes, no = size * belief, size * (1 - belief)
    above = beta_cdf(yes, no + _AGAINST, truth) >= tail
    below = beta_cdf(yes + _AGAINST, no, truth) <= 1 - tail
    held: Bools = (above | (yes <= 0) | (truth >= belief)) & (below | (no <= 0) | (truth <= belief))
    return held


def mean_bounds(mean: Floats, variance: Floats, size: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
    """Give Student's bounds for a true mean.

    Parameters
    ----------
    mean : float64 array
    variance : float64 array
        Of single rows.
    size : float64 array
        The effective number of rows, which is also the degrees of freedom, at least 1.
    level : float, default 0.9
        How often the true mean is to be within.

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
    half = _half(variance, size, level)
    return mean - half, mean + half


def holds_mean(mean: Floats, variance: Floats, size: Floats, truth: Floats, level: float = 0.9) -> Bools:
    """Say whether true means lie within `mean_bounds`.

    Examples
    --------
    >>> import numpy as np
    >>> holds_mean(np.array([5.0]), np.array([4.0]), np.array([16.0]), np.array([5.8])).tolist()
    [True]
    """
    held: Bools = np.abs(truth - mean) <= _half(variance, size, level)
    return held


def _half(variance: Floats, size: Floats, level: float) -> Floats:
    _check(level)
    bound = student_bound(np.maximum(size, 1.0), level)
    some = np.where(size > 0, size, 1.0)
    half: Floats = np.where(size > 0, bound * np.sqrt(variance / some), np.inf)
    return half


def _check(level: Any) -> None:
    if not isinstance(level, Real) or not 0 < level < 1:  # type: ignore[operator]
        raise ParameterError(f"level={shown(level)}: expected a number between 0 and 1. Pass level=0.9, say.")
