"""Minimisation of a smooth function within bounds, with the same bits on every machine."""

from collections.abc import Callable

import numpy as np

from hornbeam.kernels.sums import dot
from hornbeam.typing import Bools, Floats

__all__ = ["minimise"]

_MEMORY = 10  # steps from which the curvature is estimated
_ENOUGH = 1e-4  # of the decrease that the slope promises
_HALVINGS = 40


def minimise(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: tuple[float, float],
    *,
    tolerance: float,
    gradient_tolerance: float = 1e-9,
    max_steps: int = 1000,
) -> Floats:
    """Find where a function is least, by projected L-BFGS.

    Parameters
    ----------
    function : callable
        From a point to the value there and its gradient.
    start : float64 array
    bounds : tuple of float
        The least and the largest value of every coordinate.
    tolerance : float
        Stop where a step lowers the value by no more than this part of it, or of 1.
    gradient_tolerance : float, default 1e-9
        Stop where no coordinate that may move has a larger derivative.
    max_steps : int, default 1000

    Returns
    -------
    float64 array

    Notes
    -----
    Limited-memory BFGS (Liu and Nocedal, 1989) on the coordinates that are not held at a bound, and a backtracking
    search along the projection of the direction. Sums are added up one after the other, where BLAS, which SciPy's
    optimisers use, chooses an order by the processor.

    Examples
    --------
    >>> def bowl(x):
    ...     return float(((x - [1.0, 9.0]) ** 2).sum()), 2 * (x - [1.0, 9.0])
    >>> minimise(bowl, np.zeros(2), (-5.0, 5.0), tolerance=1e-12).round(6)
    array([1., 5.])
    """
    low, high = bounds
    at = np.clip(start, low, high)
    value, slope = function(at)
    pairs: list[tuple[Floats, Floats, float]] = []
    for _ in range(max_steps):
        free = ~(((at <= low) & (slope > 0)) | ((at >= high) & (slope < 0)))
        if not free.any() or np.abs(slope[free]).max() <= gradient_tolerance:
            break
        direction = -_curved(np.where(free, slope, 0.0), pairs, free)
        if dot(direction, slope) >= 0:  # the memory misleads: begin anew
            pairs, direction = [], -np.where(free, slope, 0.0)
        step = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(direction).max()))
        for _ in range(_HALVINGS):
            then = np.clip(at + step * direction, low, high)
            lower, steeper = function(then)
            if lower <= value + _ENOUGH * dot(slope, then - at):
                break
            step /= 2
        else:
            break
        moved, bent = then - at, steeper - slope
        curvature = dot(moved, bent)
        if curvature > np.finfo(float).eps * dot(bent, bent):
            pairs = [*pairs[1 - _MEMORY :], (moved, bent, curvature)]
        gained, scale = value - lower, max(abs(value), abs(lower), 1.0)
        at, value, slope = then, lower, steeper
        if gained <= tolerance * scale:
            break
    return at


def _curved(slope: Floats, pairs: list[tuple[Floats, Floats, float]], free: Bools) -> Floats:
    """Multiply a gradient by the inverse curvature that the last steps tell, on the free coordinates."""
    if not pairs:
        return slope
    vector, factors = slope, []
    for moved, bent, curvature in reversed(pairs):
        factor = dot(moved, vector) / curvature
        vector = vector - factor * bent
        factors.append(factor)
    _, bent, curvature = pairs[-1]
    vector = vector * (curvature / dot(bent, bent))
    for (moved, bent, curvature), factor in zip(pairs, reversed(factors), strict=True):
        vector = vector + (factor - dot(bent, vector) / curvature) * moved
    return np.where(free, vector, 0.0)
