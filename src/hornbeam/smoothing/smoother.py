"""What a smoother is."""

from numbers import Real
from typing import Protocol, TypeGuard

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.tree.tree import Tree

__all__ = ["Smoother", "check_number", "check_rows", "check_whole"]

_MOST_ROWS = 1e100  # far from where sums of them overflow


class Smoother(Protocol):
    """A step that changes what a tree believes: a frozen dataclass that maps a tree to a tree."""

    def __call__(self, tree: Tree, /) -> Tree:
        """Return the smoothed tree."""
        ...


def check_rows(name: str, value: float, *, some: bool = False) -> None:
    """Raise `ParameterError` unless a setting is a number of rows, 0 or more (if `some`, above 0).

    Examples
    --------
    >>> check_rows("m", -1.0)
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: m=-1.0: expected a number of rows from 0 to 1e+100.
    """
    check_number(name, value, 0.0, _MOST_ROWS, above=some, what="a number of rows")


def check_number(
    name: str, value: object, least: float, most: float, *, above: bool = False, what: str = "a number"
) -> None:
    """Raise `ParameterError` unless a setting is a number of a range (if `above`, without its lower end).

    Examples
    --------
    >>> check_number("tolerance", "small", 0.0, 1.0)
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: tolerance='small': expected a number from 0 to 1.
    """
    if not _is_number(value) or not least <= value <= most or (above and value == least):
        range_words = f"above {least:g}, at most {most:,g}" if above else f"from {least:g} to {most:,g}"
        raise ParameterError(f"{name}={value!r}: expected {what} {range_words}.")


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise `ParameterError` unless a setting is a whole number of a range.

    Examples
    --------
    >>> check_whole("sweeps", 5.5, 1, 100)
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: sweeps=5.5: expected a whole number from 1 to 100.
    """
    if not isinstance(value, int | np.integer) or type(value) is bool or not least <= value <= most:
        raise ParameterError(f"{name}={value!r}: expected a whole number from {least} to {most:,}.")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)
