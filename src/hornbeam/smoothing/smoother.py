"""What a smoother is."""

from typing import Protocol

from hornbeam.tree.tree import Tree

__all__ = ["Smoother"]


class Smoother(Protocol):
    """A step that changes what a tree believes: a frozen dataclass that maps a tree to a tree."""

    def __call__(self, tree: Tree, /) -> Tree:
        """Return the smoothed tree."""
        ...
