"""How far from a believed rate the true one may be, by the number of rows that speak for it."""

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.typing import Floats

__all__ = ["rate_bounds"]

_AGAINST = 0.5  # rows that speak against each bound, so that no finite number of rows proves a 0 or a 1


def rate_bounds(belief: Floats, size: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
    """Give bounds between which true rates lie, most of the time.

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
    26, 1934), which is wider than it says; half a row against each bound keeps its manners at the edges: of
    no rows among s the lower bound is 0 and the upper one about 2 / s.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = rate_bounds(np.array([0.0, 0.5]), np.array([10.0, 40.0]))
    >>> low.round(3), high.round(3)
    (array([0.   , 0.366]), array([0.179, 0.634]))
    """
    from scipy.special import betaincinv  # costs a moment to load: only for those who ask

    if not 0 < level < 1:
        raise ParameterError(f"level={level!r}: expected a number between 0 and 1. Pass level=0.9, say.")
    tail = (1 - level) / 2
    yes, no = size * belief, size * (1 - belief)
    low, high = np.zeros_like(belief), np.ones_like(belief)
    some, none = yes > 0, no <= 0
    low[some] = betaincinv(yes[some], no[some] + _AGAINST, tail)
    high[~none] = betaincinv(yes[~none] + _AGAINST, no[~none], 1 - tail)
    # At small levels rounding, or half a row, could put the belief itself outside.
    return np.minimum(low, belief), np.maximum(high, belief)
