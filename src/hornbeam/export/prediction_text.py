"""The text of a node's prediction: its class and the probability of that, or its mean."""

from __future__ import annotations

from hornbeam.export.wording import label_text, number_text, probability_text, shortened
from hornbeam.tree import Tree
from hornbeam.typing import Floats

__all__ = ["interval_text", "mean_text", "prediction_text", "scale_text"]


def prediction_text(
    tree: Tree, node: int, decimals: int = 3, max_letters: int | None = None, code: int | None = None
) -> tuple[str, str]:
    """Write the prediction of a node: the class it decides for and its probability, or an empty text and the mean.

    With `code`, the class with this code takes the place of the decided one. Pictures have fewer than three decimals.
    """
    if tree.is_regression:
        return "", mean_text(tree.belief.item(node), decimals)
    code = tree.decided.item(node) if code is None else code
    name = label_text(tree.schema.classes[code])
    probability = probability_text(tree.belief.item(node, code), decimals)
    return name if max_letters is None else shortened(name, max_letters), probability


def mean_text(value: float, decimals: int = 3) -> str:
    """Write a mean with six digits, or with four if `decimals` is below 3; digits before the point stay."""
    return number_text(value, 6 if decimals >= 3 else 4)


def scale_text(tree: Tree) -> str:
    """Write the range that the bars of a numeric target cover."""
    low, high = tree.belief.min().item(), tree.belief.max().item()
    return f"mean, from {mean_text(low, 2)} to {mean_text(high, 2)}"


def interval_text(
    tree: Tree, low: Floats, high: Floats, node: int, decimals: int = 3, code: int | None = None
) -> str:
    """Write the interval of a node's prediction, or of the class with this code, from the bounds of the node."""
    code = tree.decided.item(node) if code is None else code
    write = mean_text if tree.is_regression else probability_text
    return " to ".join(write(bound.item(code), decimals) for bound in (low, high))
