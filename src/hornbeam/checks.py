"""Checks of single options: each raises a `ParameterError` that says what was found and what was expected."""

from collections.abc import Iterable
from math import inf
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeGuard

from hornbeam.errors import ParameterError, shown

MOST = 2**63 - 1  # largest integer of the kernels


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer of at most 64 bits; booleans are not.

    Examples
    --------
    >>> is_whole(3), is_whole(True), is_whole(3.0)
    (True, False, False)
    """
    return _is_integer(value) and -MOST <= value <= MOST


def _is_integer(value: object) -> TypeGuard[int]:
    return type(value) is int or (not isinstance(value, bool) and isinstance(value, Integral))


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number that fits a float; booleans are not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except (OverflowError, ValueError):
        return False
    return True


def check_whole(name: str, value: object, least: int, most: int = MOST, *, none: str = "") -> None:
    """Check a whole number within a range; with `none`, the meaning of None, that is allowed too.

    Examples
    --------
    >>> check_whole("max_depth", -1, 0, none="the whole tree")
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: max_depth=-1: expected a whole number, 0 or more, or None for the whole tree.
    """
    if (none and value is None) or (_is_integer(value) and least <= value <= most):
        return
    bounds = f", {least} or more" if most == MOST else f" from {least} to {most:,}"
    other = f", or None for {none}" if none else ""
    raise ParameterError(f"{name}={shown(value)}: expected a whole number{bounds}{other}.")


def check_number(
    name: str, value: object, least: float, most: float = inf, *, above: bool = False, what: str = "a number"
) -> None:
    """Check a number within a range; if `above`, without its lower end.

    Examples
    --------
    >>> check_number("alpha", "1", 0, 10)
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: alpha='1': expected a number from 0 to 10.
    >>> check_number("price", -1.0, 0)
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: price=-1.0: expected a number of 0 or more.
    """
    if not is_number(value) or not least <= value <= most or (above and value == least):
        if most == inf:
            bounds = f"above {least:g}" if above else f"of {least:g} or more"
        else:
            bounds = f"above {least:g}, at most {most:,g}" if above else f"from {least:g} to {most:,g}"
        raise ParameterError(f"{name}={shown(value)}: expected {what} {bounds}.")


def check_share(name: str, value: object) -> None:
    """Check a number between 0 and 1, without both.

    Examples
    --------
    >>> check_share("level", 1.0)
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: level=1.0: expected a number between 0 and 1.
    """
    if not is_number(value) or not 0 < value < 1:
        raise ParameterError(f"{name}={shown(value)}: expected a number between 0 and 1.")


def check_text(name: str, value: object) -> None:
    """Check a text.

    Examples
    --------
    >>> check_text("title", 3)
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: title=3: expected a text.
    """
    if not isinstance(value, str):
        raise ParameterError(f"{name}={shown(value)}: expected a text.")


def check_choice(name: str, value: object, known: Iterable[str]) -> None:
    """Check one of several names.

    Examples
    --------
    >>> check_choice("by", "size", ("node", "probability"))
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: by='size': expected one of 'node', 'probability'.
    """
    known = tuple(known)
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"{name}={shown(value)}: expected one of {', '.join(map(repr, known))}.")


def check_flags(**flags: object) -> None:
    """Check parameters that are True or False.

    Examples
    --------
    >>> check_flags(inner=True, merge="no")
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: merge='no': expected True or False.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ParameterError(f"{name}={shown(value)}: expected True or False.")


def check_path(name: str, value: Any) -> None:
    """Check the path of a file or a folder.

    Examples
    --------
    >>> check_path("path", 3)
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: path=3: expected the path of a file, a text or a pathlib.Path.
    """
    if not isinstance(value, str | PathLike) or not value:
        raise ParameterError(f"{name}={shown(value)}: expected the path of a file, a text or a pathlib.Path.")
