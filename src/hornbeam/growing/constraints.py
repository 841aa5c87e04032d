"""Monotone constraints and rules about the features of a path: checks, and their form for the kernels."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, shown
from hornbeam.kernels.subtree import PathRules

__all__ = [
    "Interactions",
    "check_features",
    "check_interactions",
    "check_monotone",
    "make_path_rules",
    "monotone_array",
    "refuse_fractional",
]


def check_monotone(monotone: Any) -> None:
    """Refuse constraints other than 1, -1 and 0."""
    signs = () if monotone is None else monotone
    if not isinstance(signs, tuple) or any(type(sign) is not int or abs(sign) > 1 for sign in signs):
        raise ParameterError(
            f"monotone={shown(monotone)}: expected for each feature 1 (rises), -1 (falls) or 0 (free). "
            "Pass None for no constraints."
        )


def monotone_array(monotone: tuple[int, ...] | None, schema: Schema) -> NDArray[np.int8] | None:
    """Return the constraint of each feature as the kernels expect them; None without constraints."""
    if monotone is None or not any(monotone):
        return None
    if schema.n_classes != 2 and not schema.is_regression:
        raise ParameterError(
            f"monotonic_cst is about the probability of the second of two classes; found "
            f"{schema.n_classes} classes. Leave it out, or train a tree for each class against the rest."
        )
    if len(monotone) != schema.n_features:
        raise ParameterError(
            f"monotonic_cst has {len(monotone)} entries for {schema.n_features} features; expected "
            "one each. Pass a dict from feature names to leave out those that are free."
        )
    for sign, feature in zip(monotone, schema.features, strict=True):
        if sign and feature.is_nominal:
            raise ParameterError(
                f"monotonic_cst constrains {feature.name!r}, which is nominal; expected features with an "
                "order. Make it an ordered category, or leave it free (0)."
            )
    return np.array(monotone, dtype=np.int8)


def refuse_fractional(monotone: tuple[int, ...] | None) -> None:
    """Refuse constraints where rows are divided among children: the bounds of a constraint would not hold."""
    if monotone is not None and any(monotone):
        raise ParameterError(
            "Monotone constraints do not hold for missing='fractional' where values are missing: "
            "expected missing='own' or 'learned', or no constraints."
        )


# ---- features of a path, from the root to a node ----------------------------------------------------------------

type Interactions = tuple[tuple[int, ...], ...] | Literal["pairwise", "no_interactions"] | None
"""Groups of features that may occur together on a path: their indices, all pairs, each feature alone, or no limit."""


def check_interactions(value: Interactions) -> None:
    """Refuse anything but groups of features and the words for all pairs and for none."""
    if not isinstance(value, str):
        check_features("interactions", value)
    elif value not in ("pairwise", "no_interactions"):
        raise ParameterError(
            f"interactions={value!r}: expected 'pairwise', 'no_interactions', or groups of features by index."
        )


def check_features(name: str, lists: Iterable[tuple[int, ...]] | None) -> None:
    """Refuse anything but indices of features."""
    groups = [()] if lists is None else [lists] if not isinstance(lists, (tuple, list)) else lists
    if any(
        not isinstance(group, (tuple, list)) or any(type(f) is not int or f < 0 for f in group)
        for group in groups
    ):
        raise ParameterError(f"{name}={shown(lists)}: expected indices of features, from 0.")


def make_path_rules(
    schema: Schema,
    interactions: Interactions,
    forbidden_below: tuple[tuple[int, int], ...] | None,
    *,
    once_per_path: bool,
) -> PathRules | None:
    """Return the rules for the kernels; None if every feature may split every node."""
    n = schema.n_features
    if interactions is None and not forbidden_below and not once_per_path:
        return None
    groups = _given_groups(interactions, n)
    for features in (*groups, *(forbidden_below or ())):
        if features and max(features) >= n:
            raise ParameterError(
                f"a constraint names feature {max(features)}; expected 0 to {n - 1}, for {n} features."
            )
    below: list[list[int]] = [[f] if once_per_path else [] for f in range(n)]
    for above, other in forbidden_below or ():
        below[above].append(other)
    return PathRules(n, _with_rest(groups, n), below)


def _given_groups(interactions: Interactions, n: int) -> list[list[int]]:
    if interactions == "no_interactions" or (interactions == "pairwise" and n < 2):
        return [[f] for f in range(n)]
    if interactions == "pairwise":
        return [list(pair) for pair in combinations(range(n), 2)]
    return [sorted(set(group)) for group in interactions or ()]


def _with_rest(groups: list[list[int]], n: int) -> list[list[int]]:
    """Add a group of the features in none; without groups all features form one."""
    rest = sorted(set(range(n)).difference(*groups))
    return [*groups, rest] if rest else groups
