"""A classification rule, and the first rule that fires on each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hornbeam.data.table import Table
from hornbeam.tree.arrays import read_only
from hornbeam.tree.condition import Condition
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.statistics import rate_bounds
from hornbeam.tree.words import label_text, plain_label, probability_text
from hornbeam.typing import Floats, Indices, Label


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rule:
    """Conditions and a class, with class weights and probabilities.

    Parameters
    ----------
    conditions : tuple of Condition
        One per feature, in the order of the features. Without conditions the rule fires on every row.
    classes : tuple of hashable
        The class labels.
    code : int
        Position of the predicted class in `classes`.
    covered : float64 array of shape (n_classes,)
        Weight of each class among the training rows that meet the conditions.
    decided : float64 array of shape (n_classes,)
        The same without the rows that an earlier rule of the list fires on.
    probability : float64 array of shape (n_classes,)
        The probability of each class.
    size : float
        Effective number of rows of the probabilities.
    error : float
        Pessimistic error rate on the rows that meet the conditions.
    slopes : Slopes, optional
        Terms that change the probabilities with the values of a row, all of node 0. Default: none.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    >>> first, second = clf.rules()
    >>> print(second)
    if x0 > 0.5 then yes 1.000
    >>> second.prediction, second.probability, second.covers, second.wrong
    ('yes', array([0., 1.]), 2.0, 0.0)
    >>> low, high = second.interval(level=0.8)
    >>> low.round(2), high.round(2)
    (array([0.  , 0.47]), array([0.53, 1.  ]))
    """

    conditions: tuple[Condition, ...]
    classes: tuple[Label, ...]
    code: int
    covered: Floats
    decided: Floats
    probability: Floats
    size: float
    error: float
    slopes: Slopes = field(default_factory=Slopes.none)

    def __post_init__(self) -> None:
        for name in ("covered", "decided", "probability"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    @property
    def prediction(self) -> Label:
        """The predicted class."""
        return self.classes[self.code]

    @property
    def covers(self) -> float:
        """Weight of the training rows that meet the conditions."""
        return float(self.covered.sum())

    @property
    def wrong(self) -> float:
        """Weight of the rows of other classes among them."""
        return float(self.covered.sum() - self.covered[self.code])

    @property
    def decides(self) -> float:
        """Weight of those of them that no earlier rule fires on."""
        return float(self.decided.sum())

    @property
    def n_conditions(self) -> int:
        """Number of conditions; an interval with two bounds counts as two."""
        return sum(len(condition.parts) for condition in self.conditions)

    def interval(self, *, level: float = 0.9) -> tuple[Floats, Floats]:
        """Compute bounds that contain the true rate of each class with a given probability.

        Parameters
        ----------
        level : float, default 0.9
            Probability that the true rate is within the bounds.

        Returns
        -------
        low, high : float64 arrays of shape (n_classes,)
            From `probability` and `size`.
        """
        return rate_bounds(self.probability, np.full_like(self.probability, self.size), level)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON, with bounds of level 0.9.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> rules = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).rules()
        >>> plain = rules[0].to_dict()
        >>> plain["if"], plain["prediction"], plain["probability"]
        (['x0 ≤ 0.5'], 'no', [1.0, 0.0])
        """
        low, high = self.interval()
        return {
            "if": [str(condition) for condition in self.conditions],
            "prediction": plain_label(self.prediction),
            "classes": [plain_label(label) for label in self.classes],
            "probability": self.probability.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "covers": self.covers,
            "wrong": self.wrong,
            "decides": self.decides,
        }

    def __str__(self) -> str:
        tests = " and ".join(map(str, self.conditions)) or "anything"
        probability = probability_text(self.probability.item(self.code))
        return f"if {tests} then {label_text(self.prediction)} {probability}"

    def __repr__(self) -> str:
        return f"Rule({self})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.__dataclass_fields__)


def raw_rule(
    conditions: tuple[Condition, ...], classes: tuple[Label, ...], code: int, covered: Floats, error: float
) -> Rule:
    """Make a rule with the class frequencies of the rows it covers."""
    size = float(covered.sum())
    return Rule(conditions, classes, code, covered, covered, covered / size, size, error)


def default_rule(classes: tuple[Label, ...], class_totals: Floats, code: int) -> Rule:
    """Make the rule without conditions, from the class weights of all rows."""
    return raw_rule((), classes, code, class_totals, float(1 - class_totals[code] / class_totals.sum()))


def first_rules(rules: Sequence[Rule], table: Table) -> Indices:
    """Find the first rule that fires on each row of a table; the number of rules if none does."""
    decided = np.full(table.n_rows, len(rules), np.int32)
    left = np.arange(table.n_rows)
    for at, rule in enumerate(rules):
        fires = np.ones(len(left), np.bool_)
        for condition in rule.conditions:
            fires &= condition.holds_in(table.columns[condition.column][left])
        decided[left[fires]] = at
        left = left[~fires]
    return decided
