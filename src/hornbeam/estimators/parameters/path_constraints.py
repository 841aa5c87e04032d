"""Constraints on the features of a path in the words of a user, as indices of features."""

from collections.abc import Iterable, Mapping
from typing import Any

from hornbeam.estimators.parameters.validators import is_whole, parameter_error
from hornbeam.growing.constraints import Interactions

__all__ = ["forbidden_pairs", "interaction_groups"]

_GROUPS = "'pairwise', 'no_interactions', or groups of features, by name or index"
_BELOW = "a dict from a feature to the features that may not be used below it"


def interaction_groups(value: Any, names: tuple[str, ...]) -> Interactions:
    """Return the groups of features that may occur together on a path; None if all may.

    Examples
    --------
    >>> interaction_groups([{"age", "income"}], ("age", "income", "town"))
    ((0, 1),)
    >>> interaction_groups("no_interactions", ("age", "income", "town"))
    'no_interactions'
    """
    if value is None:
        return None
    if isinstance(value, str):
        if value == "pairwise":  # the history of the tree has the word, not all pairs
            return "pairwise"
        if value == "no_interactions":
            return "no_interactions"
        raise parameter_error(
            "interaction_cst", value, _GROUPS, "Pass [{'age', 'income'}], say: these two interact."
        )
    groups = [_features("interaction_cst", value, group, names, _GROUPS) for group in _items(value)]
    if not groups:
        raise parameter_error("interaction_cst", value, _GROUPS, "Pass None for no constraints.")
    return tuple(tuple(sorted(set(group))) for group in groups)


def forbidden_pairs(value: Any, names: tuple[str, ...]) -> tuple[tuple[int, int], ...] | None:
    """Return pairs of features, of which the second may not be used below the first; None if there are none.

    Examples
    --------
    >>> forbidden_pairs({"income": ["age", "town"]}, ("age", "income", "town"))
    ((1, 0), (1, 2))
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise parameter_error("forbidden_below", value, _BELOW, "Pass {'income': ['assets']}, say.")
    pairs = set()
    for above, below in value.items():
        [first] = _features("forbidden_below", value, [above], names, _BELOW)
        pairs |= {(first, f) for f in _features("forbidden_below", value, below, names, _BELOW)}
    return tuple(sorted(pairs)) or None


def _items(value: Any) -> list[Any]:
    """List the items of a collection; a string or a scalar is one wrong item."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [None]
    return list(value)


def _features(name: str, value: Any, group: Any, names: tuple[str, ...], expected: str) -> list[int]:
    """Return the indices of features that are given by name or index."""
    found = []
    for feature in _items(group):
        if isinstance(feature, str) and feature in names:
            found.append(names.index(feature))
        elif is_whole(feature) and 0 <= feature < len(names):
            found.append(int(feature))
        else:
            first = ", ".join(map(repr, names[:5]))
            raise parameter_error(name, value, expected, f"The first features are {first}.")
    if not found:
        raise parameter_error(name, value, expected, "Leave out groups without features.")
    return found
