"""Reason codes: how far each feature moved a probability, or a mean, on the decision path of a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hornbeam.explain.path import DecisionPath
from hornbeam.explain.row_terms import RowTerm
from hornbeam.tree import Condition
from hornbeam.tree.words import feature_name, label_text, mean_text, plain_label
from hornbeam.typing import Label


@dataclass(frozen=True, slots=True)
class Reason:
    """The effect of a feature on the probability of a class, or on the mean.

    Parameters
    ----------
    positive : hashable or None
        The class; None if the target is numeric.
    conditions : tuple of Condition
        The conditions on the feature that the row meets; several if the row has several paths, none of a term.
    change : float
        Change of the probability, summed over all splits on the feature.
    before, after : float or None
        The probability before and after; None if the feature is tested at several nodes, or on several paths.
    term : object, optional
        The term of a node that is the reason, instead of conditions.

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

    positive: Label | None
    conditions: tuple[Condition, ...]
    change: float
    before: float | None = None
    after: float | None = None
    term: RowTerm | None = None

    @property
    def feature(self) -> str:
        """The name of the feature."""
        return (self.term or self.conditions[0]).feature.name

    def __str__(self) -> str:
        conditions = ", or ".join(map(str, self.conditions))
        if self.term is not None:
            conditions = f"{feature_name(self.feature)} = {self.term.value_text}"
        if self.positive is None:
            what, number = "the mean", mean_text
        else:
            what, number = label_text(self.positive), "{:.3f}".format
        if self.before is None or self.after is None:
            return f"{conditions} moved {what} by {'+' * (self.change >= 0)}{number(self.change)}"
        return f"{conditions} moved {what} from {number(self.before)} to {number(self.after)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "feature": self.feature,
            "text": str(self),
            **({} if self.positive is None else {"positive": plain_label(self.positive)}),
            "change": self.change,
            "before": self.before,
            "after": self.after,
            "conditions": [condition.to_dict() for condition in self.conditions],
        }


def reasons(paths: Iterable[DecisionPath], positive: Label | None, k: int) -> tuple[Reason, ...]:
    """Compute how far each feature moved the probability of class k, or the mean, on all paths of a row.

    The changes, the largest first, add up to the row's probability minus that of the root. A split changes the
    probability by the difference between child and parent. If a row has several paths, each counts by its share. Terms
    change the probability one after the other, from the root down: each change is that after the terms before it.
    """
    paths = tuple(paths)
    change: dict[str, float] = {}
    conditions: dict[str, dict[Condition, None]] = {}
    ends: dict[str, list[tuple[float, float]]] = {}
    for path in paths:
        on_path: dict[str, Condition] = {}
        for above, step in zip(path.steps, path.steps[1:], strict=False):
            assert step.condition is not None
            name = step.condition.feature.name
            on_path[name] = on_path[name] & step.condition if name in on_path else step.condition
            before, after = above.probability[k], step.probability[k]
            change[name] = change.get(name, 0.0) + path.share * (after - before)
            ends.setdefault(name, []).append((before, after))
        for name, condition in on_path.items():
            conditions.setdefault(name, {})[condition] = None
    found = [
        Reason(
            positive,
            tuple(conditions[name]),
            change[name],
            *(ends[name][0] if _once(paths, ends[name]) else ()),
        )
        for name in change
    ]
    for path in paths:
        before = path.steps[-1].probability[k]
        for term in path.terms:
            after = term.probability[k]
            if any(term.change):
                found.append(Reason(positive, (), path.share * (after - before), before, after, term))
            before = after
    return tuple(sorted(found, key=lambda reason: -abs(reason.change)))


def _once(paths: tuple[DecisionPath, ...], ends: list[tuple[float, float]]) -> bool:
    return len(paths) == 1 and len(ends) == 1
