"""How small a tree may be, asked of held-out rows."""

from collections.abc import Sequence

import numpy as np

from hornbeam.pruning import LeafPrice
from hornbeam.tree.edit import believe
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import push_down
from hornbeam.tuning.folds import Regrown
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
    """
    chosen = LeafPrice(_FREE)
    if simplicity == 0 or not regrown:
        return chosen
    trees = [
        believe(one.tree, belief, np.zeros(one.tree.n_nodes), Step.of("borrowing"))
        for one, belief in zip(regrown, beliefs, strict=True)
    ]
    held = [one.held for one in regrown]
    base = _losses(trees, chosen)
    for price in map(LeafPrice, _PRICES):
        rise, error = _difference(_losses(trees, price), base, held)
        if rise > simplicity * error:
            break
        chosen = price
    return chosen


def _losses(trees: Sequence[Tree], pruner: LeafPrice) -> list[Floats]:
    """Squared loss of a held-out row of each class at each node, answered where the pruned tree would."""
    found = []
    for tree in trees:
        cut = pruner.cuts(tree)
        # A row is answered by the first node on its way that was cut.
        above = push_down(tree.skeleton, cut.astype(np.int64)) - cut
        at = np.arange(tree.n_nodes)
        while (above[at] > 0).any():
            at = np.where(above[at] > 0, tree.skeleton.parent[at], at)
        found.append(losses(tree.belief[at], "brier"))
    return found


def _difference(
    lost: Sequence[Floats], base: Sequence[Floats], held: Sequence[Floats]
) -> tuple[float, float]:
    """Mean difference of the losses of all held-out rows, and its standard error."""
    apart = np.concatenate([one - other for one, other in zip(lost, base, strict=True)])
    weight = np.concatenate(list(held))
    rows = weight.sum()
    mean = float((weight * apart).sum() / rows)
    spread = float((weight * (apart - mean) ** 2).sum() / rows)
    return mean, (spread / rows) ** 0.5
