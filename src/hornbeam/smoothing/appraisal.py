"""What rows are worth, own and borrowed: the second opinion of regrown trees."""

from dataclasses import dataclass

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.smoothing.spread import spreads
from hornbeam.tree.edit import believe
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Floats

__all__ = ["Appraisal", "appraise", "effective_size"]

_NAME = "appraisal"
# Two trees that share most of their rows err together: in squares, a leaf is further off the truth than off the
# other opinion. By how much was found by simulation (benchmarks/coverage.py, seeds from 0 on): of 1, 1.5, 2, 2.5, 4
# and 6 it is 2 with which 90 % intervals cover about 90 % of the leaves of default trees in most of its worlds.
_ERRING_TOGETHER = 2.0
_LEAST = 0.05  # a row is worth something


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Say what rows are worth, so that intervals are as wide as they should be.

    Parameters
    ----------
    borrowed : float
        What a borrowed row tells about a leaf, beside a row of its own: from 0, nothing, to 1, as much.
    own : float, default 1.0
        What a row of the leaf itself tells, beside a row that had no part in choosing the leaf: above 0, up
        to 1. Where leaves were chosen because their rows look pure, it is less than 1.

    See Also
    --------
    appraise : finds both.

    Notes
    -----
    A step for the end of a recipe: it changes nothing but what `effective_size` counts. Loans count for no
    more than there are rows outside the node: who borrows a million rows from an ancestor of a thousand
    knows a thousand.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> effective_size(Appraisal(0.5)(tree)).round(3).tolist()
    [3.0, 2.0, 2.5]
    """

    borrowed: float
    own: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.borrowed <= 1:
            raise ParameterError(f"borrowed={self.borrowed!r}: expected a number from 0 to 1.")
        if not 0 < self.own <= 1:
            raise ParameterError(f"own={self.own!r}: expected a number above 0, up to 1.")

    def __call__(self, tree: Tree) -> Tree:
        """Return the appraised tree."""
        step = Step.of(_NAME, borrowed=self.borrowed, own=self.own)
        return believe(tree, tree.belief, tree.borrowed, step)


def effective_size(tree: Tree) -> Floats:
    """Count the rows that speak for each node: its own, and what borrowed ones are worth.

    Both count by the last `Appraisal` of the tree, if that was its last step. Without, nobody knows what
    borrowed rows are worth, and a node's own rows count in full.

    Returns
    -------
    float64 array of shape (n_nodes,)

    Notes
    -----
    A weighted row is one observation, however much it weighs; where rows weigh less than 1 on average, or are
    shared out over branches, their weight counts.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> effective_size(tree).tolist(), effective_size(Appraisal(0.5)(tree)).round(3).tolist()
    ([3.0, 1.0, 2.0], [3.0, 2.0, 2.5])
    """
    own = np.minimum(_weight(tree), tree.rows)
    if not tree.history or tree.history[-1].name != _NAME:
        return own
    worth = dict(tree.history[-1].parameters)
    size: Floats = worth["own"] * own + worth["borrowed"] * _lent(tree)
    return size


def appraise(tree: Tree, opinion: Floats) -> Appraisal:
    """Find what rows are worth from how far a second opinion is off.

    Parameters
    ----------
    tree : Tree
        Smoothed, and not yet appraised.
    opinion : float64 array of the shape of the belief
        For each leaf the mean of what trees that were grown without them say about its rows: of each row the
        held-out prediction. Inner nodes are not read, nor are leaves without rows.

    Returns
    -------
    Appraisal
        To two decimals.

    Notes
    -----
    Leaf l of n_l rows that borrowed b_l claims a variance of p_k (1 - p_k) / (u n_l + w b_l + 1) for class k;
    of a mean, that of its rows (`hornbeam.smoothing.spread`) over the same.
    The variances that all rows' leaves claim are to add up to so many times their squared distances from the
    second opinion: more than once, because both grew from mostly the same rows and so err together; the factor
    was found by simulation. Each leaf counts by its rows: trees disagree about tiny leaves more than any variance
    could claim, and that says nothing about large ones. Own rows come first: w is above 0 only if they count in
    full. Held-out labels are too noisy for this: few leaves see two of them.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> appraise(tree, tree.belief), appraise(tree, 1 - tree.belief)
    (Appraisal(borrowed=1.0, own=1.0), Appraisal(borrowed=0.0, own=0.05))
    """
    from scipy.optimize import brentq  # a tenth of a second to load: only for those who ask

    leaf = tree.skeleton.is_leaf & (tree.rows > 0)
    belief, own, lent = tree.belief[leaf], _weight(tree)[leaf], _lent(tree)[leaf]
    spread = own * spreads(tree)[leaf]
    seen = _ERRING_TOGETHER * float(own @ ((belief - opinion[leaf]) ** 2).sum(axis=1))

    def excess(worth: float) -> float:
        """Up to 1, of own rows; above, of borrowed ones beside them."""
        size = min(worth, 1.0) * own + max(worth - 1.0, 0.0) * lent
        return float((spread / (size + 1)).sum() - seen)

    if excess(2.0) >= 0:
        worth = 2.0
    elif excess(_LEAST) <= 0:
        worth = _LEAST
    else:
        worth = brentq(excess, _LEAST, 2.0)
    return Appraisal(round(max(worth - 1.0, 0.0), 2), max(round(min(worth, 1.0), 2), _LEAST))


def _lent(tree: Tree) -> Floats:
    weight = _weight(tree)
    lent: Floats = np.minimum(tree.borrowed, weight[0] - weight)
    return lent


def _weight(tree: Tree) -> Floats:
    weight: Floats = tree.weight * tree.unit[0]
    return weight
