"""The colours of classes, the same in every picture, and bars of probabilities in these colours.

A mean is a bar too: its length is the position of the mean between the lowest and the highest mean of the tree.
"""

import numpy as np

from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

# A palette for colour-blind readers (Okabe and Ito, "Color universal design", 2008).
CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
OTHERS = "#d8d8d8"

_THINNEST = 0.005  # a thinner part of a bar would be invisible


def bar(belief: Floats) -> list[tuple[str, float, float]]:
    """Compute the parts of a bar of probabilities: the colour, begin and end of each, from 0 to 1.

    With more classes than colours, and for a mean, the bar has two parts: the largest value, and a pale rest.
    """
    if len(belief) > len(CLASS_COLOURS) or len(belief) == 1:
        most = float(belief.max())
        return [(CLASS_COLOURS[0], 0.0, most), (OTHERS, most, 1.0)]
    parts, end = [], 0.0
    for colour, share in zip(CLASS_COLOURS, belief.tolist(), strict=False):
        begin, end = end, end + share
        if share >= _THINNEST:
            parts.append((colour, begin, end))
    return parts


def bars(tree: Tree) -> Floats:
    """Compute the values of each node's bar: its probabilities, or the position of its mean among those of the tree."""
    return on_scale(tree, tree.belief) if tree.is_regression else tree.belief


def on_scale(tree: Tree, values: Floats) -> Floats:
    """Scale values from 0 at the lowest mean of a tree to 1 at the highest; values beyond are clipped."""
    low, high = tree.belief.min(), tree.belief.max()
    return np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
