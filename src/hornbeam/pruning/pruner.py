"""What a pruner is."""

from typing import Protocol

from hornbeam.tree.tree import Tree

__all__ = ["Pruner"]


class Pruner(Protocol):
    """A step that changes the shape of a tree: a frozen dataclass that maps a tree to a tree."""

    def __call__(self, tree: Tree, /) -> Tree:
        """Return the pruned tree."""
        ...
