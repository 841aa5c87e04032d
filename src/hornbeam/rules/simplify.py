"""Removal of conditions from rules, by the error rate without each of them (Quinlan, C4.5, 1993, chapter 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from hornbeam.checks import check_share
from hornbeam.data.table import Table
from hornbeam.rules.coverage import Coverage, Words
from hornbeam.rules.rule import Rule, default_rule, raw_rule
from hornbeam.tree.condition import Condition, merge_conditions
from hornbeam.tree.statistics import pessimistic_errors
from hornbeam.typing import Floats

_MIN_SUPPORT = 1.0  # weight of a leaf that becomes a rule


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Error rates of rules for one class, with the constants of C4.5.

    `default` is the error rate of predicting the class for every row, by Laplace's estimate.
    """

    coverage: Coverage
    target: int
    confidence: float = 0.25
    default: float = field(init=False)

    def __post_init__(self) -> None:
        check_share("confidence", self.confidence)
        classes = self.coverage.class_totals
        rate = float(1 - (classes[self.target] + 1) / (classes.sum() + 2))
        object.__setattr__(self, "default", rate)

    def without_each(self, stack: Words) -> tuple[Floats, Floats]:
        """Compute pessimistic and actual error rates: with all conditions, without the first, the second, ...

        Each row of `stack` is the bit set of one condition (`Coverage.stack`).
        """
        met = _all_but_one(stack)
        n = self.coverage.total_weight(met)
        e = n - self.coverage.total_weight(met & self.coverage.members[self.target])
        some = n > 0
        safe = np.where(some, n, 1.0)
        expected = pessimistic_errors(n, e, self.confidence, "c4.5") / safe
        return np.where(some, expected, self.default), np.where(some, e / safe, 0.0)


def least_needed(expected: Floats) -> int:
    """Find the condition without which the pessimistic error rate is lowest; the last of ties."""
    return int(np.flatnonzero(expected[1:] == expected[1:].min())[-1])


def _all_but_one(met: Words) -> Words:
    """Compute the rows that meet all conditions, all but the first, all but the second, ..."""
    all_rows = np.full_like(met[:1], -1 % 2**64)
    before = np.vstack([all_rows, np.bitwise_and.accumulate(met, axis=0)])
    after = np.vstack([np.bitwise_and.accumulate(met[::-1], axis=0)[::-1], all_rows])
    return np.vstack([before[-1:], before[:-1] & after[1:]])


def simplify(rules: Iterable[Rule], table: Table, *, confidence: float = 0.25) -> tuple[Rule, ...]:
    """Remove conditions from each rule while its error rate does not rise (`RuleSet.simplify`); the default is last."""
    coverage = Coverage(table)
    classes, class_totals = table.schema.classes, coverage.class_totals
    rates_of_class = [ErrorRates(coverage, k, confidence) for k in range(len(classes))]
    found: dict[tuple[tuple[Condition, ...], int], Rule] = {}
    for rule in rules:
        rates = rates_of_class[rule.code]
        kept, error = _shortened(rule, rates) if rule.covers >= _MIN_SUPPORT else ([], 1.0)
        if kept and error < rates.default:
            conditions = merge_conditions(sorted(kept, key=attrgetter("column")))
            covered = coverage.class_weight(coverage.rows(conditions))
            found.setdefault(
                (conditions, rule.code), raw_rule(conditions, classes, rule.code, covered, error)
            )
    return (*found.values(), default_rule(classes, class_totals, int(class_totals.argmax())))


def _shortened(rule: Rule, rates: ErrorRates) -> tuple[list[Condition], float]:
    """Find the conditions to keep, and the pessimistic error rate."""
    left = [part for condition in rule.conditions for part in condition.parts]
    if not left:
        return left, rates.default
    stack = rates.coverage.stack(left)
    while left:
        expected, actual = rates.without_each(stack)
        if not ((expected[1:] <= expected[0]) | (actual[1:] <= actual[0])).any():
            return left, float(expected[0])
        least = least_needed(expected)
        del left[least]
        stack = np.delete(stack, least, axis=0)
    return left, rates.default
