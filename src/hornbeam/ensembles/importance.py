"""How much each feature matters to many trees."""

from collections.abc import Sequence

import numpy as np

from hornbeam.tree.gains import gains
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["importance"]


def importance(trees: Sequence[Tree]) -> Floats:
    """Say how much of the trees' gain is due to tests of each feature.

    Parameters
    ----------
    trees : sequence of Tree
        Of one schema, grown here: their gains are known.

    Returns
    -------
    float64 array of shape (n_features,)
        The mean over trees of each feature's share of the gain, every test by the weight of the rows that came to
        it. Trees without a test do not count; all 0 if there are no others.

    Notes
    -----
    Gains are counted on the rows that the tests were chosen by, so a feature of many values looks more important
    than it is; to ask rows that had no say, use `sklearn.inspection.permutation_importance`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0, 1], [1, 0], [1, 1], [1, 1]], ["a", "a", "b", "b"]).tree_
    >>> importance([tree]).round(3).tolist()
    [0.333, 0.667]
    """
    shares = [share for tree in trees if (share := gains(tree)).any()]
    if not shares:
        return np.zeros(trees[0].schema.n_features)
    total: Floats = np.sum([share / share.sum() for share in shares], axis=0)
    return total / total.sum()
