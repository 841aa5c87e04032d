"""Reason codes: which features moved a probability, or a mean, on the way of a row, and how far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hornbeam.explain.path import DecisionPath
from hornbeam.explain.wording import condition_dict
from hornbeam.export.condition_text import condition_text
from hornbeam.export.prediction_text import mean_text
from hornbeam.export.wording import label_text, plain_label
from hornbeam.tree import Condition
from hornbeam.typing import Label

__all__ = ["Reason", "reasons"]


@dataclass(frozen=True, slots=True)
class Reason:
    """What a feature did to the probability of a class, or to the mean.

    Parameters
    ----------
    label : hashable or None
        The class; None if the target is numeric.
    conditions : tuple of Condition
        What was found of the feature; several if the row went several ways.
    change : float
        By how much the probability moved when it was found, over all tests of the feature.
    before, after : float or None
        The probability before and after; None if the feature was asked for at several places, or on several
        ways.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0], [50.0]], ["no", "no", "yes", "yes"])
    >>> reason, = clf.explain([[36.0]])[0].reasons()
    >>> print(reason)
    x0 > 35 moved yes from 0.500 to 1.000
    >>> reason.feature, reason.change
    ('x0', 0.5)
    """

    label: Label | None
    conditions: tuple[Condition, ...]
    change: float
    before: float | None = None
    after: float | None = None

    @property
    def feature(self) -> str:
        """The name of the feature."""
        return self.conditions[0].feature.name

    def __str__(self) -> str:
        found = ", or ".join(map(condition_text, self.conditions))
        if self.label is None:
            what, said = "the mean", mean_text
        else:
            what, said = label_text(self.label), "{:.3f}".format
        if self.before is None or self.after is None:
            return f"{found} moved {what} by {'+' * (self.change >= 0)}{said(self.change)}"
        return f"{found} moved {what} from {said(self.before)} to {said(self.after)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "feature": self.feature,
            "words": str(self),
            **({} if self.label is None else {"class": plain_label(self.label)}),
            "change": self.change,
            "before": self.before,
            "after": self.after,
            "conditions": [condition_dict(condition) for condition in self.conditions],
        }


def reasons(ways: Iterable[DecisionPath], label: Label | None, k: int) -> tuple[Reason, ...]:
    """Find which features moved the probability of a class, or the mean, on the ways of a row.

    Parameters
    ----------
    ways : iterable of DecisionPath
        All ways of one row.
    label : hashable or None
        The class; None if the target is numeric.
    k : int
        Its position among the classes; 0 of a mean.

    Returns
    -------
    tuple of Reason
        One for each feature that was asked for, the largest change first. The changes add up to the row's
        probability less that of the root.

    Notes
    -----
    A test changes the probability by the difference of what its two ends believe. On a row that went several
    ways each counts by its share.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0, 1], [1, 0], [1, 1]], ["a", "a", "b"])
    >>> path, = clf.explain([[1, 1]])[0].paths
    >>> print(*reasons([path], "b", 1), sep="; ")
    x1 > 0.5 moved b from 0.500 to 1.000; x0 > 0.5 moved b from 0.333 to 0.500
    """
    ways = tuple(ways)
    change: dict[str, float] = {}
    found: dict[str, dict[Condition, None]] = {}
    ends: dict[str, list[tuple[float, float]]] = {}
    for way in ways:
        here: dict[str, Condition] = {}
        for above, visit in zip(way.visits, way.visits[1:], strict=False):
            assert visit.condition is not None
            name = visit.condition.feature.name
            here[name] = here[name] & visit.condition if name in here else visit.condition
            before, after = above.belief[k], visit.belief[k]
            change[name] = change.get(name, 0.0) + way.share * (after - before)
            ends.setdefault(name, []).append((before, after))
        for name, condition in here.items():
            found.setdefault(name, {})[condition] = None
    made = [
        Reason(label, tuple(found[name]), change[name], *(ends[name][0] if _once(ways, ends[name]) else ()))
        for name in change
    ]
    return tuple(sorted(made, key=lambda reason: -abs(reason.change)))


def _once(ways: tuple[DecisionPath, ...], ends: list[tuple[float, float]]) -> bool:
    return len(ways) == 1 and len(ends) == 1
