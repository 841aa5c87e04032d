"""Rules about the features of a path, from the root to a node, and their form for the kernels."""

from collections.abc import Iterable

from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError
from hornbeam.kernels.subtree import PathRules

__all__ = ["check_features", "make_path_rules"]


def check_features(name: str, lists: Iterable[tuple[int, ...]] | None) -> None:
    """Refuse anything but indices of features."""
    if lists is not None and any(type(f) is not int or f < 0 for features in lists for f in features):
        raise ParameterError(f"{name}={lists}: expected indices of features, from 0.")


def make_path_rules(
    schema: Schema,
    interactions: tuple[tuple[int, ...], ...] | None,
    forbidden_below: tuple[tuple[int, int], ...] | None,
    *,
    once_per_path: bool,
) -> PathRules | None:
    """Return the rules for the kernels; None if every feature may split every node.

    Examples
    --------
    >>> from hornbeam.data.schema import Feature
    >>> schema = Schema(tuple(map(Feature, "abcd")), ("no", "yes"))
    >>> make_path_rules(schema, ((0, 1),), None, once_per_path=True).allowed([0]).tolist()
    [0, 1, 0, 0]
    >>> make_path_rules(schema, None, ((2, 3),), once_per_path=False).allowed([2]).tolist()
    [1, 1, 1, 0]
    """
    n = schema.n_features
    if interactions is None and not forbidden_below and not once_per_path:
        return None
    for features in (*(interactions or ()), *(forbidden_below or ())):
        if features and max(features) >= n:
            raise ParameterError(
                f"a constraint names feature {max(features)}; expected 0 to {n - 1}, for {n} features."
            )
    below: list[list[int]] = [[f] if once_per_path else [] for f in range(n)]
    for above, other in forbidden_below or ():
        below[above].append(other)
    return PathRules(n, _groups(interactions, n), below)


def _groups(interactions: tuple[tuple[int, ...], ...] | None, n: int) -> list[list[int]]:
    """Return the groups; features in none form one more group, and without groups all features form one."""
    groups = [sorted(set(group)) for group in interactions or ()]
    rest = sorted(set(range(n)).difference(*groups))
    return [*groups, rest] if rest else groups
