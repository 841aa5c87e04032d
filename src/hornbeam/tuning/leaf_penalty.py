"""How small a tree may be, asked of held-out rows."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from hornbeam.pruning import LeafPrice
from hornbeam.tree.evidence.standardised import StandardisedTarget
from hornbeam.tree.tree import Tree
from hornbeam.tuning.candidate_losses import losses
from hornbeam.tuning.folds import FoldTree, end_nodes
from hornbeam.typing import Floats

__all__ = ["choose_penalty"]

_FREE = 0.2  # a price that cost no accuracy to speak of on any kind of data
_PENALTIES = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def choose_penalty(simplicity: float, regrown: Sequence[FoldTree], beliefs: Sequence[Floats]) -> LeafPrice:
    """Find the highest price of a leaf that held-out rows can bear.

    Parameters
    ----------
    simplicity : float
        How many standard errors the squared loss may rise above that of the lowest price.
    regrown : sequence of FoldTree
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
    measured = regrown[0].tree.is_regression
    left = _unexplained(regrown, beliefs) if measured else 1.0
    chosen = LeafPrice(round(_FREE * left, 4))
    if simplicity == 0:
        return chosen
    trees = [one.believing(belief) for one, belief in zip(regrown, beliefs, strict=True)]
    held = np.concatenate([one.held for one in regrown])
    compare = _squared_difference if measured else _difference
    base = _predictions(trees, chosen)
    for price in (LeafPrice(round(price * left, 4)) for price in _PENALTIES):
        rise, error = compare(_predictions(trees, price), base, held)
        if rise > simplicity * error:
            break
        chosen = price
    return chosen


def _unexplained(regrown: Sequence[FoldTree], beliefs: Sequence[Floats]) -> float:
    """Squared error of held-out rows as a part of their squared distance from the mean of all."""
    mean = StandardisedTarget.of(*(one.tree for one in regrown)).mean
    held, said = np.concatenate([one.held for one in regrown]), np.concatenate(list(beliefs))[:, 0]
    weight, total, square = held.T
    lost, all_of_it = ((square - 2 * a * total + a * a * weight).sum() for a in (said, mean))
    return float(np.clip(lost / all_of_it, 0.0, 1.0)) if all_of_it > 0 else 1.0


def _predictions(trees: Sequence[Tree], pruner: LeafPrice) -> Floats:
    """Tell what held-out rows of each node are answered, if the trees are pruned."""
    return np.concatenate([tree.belief[end_nodes(tree.skeleton, pruner.cuts(tree))] for tree in trees])


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
