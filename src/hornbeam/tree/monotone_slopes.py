"""A check of slopes against monotone constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.kernels.elementary import log
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["slopes_are_monotone"]


def slopes_are_monotone(tree: Tree, signs: Sequence[int]) -> bool:
    """Return whether the predictions of a tree with slopes keep monotone constraints.

    Parameters
    ----------
    tree : Tree
        Of two classes, or of a numeric target.
    signs : sequence of int
        For each feature +1 if the probability of the second class, or the mean, must not fall as the feature rises, -1
        if it must not rise, 0 without a constraint.

    Returns
    -------
    bool
        True if no slope has the wrong sign, and at every split of a constrained feature no prediction of the lower
        side is above one of the higher side, whatever the values of a row. The second condition is sufficient, not
        necessary: the two sides may reach their extremes for rows that differ in other features too.

    Notes
    -----
    Rows that stop at an inner node are left out, as everywhere with monotone constraints.

    Examples
    --------
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.tree import Skeleton, Slopes, with_slopes
    >>> leaf = Tree.raw(Schema((Feature("age"),), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> tree = with_slopes(leaf, Slopes.of([0], [0], low=[20], high=[60], centre=[35], slope=[[0.0, 0.1]]))
    >>> slopes_are_monotone(tree, [1]), slopes_are_monotone(tree, [-1])
    (True, False)
    """
    if tree.n_classes not in (0, 2) or len(signs) != tree.schema.n_features:
        raise ParameterError(
            f"there are {len(signs)} signs for {tree.schema.n_features} features and {tree.n_classes} classes; "
            "expected a sign for each feature, and two classes or a numeric target."
        )
    slopes, skeleton = tree.slopes, tree.skeleton
    sign = np.array([*signs, 0])
    contrast = slopes.slope[:, -1] - (0.0 if tree.is_regression else slopes.slope[:, 0])
    if (sign[slopes.feature] * contrast < 0).any():
        return False
    least, most = _reach(tree, contrast)
    for node in range(tree.n_nodes - 1, 0, -1):  # children before parents
        parent = skeleton.parent[node]
        least[parent], most[parent] = min(least[parent], least[node]), max(most[parent], most[node])
    split = np.flatnonzero(np.isfinite(skeleton.threshold) & (sign[skeleton.feature] != 0))
    left = skeleton.first_child[split]
    rising = sign[skeleton.feature[split]] > 0
    low, high = np.where(rising, left, left + 1), np.where(rising, left + 1, left)
    return bool((most[low] <= least[high]).all())


def _reach(tree: Tree, contrast: Floats) -> tuple[Floats, Floats]:
    """Smallest and largest log-odds, or mean, of each leaf; infinities of the wrong sign at inner nodes."""
    slopes = tree.slopes
    base = tree.belief[:, -1].copy()
    if not tree.is_regression:
        base = log(base) - log(tree.belief[:, 0].copy())
    ends = np.stack([contrast * (slopes.low - slopes.centre), contrast * (slopes.high - slopes.centre)])
    least, most = base.copy(), base.copy()
    np.add.at(least, slopes.node, ends.min(axis=0, initial=0.0))
    np.add.at(most, slopes.node, ends.max(axis=0, initial=0.0))
    inner = ~tree.skeleton.is_leaf
    least[inner], most[inner] = np.inf, -np.inf
    return least, most
