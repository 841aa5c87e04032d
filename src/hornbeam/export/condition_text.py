"""The text of a condition."""

from __future__ import annotations

from math import inf

from hornbeam.export.wording import feature_name, membership_text, threshold_text
from hornbeam.tree.condition import Condition

__all__ = ["condition_text"]


def condition_text(condition: Condition, max_categories: int | None = None) -> str:
    """Write a condition on one feature.

    Parameters
    ----------
    condition : Condition
    max_categories : int, optional
        Longer lists of categories are cut, with the number of those left out; whole lists if not given.

    Returns
    -------
    str
        A set of more than three categories is written by its complement if that is smaller. Either way it is exact for
        the categories of the training data; a new category meets no condition on that feature.

    Examples
    --------
    >>> from hornbeam.data.schema import Feature, Kind
    >>> condition_text(Condition(0, Feature("age"), above=18.0, at_most=65.0))
    '18 < age ≤ 65'
    >>> condition_text(Condition(1, Feature("colour", Kind.NOMINAL, ("blue", "red")), among=(1,), missing=True))
    'colour = red or missing'
    """
    name = feature_name(condition.feature.name)
    if not condition.known:
        return f"{name} missing" if condition.missing else f"{name} impossible"
    text = _known(condition, name, max_categories)
    return f"{text} or missing" if condition.missing else text


def _known(condition: Condition, name: str, max_categories: int | None) -> str:
    """Write the condition on a value that is not missing."""
    feature, above, at_most = condition.feature, condition.above, condition.at_most
    if condition.among is not None:
        return f"{name} {membership_text(feature, condition.among, max_categories)}"
    low = None if above is None else threshold_text(feature, above)
    high = None if at_most in (None, inf) else threshold_text(feature, at_most)
    if high is None:
        return f"{name} known" if low is None else f"{name} > {low}"
    return f"{name} ≤ {high}" if low is None else f"{low} < {name} ≤ {high}"
