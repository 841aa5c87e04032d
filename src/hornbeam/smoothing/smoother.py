"""What a smoother is."""

from math import inf
from typing import Protocol

from hornbeam.errors import ParameterError
from hornbeam.tree.tree import Tree

__all__ = ["Smoother", "check_rows"]


class Smoother(Protocol):
    """A step that changes what a tree believes: a frozen dataclass that maps a tree to a tree."""

    def __call__(self, tree: Tree, /) -> Tree:
        """Return the smoothed tree."""
        ...


def check_rows(name: str, value: float, *, some: bool = False) -> None:
    """Raise `ParameterError` unless a setting is a finite number of rows, 0 or more (if `some`, above 0).

    Examples
    --------
    >>> check_rows("m", -1.0)
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: m=-1.0: expected a finite number of rows, 0 or more.
    """
    if not (0 <= value < inf) or (some and value == 0):
        least = "more than 0" if some else "0 or more"
        raise ParameterError(f"{name}={value!r}: expected a finite number of rows, {least}.")
