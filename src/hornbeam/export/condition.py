"""A condition in words."""

from __future__ import annotations

from math import inf

from hornbeam.export.words import cut, feature_name, membership, word
from hornbeam.tree.condition import Condition

__all__ = ["condition_words"]


def condition_words(condition: Condition, most: int = 8) -> str:
    """Say what a condition asks for.

    Parameters
    ----------
    condition : Condition
    most : int, default 8
        Longer sets of categories are cut, with the number of those left out.

    Returns
    -------
    str

    Examples
    --------
    >>> from hornbeam.data.schema import Feature, Kind
    >>> condition_words(Condition(0, Feature("age"), above=18.0, at_most=65.0))
    '18 < age ≤ 65'
    >>> condition_words(Condition(1, Feature("colour", Kind.NOMINAL, ("blue", "red")), among=(1,), missing=True))
    'colour = red or missing'
    """
    name = feature_name(condition.feature.name)
    if not condition.known:
        return f"{name} missing" if condition.missing else f"{name} impossible"
    said = _known(condition, name, most)
    return f"{said} or missing" if condition.missing else said


def _known(condition: Condition, name: str, most: int) -> str:
    """Say which known values will do."""
    feature, above, at_most = condition.feature, condition.above, condition.at_most
    if condition.among is not None:
        return f"{name} {membership([word(feature.categories[code]) for code in condition.among], most)}"
    low = None if above is None else cut(feature, above)
    high = None if at_most in (None, inf) else cut(feature, at_most)
    if high is None:
        return f"{name} known" if low is None else f"{name} > {low}"
    return f"{name} ≤ {high}" if low is None else f"{low} < {name} ≤ {high}"
