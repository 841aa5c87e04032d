"""Content of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from hornbeam.data.schema import Schema
from hornbeam.errors import TreeError
from hornbeam.tree import Tree

__all__ = ["Model"]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Trees, with the name and parameters of their estimator if they have one; plain values, never code.

    Parameters
    ----------
    schema : Schema
        Schema of every tree; needed even without trees.
    trees : tuple of Tree
        In their order.
    estimator : str, optional
        The name of the estimator; None for bare trees.
    settings : mapping, default {}
        Its parameters: None, booleans, numbers, strings, lists, tuples, dicts and arrays of these. A smoother
        or pruner is a `Step`, its name and its own parameters.
    learned : mapping, default {}
        What it knows beside the trees.
    content : {"trees", "tree", "rules"}, default "trees"
        "tree": always one tree. "rules": a rule list made from one tree predicts in its place; the rules are in
        `learned`.

    Raises
    ------
    TreeError
        If a tree has another schema.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Schema, Skeleton, Tree
    >>> tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> Model(tree.schema, (tree, tree), "ForestClassifier", {"n_estimators": 2}).kind
    'trees'
    >>> Model.of(tree).kind
    'tree'
    """

    schema: Schema
    trees: tuple[Tree, ...]
    estimator: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    learned: Mapping[str, Any] = field(default_factory=dict)
    content: Literal["trees", "tree", "rules"] = "trees"

    def __post_init__(self) -> None:
        for at, tree in enumerate(self.trees):
            if tree.schema is not self.schema and tree.schema != self.schema:
                raise TreeError(
                    f"tree {at} has another schema than the others; expected the same columns and classes in all"
                )

    @classmethod
    def of(
        cls,
        tree: Tree,
        estimator: str | None = None,
        settings: Mapping[str, Any] | None = None,
        learned: Mapping[str, Any] | None = None,
        content: Literal["tree", "rules"] = "tree",
    ) -> Self:
        """Return the model of one tree."""
        return cls(tree.schema, (tree,), estimator, settings or {}, learned or {}, content)

    @property
    def tree(self) -> Tree:
        """The one tree."""
        (tree,) = self.trees
        return tree

    @property
    def kind(self) -> str:
        """The kind of the file in its header."""
        regression = self.schema.is_regression and self.content != "rules"
        return f"regression {self.content}" if regression else self.content

    @property
    def is_several(self) -> bool:
        """Whether there may be any number of trees."""
        return self.content == "trees"
