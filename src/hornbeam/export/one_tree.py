"""The one tree that an export writes."""

from typing import Any, Protocol

from hornbeam.errors import ExportError
from hornbeam.tree import Tree
from hornbeam.tree.unwrap import unwrap

__all__ = ["HasTree", "single_tree"]


class HasTree(Protocol):
    """An estimator that holds one tree once it is fitted."""

    tree_: Tree


def single_tree(model: Any) -> Tree:
    """Return a tree, or that of a fitted estimator; raise `ExportError` if a model does not predict with one tree.

    Examples
    --------
    >>> single_tree([1, 2])
    Traceback (most recent call last):
        ...
    hornbeam.errors.ExportError: This is a list; expected a fitted TreeClassifier or TreeRegressor, or a Tree.
    """
    if isinstance(model, Tree):
        return model
    inner = unwrap(model)
    if inner.before is not None:
        raise ExportError(f"This is {inner.alone}.")
    model = inner.model
    found = f"This is a {type(model).__name__}"
    if hasattr(model, "rules_"):
        raise ExportError(
            f"{found}, which predicts with rules; expected one tree: export its rules_ with "
            "hornbeam.export.rules_where, say."
        )
    tree = getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return tree
    expected = "expected a fitted TreeClassifier or TreeRegressor, or a Tree"
    if any(hasattr(model, name) for name in ("forest_", "boosted_", "trees")):
        raise ExportError(
            f"{found}, which predicts with several trees; {expected}: ensembles are not exported; keep them with "
            "hornbeam.save, or make one tree with hornbeam.distill."
        )
    if hasattr(model, "trees_"):
        raise ExportError(f"{found}; {expected}: pass one of its trees_.")
    raise ExportError(f"{found}; {expected}.")
