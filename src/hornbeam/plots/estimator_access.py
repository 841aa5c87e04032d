"""The tree and the classes of a fitted estimator."""

from collections.abc import Sequence
from typing import Any

from hornbeam.tree import Tree
from hornbeam.tree.decision import class_code
from hornbeam.tree.unwrap import single_tree, unwrap
from hornbeam.typing import Label

__all__ = ["class_number", "fitted_tree"]


def fitted_tree(estimator: Any) -> Tree:
    """Return the tree of a fitted estimator, also at the end of a pipeline, or the tree itself."""
    return single_tree(unwrap(estimator).model)


def class_number(classes: Sequence[Label], positive: Label | None) -> int:
    """Find the position of the class of interest; the last class if `positive` is None."""
    return len(classes) - 1 if positive is None else class_code(classes, positive)
