"""How small a tree may be, asked of held-out rows."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from hornbeam.pruning import LeafPrice
from hornbeam.tree.standard import Standard
from hornbeam.tree.tree import Tree
from hornbeam.tuning.folds import Regrown, stops
from hornbeam.tuning.trial import losses
from hornbeam.typing import Floats

__all__ = ["choose_price"]

_FREE = 0.2  # a price that cost no accuracy to speak of on any kind of data
_PRICES = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def choose_price(simplicity: float, regrown: Sequence[Regrown], beliefs: Sequence[Floats]) -> LeafPrice:
    """Find the highest price of a leaf that held-out rows can bear.

    Parameters
    ----------
    simplicity : float
        How many standard errors the squared loss may rise above that of the lowest price.
    regrown : sequence of Regrown
    beliefs : sequence of float64 arrays
        What each of these trees believes.

    Returns
    -------
    LeafPrice
        At simplicity 0, or if no rows were held out, the lowest.

    Notes
    -----
    Of a numeric target prices are parts of the squared error that trees still have on held-out rows, not of all
    there was: where little is left to chance, small differences are worth a leaf.
    """
    if not regrown:
        return LeafPrice(_FREE)
    measured = regrown[0].tree.is_measured
    left = _unexplained(regrown, beliefs) if measured else 1.0
    chosen = LeafPrice(round(_FREE * left, 4))
    if simplicity == 0:
        return chosen
    trees = [one.believing(belief) for one, belief in zip(regrown, beliefs, strict=True)]
    held = np.concatenate([one.held for one in regrown])
    compare = _squared_difference if measured else _difference
    base = _answers(trees, chosen)
    for price in (LeafPrice(round(price * left, 4)) for price in _PRICES):
        rise, error = compare(_answers(trees, price), base, held)
        if rise > simplicity * error:
            break
        chosen = price
    return chosen


def _unexplained(regrown: Sequence[Regrown], beliefs: Sequence[Floats]) -> float:
    """Squared error of held-out rows as a part of their squared distance from the mean of all."""
    mean = Standard.of(*(one.tree for one in regrown)).mean
    held, said = np.concatenate([one.held for one in regrown]), np.concatenate(list(beliefs))[:, 0]
    weight, total, square = held.T
    lost, all_of_it = ((square - 2 * a * total + a * a * weight).sum() for a in (said, mean))
    return float(np.clip(lost / all_of_it, 0.0, 1.0)) if all_of_it > 0 else 1.0


def _answers(trees: Sequence[Tree], pruner: LeafPrice) -> Floats:
    """Tell what held-out rows of each node are answered, if the trees are pruned."""
    return np.concatenate([tree.belief[stops(tree.skeleton, pruner.cuts(tree))] for tree in trees])


def _difference(answer: Floats, base: Floats, held: Floats) -> tuple[float, float]:
    """Mean difference of the squared losses of all held-out rows, and its standard error."""
    apart = losses(answer, "brier") - losses(base, "brier")
    rows = held.sum()
    mean = float((held * apart).sum() / rows)
    spread = float((held * np.square(apart - mean)).sum() / rows)
    return mean, sqrt(spread / rows)


def _squared_difference(answer: Floats, base: Floats, held: Floats) -> tuple[float, float]:
    """The same of a numeric target, whose rows are known by weight, sum and sum of squares.

    A row of y, answered a instead of b, loses (a**2 - b**2) - 2 y (a - b) more.
    """
    weight, total, square = held.T
    a, b = answer[:, 0], base[:, 0]
    rows, fixed, by_y = weight.sum(), a * a - b * b, -2 * (a - b)
    mean = float((weight * fixed + total * by_y).sum() / rows)
    spread = (
        float((weight * fixed * fixed + 2 * total * fixed * by_y + square * by_y * by_y).sum() / rows)
        - mean * mean
    )
    return mean, sqrt(max(spread, 0.0) / rows)
