"""Terms on the path of one row: the value, its effect, and the prediction after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any

import numpy as np

from hornbeam.data.schema import Feature
from hornbeam.export.slope_text import change_text, factor_text, path_terms
from hornbeam.export.wording import value_of, value_text
from hornbeam.kernels import elementary
from hornbeam.tree.condition import is_missing
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import feature_name, label_text, plain_label, threshold_text
from hornbeam.typing import Category, Floats, Label


@dataclass(frozen=True, slots=True)
class RowTerm:
    """The effect of a feature on the prediction of one row, by a term of a node on its path.

    Parameters
    ----------
    feature : Feature
    value : str, number, bool or None
        The row's value; None if it is missing.
    value_text : str
        The value as text, with the limit that takes its place if it is outside of the term's range.
    change : tuple of float
        Added to the score of each class, or to the mean.
    log_factor : tuple of float
        Logarithm of the factor of the odds of each class against all others; empty for a numeric target.
    probability : tuple of float
        Probabilities, or the mean, after this term and those before it.
    classes : tuple of label, default ()
        The classes; empty for a numeric target.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Schema
    >>> from hornbeam.tree import Skeleton, Slopes, with_slopes
    >>> leaf = Tree.raw(Schema((Feature("late"),), ("good", "bad")), Skeleton.leaf(), np.array([[4, 1]]))
    >>> slopes = Slopes.of([0], [0], low=[0], high=[4], centre=[1], slope=[[0, np.log(2)]])
    >>> term, = row_terms(with_slopes(leaf, slopes), 0, [3.0])
    >>> term.text(1), round(term.factor(1), 6), [round(p, 6) for p in term.probability]
    ('late is 3: odds of bad × 4', 4.0, [0.5, 0.5])
    """

    feature: Feature = field(repr=False)
    value: Category | None
    value_text: str
    change: tuple[float, ...]
    log_factor: tuple[float, ...]
    probability: tuple[float, ...]
    classes: tuple[Label, ...] = field(default=(), repr=False)

    def factor(self, k: int) -> float:
        """Compute the factor of the odds of class k against all others; infinite if it is larger than any number."""
        return exp(self.log_factor[k]) if self.log_factor[k] < 709 else float("inf")

    def text(self, k: int) -> str:
        """Write the value and its effect on the odds of class k, or on the mean."""
        if self.value is None and not any(self.change):
            effect = "no change"
        elif self.log_factor:
            effect = f"odds of {label_text(self.classes[k])} × {factor_text(self.log_factor[k])}"
        else:
            effect = f"mean {change_text(self.change[0])}"
        return f"{feature_name(self.feature.name)} is {self.value_text}: {effect}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        value = None if self.value is None else plain_label(self.value)
        return {
            "feature": self.feature.name,
            "value": value if value not in (float("inf"), float("-inf")) else repr(value),
            "change": list(self.change),
            "probability": list(self.probability),
        }


def row_terms(tree: Tree, node: int, row: Sequence[float]) -> tuple[RowTerm, ...]:
    """Compute the terms of a row that stops at a node, from the root down; empty if its path has none."""
    terms = path_terms(tree, node)
    if not terms:
        return ()
    score = tree.belief[node] if tree.is_regression else elementary.log(tree.belief[node])
    found = []
    for term in terms:
        value = row[term.column]
        change = term.change(value)
        before, score = score, score + change
        found.append(
            RowTerm(
                term.feature,
                value_of(term.feature, value),
                _limited_text(term.feature, value, term.low, term.high),
                tuple(change.tolist()),
                () if tree.is_regression else _change_of_log_odds(before, score),
                tuple((score if tree.is_regression else _softmax(score)).tolist()),
                tree.schema.classes,
            )
        )
    return tuple(found)


def _limited_text(feature: Feature, value: float, low: float, high: float) -> str:
    text = value_text(feature, value)
    if feature.is_nominal or is_missing(feature, value) or low <= value <= high:
        return text
    return f"{text}, taken as {threshold_text(feature, low if value < low else high)}"


def _softmax(score: Floats) -> Floats:
    power = elementary.exp(score - score.max())
    return power / power.sum()


def _change_of_log_odds(before: Floats, after: Floats) -> tuple[float, ...]:
    """Compute the change of the log odds of each class; 0 where the class is certain or impossible."""
    with np.errstate(invalid="ignore"):
        change = _log_odds(after) - _log_odds(before)
    return tuple(np.nan_to_num(change, nan=0.0).tolist())


def _log_odds(score: Floats) -> Floats:
    if len(score) == 1:
        return np.zeros(1)
    others = np.array([np.delete(score, k) for k in range(len(score))])
    largest = others.max(axis=1)
    with np.errstate(invalid="ignore"):
        rest = np.log(np.exp(others - largest[:, None]).sum(axis=1)) + largest
    return score - np.where(np.isneginf(largest), largest, rest)
