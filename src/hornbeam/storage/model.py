"""What a file holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hornbeam.tree import Tree

__all__ = ["Model"]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A tree and, if it stood in one, the estimator around it: its name and plain values, never code.

    Parameters
    ----------
    tree : Tree
    estimator : str, optional
        The name of the estimator; None for a bare tree.
    settings : mapping, default {}
        Its parameters: None, booleans, numbers, strings, lists, tuples, dicts and arrays of these. A smoother
        or pruner is a `Step`, its name and its own parameters.
    learned : mapping, default {}
        What it knows beside the tree.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Schema, Skeleton, Tree
    >>> tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> Model(tree, "TreeClassifier", {"max_depth": 0}).settings
    {'max_depth': 0}
    """

    tree: Tree
    estimator: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    learned: Mapping[str, Any] = field(default_factory=dict)
