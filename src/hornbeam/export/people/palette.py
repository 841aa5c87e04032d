"""The colours of classes, the same in every picture, and how a belief is laid out as a bar of them.

A mean is a bar too: as long as it lies from the lowest to the highest mean of the tree.
"""

import numpy as np

from hornbeam.tree import Tree
from hornbeam.typing import Floats

__all__ = ["CLASS_COLOURS", "OTHERS", "bar", "bars", "on_scale"]

# Colours that the colour-blind can tell apart (Okabe and Ito, "Color universal design", 2008).
CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
OTHERS = "#d8d8d8"

_LEAST = 0.005  # of a bar: thinner would not be seen


def bar(belief: Floats) -> list[tuple[str, float, float]]:
    """Lay a belief out as a bar: the colour, begin and end of each part, from 0 to 1.

    With more classes than there are colours the most probable one stands against all others. Of one part alone,
    the rest is pale.

    Examples
    --------
    >>> import numpy as np
    >>> bar(np.array([0.75, 0.25]))
    [('#0072b2', 0.0, 0.75), ('#e69f00', 0.75, 1.0)]
    >>> bar(np.array([0.2, 0.6] + [0.02] * 10))
    [('#0072b2', 0.0, 0.6), ('#d8d8d8', 0.6, 1.0)]
    """
    if len(belief) > len(CLASS_COLOURS) or len(belief) == 1:
        most = float(belief.max())
        return [(CLASS_COLOURS[0], 0.0, most), (OTHERS, most, 1.0)]
    parts, end = [], 0.0
    for colour, share in zip(CLASS_COLOURS, belief.tolist(), strict=False):
        begin, end = end, end + share
        if share >= _LEAST:
            parts.append((colour, begin, end))
    return parts


def bars(tree: Tree) -> Floats:
    """What is laid out as a bar for each node: its probabilities, or where its mean lies among those of the tree.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> bars(TreeRegressor("cart").fit([[0], [1]], [1.0, 3.0]).tree_).tolist()
    [[0.5], [0.0], [1.0]]
    """
    return on_scale(tree, tree.belief) if tree.is_regression else tree.belief


def on_scale(tree: Tree, values: Floats) -> Floats:
    """Where values lie between the lowest and the highest mean of a tree, from 0 to 1; those beyond at the ends.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> tree = TreeRegressor("cart").fit([[0], [1]], [1.0, 3.0]).tree_
    >>> on_scale(tree, np.array([1.5, 9.0])).tolist()
    [0.25, 1.0]
    """
    low, high = tree.belief.min(), tree.belief.max()
    return np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
