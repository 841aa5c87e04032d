"""The protocol of pruners."""

from typing import ClassVar, Protocol

from hornbeam.tree.tree import Tree

__all__ = ["NamedPruner", "Pruner"]


class Pruner(Protocol):
    """A step that removes nodes: a callable from a tree to a tree."""

    __slots__ = ()

    def __call__(self, tree: Tree, /) -> Tree:
        """Return the pruned tree."""
        ...


class NamedPruner(Pruner, Protocol):
    """A pruner of the registry: a frozen dataclass with a name and defaults for all parameters.

    Attributes
    ----------
    name : str
        The value of the parameter ``pruning``, and the name of the step in the history.
    for_regression : bool, default False
        Whether it prunes regression trees too.
    """

    __slots__ = ()

    name: ClassVar[str]
    for_regression: ClassVar[bool] = False
