"""Content of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from hornbeam.data.schema import Schema
from hornbeam.errors import TreeError
from hornbeam.tree.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Trees, with the name and parameters of their estimator if they have one; plain values, never code.

    `schema` is that of every tree. `estimator` is None for bare trees. `settings` are its parameters: None, booleans,
    numbers, strings, lists, tuples, dicts and arrays of these; a smoother or pruner is a `Step`, its name and its own
    parameters. `learned` is what the estimator has beside the trees. `content` is "tree" for exactly one tree; "rules"
    for a rule list made from one tree, which predicts in its place and is in `learned`.
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
