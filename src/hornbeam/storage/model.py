"""Content of a model file: one tree or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hornbeam.data.schema import Schema
from hornbeam.errors import TreeError
from hornbeam.tree import Tree

__all__ = ["Model", "TreeCollection"]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A tree, with the name and parameters of its estimator if it has one; plain values, never code.

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
    by_rules : bool, default False
        Whether a rule list made from the tree predicts in its place; the rules are in `learned`.

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
    by_rules: bool = False

    @property
    def kind(self) -> str:
        """The kind of the file in its header."""
        if self.by_rules:
            return "rules"
        return "regression tree" if self.tree.is_regression else "tree"

    @property
    def schema(self) -> Schema:
        """Names, kinds and categories of the features, and the classes."""
        return self.tree.schema

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The tree as a tuple of one."""
        return (self.tree,)


@dataclass(frozen=True, slots=True, eq=False)
class TreeCollection:
    """Several trees of one schema, with the name and parameters of their estimator.

    Parameters
    ----------
    schema : Schema
        Schema of every tree; needed even without trees.
    trees : tuple of Tree
        In their order.
    estimator, settings, learned
        As of a `Model`.

    Raises
    ------
    TreeError
        If a tree has another schema.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Schema, Skeleton, Tree
    >>> tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> len(TreeCollection(tree.schema, (tree, tree), "ForestClassifier").trees)
    2
    """

    schema: Schema
    trees: tuple[Tree, ...]
    estimator: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for at, tree in enumerate(self.trees):
            if tree.schema is not self.schema and tree.schema != self.schema:
                raise TreeError(
                    f"tree {at} has another schema than the others; expected the same columns and classes in all"
                )

    @property
    def kind(self) -> str:
        """The kind of the file in its header."""
        return "regression trees" if self.schema.is_regression else "trees"
