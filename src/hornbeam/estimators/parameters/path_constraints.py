"""Constraints on the features of a path, prices and forced splits, in the words of a user: as indices, a skeleton."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from hornbeam.checks import is_number, is_whole
from hornbeam.data.schema import Schema
from hornbeam.errors import HornbeamError, ParameterError, shown
from hornbeam.estimators.parameters.validators import parameter_error
from hornbeam.growing.forced_splits import forced_skeleton
from hornbeam.growing.settings import Interactions
from hornbeam.tree.feature_costs import MOST_PRICE, PricedItems
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import replace_subtree

_GROUPS = "'pairwise', 'no_interactions', or groups of features, by name or index"
_BELOW = "a dict from a feature to the features that may not be used below it"
_PRICES = "a dict from a feature to its price, or from any name to a shared price and its features"
_EXPECTED = (
    "a tree, or a dict with a feature, its threshold or groups, and left and right for the splits below"
)
_KEYS = ("feature", "threshold", "categories", "missing", "left", "right")
_DEEPEST = 30


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


def priced_items(value: Any, names: tuple[str, ...]) -> PricedItems | None:
    """Return prices with the features that need each; None if all features are free.

    Examples
    --------
    >>> priced_items({"income": 3, "sample": (2.5, ["age", "town"])}, ("age", "income", "town"))
    ((3.0, (1,)), (2.5, (0, 2)))
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise parameter_error("feature_costs", value, _PRICES, "Pass {'lab test': 3}, say.")
    items = []
    for name, given in value.items():
        price, group = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, [name])
        if not is_number(price) or not 0 <= price <= MOST_PRICE:
            raise parameter_error(
                "feature_costs",
                value,
                _PRICES,
                f"A price is a number from 0 to {MOST_PRICE:g}, not {shown(price)}.",
            )
        features = _features("feature_costs", value, group, names, _PRICES)
        items.append((float(price), tuple(sorted(set(features)))))
    return tuple(items) or None


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


def resolve_forced(value: Any, schema: Schema) -> Skeleton | None:
    """Return the splits that a tree begins with; None if there are none.

    Examples
    --------
    >>> from hornbeam.data.schema import Feature
    >>> schema = Schema((Feature("age"), Feature("town", "nominal", ("A", "B", "C"))), ("no", "yes"))
    >>> below = {"feature": "town", "categories": [["A"], ["B", "C"]]}
    >>> resolve_forced({"feature": "age", "threshold": 50, "right": below}, schema).feature.tolist()
    [0, -1, 1, -1, -1]
    """
    if value is None:
        return None
    if isinstance(value, Tree):
        if value.schema.features != schema.features:
            raise ParameterError(
                "forced_splits is a tree with other features or categories than the rows; expected the same, in the "
                "same order. Write its splits as a dict."
            )
        return value.skeleton if value.n_leaves > 1 else None
    if isinstance(value, tuple):  # of a model file, for a tree
        return _from_file(value)
    return _branch(value, value, schema, 0)


def _from_file(value: tuple[Any, ...]) -> Skeleton:
    try:
        return forced_skeleton(value)
    except (TypeError, ValueError, HornbeamError):
        raise parameter_error("forced_splits", value, _EXPECTED, "Pass the tree itself.") from None


def _branch(value: Any, split: Any, schema: Schema, depth: int) -> Skeleton:
    """Return a split and those below it."""
    if not isinstance(split, Mapping) or "feature" not in split or depth > _DEEPEST:
        raise parameter_error(
            "forced_splits", value, _EXPECTED, "Pass {'feature': 'income', 'threshold': 50_000}, say."
        )
    unknown = [key for key in split if key not in _KEYS]
    if unknown:
        raise parameter_error(
            "forced_splits", value, f"the keys {', '.join(_KEYS)}", f"{unknown[0]!r} is none."
        )
    from hornbeam.editing.new_branches import one_split  # slow to import, and rarely needed

    skeleton = one_split(
        schema,
        _column(split["feature"], schema.names),
        threshold=split.get("threshold"),
        categories=split.get("categories"),
        missing=_missing(split),
    )
    # The second first: so the number of the first child stays the same.
    for slot, key in ((1, "right"), (0, "left")):
        if split.get(key) is not None:
            below = _branch(value, split[key], schema, depth + 1)
            skeleton, _ = replace_subtree(skeleton, skeleton.first_child.item(0) + slot, below)
    return skeleton


def _missing(split: Mapping[str, Any]) -> Any:
    """Return where missing values go; growing makes the child of their own, where there are any."""
    missing = split.get("missing", "own")
    if missing not in ("left", "right", "own"):
        raise parameter_error(
            "missing", missing, "'left', 'right' or 'own' in a forced split", "Leave it out for 'own'."
        )
    return None if missing == "own" and split.get("threshold") != inf else missing


def _column(feature: Any, names: tuple[str, ...]) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if is_whole(feature) and 0 <= feature < len(names):
        return int(feature)
    first = ", ".join(map(repr, names[:5]))
    raise parameter_error(
        "forced_splits", feature, "a feature by name or index", f"The first features are {first}."
    )
