"""What is exported: one tree, and nothing around it or beside it."""

from typing import Any

from hornbeam.errors import ExportError
from hornbeam.tree import Tree

__all__ = ["need_tree"]


def need_tree(model: Any) -> None:
    """Raise `ExportError`, with what to pass instead, unless a model is one tree.

    Examples
    --------
    >>> need_tree([1, 2])
    Traceback (most recent call last):
        ...
    hornbeam.errors.ExportError: This is a list; expected a Tree: pass the tree_ of a fitted estimator.
    """
    if isinstance(model, Tree):
        return
    found, advice = type(model).__name__, "pass the tree_ of a fitted estimator."
    if hasattr(model, "rules_"):
        found += ", which answers with rules"
        advice = "export its rules_ with hornbeam.export.rules_where, say."
    elif any(hasattr(model, name) for name in ("forest_", "boosted_", "trees")):
        found += ", which answers with several trees"
        advice = "ensembles are not exported; keep them with hornbeam.save, or make one tree with hornbeam.distill."
    raise ExportError(f"This is a {found}; expected a Tree: {advice}")
