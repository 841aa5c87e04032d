"""What borrowed rows are worth: the second opinion of regrown trees."""

from dataclasses import dataclass

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.tree.edit import believe
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Floats

__all__ = ["Appraisal", "effective_size", "worth_of_borrowed"]

_NAME = "appraisal"
# Two trees that share four fifths of their rows err together: in squares, a leaf is further off the truth than
# off the other opinion. By how much was found by simulation (benchmarks/coverage.py): with 1.5, 90 % intervals
# cover 85 to 95 % of the leaves in most of its worlds; with 2, the other factor tried there, mostly more.
_ERRING_TOGETHER = 1.5


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Say what borrowed rows are worth, so that they may count in intervals.

    Parameters
    ----------
    worth : float
        What a borrowed row tells about a leaf, beside a row of its own: from 0, nothing, to 1, as much
        (`worth_of_borrowed`).

    Notes
    -----
    A step for the end of a recipe. `borrowed` becomes ``worth`` times what it was, and no more than there are
    rows outside the node: who borrows a million rows from an ancestor of a thousand knows a thousand.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> Appraisal(0.5)(tree).borrowed.round(3).tolist()
    [0.0, 1.0, 0.5]
    """

    worth: float

    def __post_init__(self) -> None:
        if not 0 <= self.worth <= 1:
            raise ParameterError(f"worth={self.worth!r}: expected a number from 0 to 1.")

    def __call__(self, tree: Tree) -> Tree:
        """Return the appraised tree."""
        return believe(tree, tree.belief, self.worth * _lent(tree), Step.of(_NAME, worth=self.worth))


def effective_size(tree: Tree) -> Floats:
    """Count the rows that speak for each node: its own, and what borrowed ones are worth.

    Borrowed rows count if the last step of the tree was an `Appraisal`. Without, nobody knows what they are
    worth, and a node's own rows are all that is certain.

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
    appraised = bool(tree.history) and tree.history[-1].name == _NAME
    return own + tree.borrowed if appraised else own


def worth_of_borrowed(tree: Tree, opinion: Floats) -> float:
    """Find what borrowed rows are worth from how far a second opinion is off.

    Parameters
    ----------
    tree : Tree
        Smoothed, and not yet appraised.
    opinion : float64 array of shape (n_nodes, n_classes)
        For each leaf the mean of what trees that were grown without them say about its rows: of each row the
        held-out prediction. Inner nodes are not read, nor are leaves without rows.

    Returns
    -------
    float
        From 0 to 1, for `Appraisal`.

    Notes
    -----
    Leaf l of n_l rows that borrowed b_l claims a variance of p_k (1 - p_k) / (n_l + w b_l + 1) for class k.
    The worth w is the one at which the variances that all leaves claim add up to one and a half times their
    squared distances from the second opinion: both grew from mostly the same rows and so err together. The
    factor was found by simulation, for 5 folds; 10 ask for about the same. Held-out labels are too noisy for
    this: few leaves see two of them.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> worth_of_borrowed(tree, tree.belief), worth_of_borrowed(tree, 1 - tree.belief)
    (1.0, 0.0)
    """
    from scipy.optimize import brentq  # a tenth of a second to load: only for those who ask

    leaf = tree.skeleton.is_leaf & (tree.rows > 0)
    belief, own, lent = tree.belief[leaf], _weight(tree)[leaf], _lent(tree)[leaf]
    spread = (belief * (1 - belief)).sum(axis=1)
    seen = _ERRING_TOGETHER * ((belief - opinion[leaf]) ** 2).sum()

    def excess(worth: float) -> float:
        return float((spread / (own + worth * lent + 1)).sum() - seen)

    if excess(1.0) >= 0:
        return 1.0
    return 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, 1.0))


def _lent(tree: Tree) -> Floats:
    weight = _weight(tree)
    lent: Floats = np.minimum(tree.borrowed, weight[0] - weight)
    return lent


def _weight(tree: Tree) -> Floats:
    weight: Floats = (tree.evidence * tree.unit).sum(axis=1)
    return weight
