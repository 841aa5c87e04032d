"""Slow, obvious twin of the minimisation of a smooth function within bounds: NumPy, one vector at a time."""

from collections.abc import Callable

import numpy as np

from hornbeam.kernels.elementary import dot
from hornbeam.typing import Bools, Floats

_MEMORY = 10  # steps from which the curvature is estimated
_ENOUGH = 1e-4  # least decrease of a step, as a part of the decrease that the gradient predicts
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
    """Find the minimum of a function, which returns value and gradient, by projected L-BFGS.

    It stops when a step lowers the value by no more than `tolerance` of it, or of 1, or when no coordinate that may
    move has a derivative above `gradient_tolerance`. Limited-memory BFGS (Liu and Nocedal, 1989) on the coordinates
    that are not held at a bound, and a backtracking search along the projected direction. Sums are computed in a fixed
    order; the BLAS of SciPy's optimisers chooses an order by the processor.
    """
    low, high = bounds
    at = np.clip(start, low, high)
    value, gradient = function(at)
    pairs: list[tuple[Floats, Floats, float]] = []
    for _ in range(max_steps):
        free = ~(((at <= low) & (gradient > 0)) | ((at >= high) & (gradient < 0)))
        if not free.any() or np.abs(gradient[free]).max() <= gradient_tolerance:
            break
        direction = -_inverse_hessian(np.where(free, gradient, 0.0), pairs, free)
        if dot(direction, gradient) >= 0:  # not a descent direction: restart without memory
            pairs, direction = [], -np.where(free, gradient, 0.0)
        step = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(direction).max()))
        for _ in range(_HALVINGS):
            new = np.clip(at + step * direction, low, high)
            new_value, new_gradient = function(new)
            if new_value <= value + _ENOUGH * dot(gradient, new - at):
                break
            step /= 2
        else:
            break
        moved, change = new - at, new_gradient - gradient
        curvature = dot(moved, change)
        if curvature > np.finfo(float).eps * dot(change, change):
            pairs = [*pairs[1 - _MEMORY :], (moved, change, curvature)]
        gained, scale = value - new_value, max(abs(value), abs(new_value), 1.0)
        at, value, gradient = new, new_value, new_gradient
        if gained <= tolerance * scale:
            break
    return at


def _inverse_hessian(gradient: Floats, pairs: list[tuple[Floats, Floats, float]], free: Bools) -> Floats:
    """Multiply a gradient by the inverse Hessian estimated from the last steps, on the free coordinates."""
    if not pairs:
        return gradient
    vector, factors = gradient, []
    for moved, change, curvature in reversed(pairs):
        factor = dot(moved, vector) / curvature
        vector = vector - factor * change
        factors.append(factor)
    _, change, curvature = pairs[-1]
    vector = vector * (curvature / dot(change, change))
    for (moved, change, curvature), factor in zip(pairs, reversed(factors), strict=True):
        vector = vector + (factor - dot(change, vector) / curvature) * moved
    return np.where(free, vector, 0.0)
