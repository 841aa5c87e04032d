"""The protocols of pruners."""

from typing import ClassVar, Protocol, TypeGuard

from hornbeam.data.table import Table
from hornbeam.tree.tree import Tree


class Pruner(Protocol):
    """A step that removes nodes: a callable from a tree to a tree."""

    __slots__ = ()

    def __call__(self, tree: Tree, /) -> Tree:
        """Return the pruned tree."""
        ...


class RowPruner(Pruner, Protocol):
    """A pruner that also uses the rows the tree was grown from; a fit in memory passes them to it.

    Attributes
    ----------
    uses_rows : bool
        Whether it uses them with its present parameters.
    """

    __slots__ = ()

    @property
    def uses_rows(self) -> bool:
        """Whether it uses the rows with its present parameters."""
        ...

    def with_rows(self, table: Table, /) -> Pruner:
        """Return the pruner for a tree grown from these rows."""
        ...


def uses_rows(pruner: Pruner | None) -> TypeGuard[RowPruner]:
    """Whether a pruner, which may be any callable, uses the rows the tree was grown from."""
    return getattr(pruner, "uses_rows", False) is True


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
