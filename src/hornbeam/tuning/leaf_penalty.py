"""The price of a leaf, chosen on held-out rows."""

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

_LOWEST = 0.2  # a price without a noticeable loss of accuracy on any kind of data
_PENALTIES = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def choose_penalty(simplicity: float, fold_trees: Sequence[FoldTree], beliefs: Sequence[Floats]) -> LeafPrice:
    """Find the highest price of a leaf at which the loss of held-out rows hardly rises.

    Parameters
    ----------
    simplicity : float
        Standard errors by which the squared loss may rise above that of the lowest price.
    fold_trees : sequence of FoldTree
    beliefs : sequence of float64 arrays
        The smoothed predictions of each of these trees.

    Returns
    -------
    LeafPrice
        At simplicity 0, or if no rows were held out, the lowest.

    Notes
    -----
    In regression prices are in partitions of the squared error that trees still have on held-out rows, not of the total
    variance: where little noise is left, small differences justify a leaf.
    """
    if not fold_trees:
        return LeafPrice(_LOWEST)
    regression = fold_trees[0].tree.is_regression
    unexplained = _unexplained(fold_trees, beliefs) if regression else 1.0
    chosen = LeafPrice(round(_LOWEST * unexplained, 4))
    if simplicity == 0:
        return chosen
    trees = [one.with_belief(belief) for one, belief in zip(fold_trees, beliefs, strict=True)]
    held = np.concatenate([one.held for one in fold_trees])
    compare = _squared_difference if regression else _difference
    base = _predictions(trees, chosen)
    for price in (LeafPrice(round(price * unexplained, 4)) for price in _PENALTIES):
        rise, error = compare(_predictions(trees, price), base, held)
        if rise > simplicity * error:
            break
        chosen = price
    return chosen


def _unexplained(fold_trees: Sequence[FoldTree], beliefs: Sequence[Floats]) -> float:
    """Return the squared error of held-out rows divided by that of the mean of all rows."""
    mean = StandardisedTarget.of(*(one.tree for one in fold_trees)).mean
    held, predicted = np.concatenate([one.held for one in fold_trees]), np.concatenate(list(beliefs))[:, 0]
    weight, total, square = held.T
    error, variance = ((square - 2 * a * total + a * a * weight).sum() for a in (predicted, mean))
    return float(np.clip(error / variance, 0.0, 1.0)) if variance > 0 else 1.0


def _predictions(trees: Sequence[Tree], pruner: LeafPrice) -> Floats:
    """Return the prediction for the held-out rows of each node, if the trees are pruned."""
    return np.concatenate([tree.belief[end_nodes(tree.skeleton, pruner.cuts(tree))] for tree in trees])


def _difference(predicted: Floats, base: Floats, held: Floats) -> tuple[float, float]:
    """Return the mean difference of the squared losses of all held-out rows, and its standard error."""
    difference = losses(predicted, "brier") - losses(base, "brier")
    rows = held.sum()
    mean = float((held * difference).sum() / rows)
    variance = float((held * np.square(difference - mean)).sum() / rows)
    return mean, sqrt(variance / rows)


def _squared_difference(predicted: Floats, base: Floats, held: Floats) -> tuple[float, float]:
    """Return the same for a regression tree, from weight, sum and sum of squares of the held-out rows.

    A row of target y with the prediction a instead of b has a squared loss higher by (a**2 - b**2) - 2 y (a - b).
    """
    weight, total, square = held.T
    a, b = predicted[:, 0], base[:, 0]
    rows, fixed, by_y = weight.sum(), a * a - b * b, -2 * (a - b)
    mean = float((weight * fixed + total * by_y).sum() / rows)
    mean_square = float(
        (weight * fixed * fixed + 2 * total * fixed * by_y + square * by_y * by_y).sum() / rows
    )
    return mean, sqrt(max(mean_square - mean * mean, 0.0) / rows)
