"""Removal of conditions from rules, by the error rate without each of them (Quinlan, C4.5, 1993, chapter 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.rules.coverage import Coverage, Words
from hornbeam.rules.rule import Rule, RuleSet, default_rule, raw_rule
from hornbeam.tree.condition import Condition, merge_conditions
from hornbeam.tree.statistics import pessimistic_errors
from hornbeam.typing import Floats

_MIN_SUPPORT = 1.0  # weight of a leaf that becomes a rule


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Error rates of rules for one class, with the constants of `pessimistic_errors`.

    `default` is the error rate of predicting the class for every row, by Laplace's estimate.
    """

    coverage: Coverage
    target: int
    confidence: float = 0.25
    constants: str = "c4.5"
    default: float = field(init=False)

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ParameterError(f"confidence={self.confidence!r}: expected a number between 0 and 1.")
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
        expected = pessimistic_errors(n, e, self.confidence, self.constants) / safe
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


def simplify(rules: RuleSet, table: Table, *, confidence: float = 0.25, constants: str = "c4.5") -> RuleSet:
    """Remove conditions from each rule while its error rate does not rise.

    Parameters
    ----------
    rules : RuleSet
        Rules of leaves. The two bounds of an interval are two conditions. With ``extract(tree, merge=False)`` a bound
        can also be replaced by an earlier threshold of the same path.
    table : Table
        Rows to compute errors on, usually those the tree was grown from.
    confidence : float, default 0.25
        A smaller value gives higher error rates to rules with few rows, and removes more conditions.
    constants : {"j48", "c4.5"}, default "c4.5"
        Constants of the pessimistic errors (`hornbeam.tree.statistics.pessimistic_errors`).

    Returns
    -------
    RuleSet
        Distinct rules that are better than predicting their class for every row, in the order of the leaves. They
        overlap and are not ordered yet: `choose_rules` makes a list of them. They have no terms: those of a leaf are
        for its own rows.

    Notes
    -----
    As in C4.5rules: while some condition can be removed without raising the pessimistic or the actual error rate, the
    condition is removed without which the pessimistic rate is lowest, the last of ties. Rules without rows or
    conditions are removed, and rules whose pessimistic rate is 1 - (n_class + 1) / (n + 2) or more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.rules import extract
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TreeClassifier("c4.5", pruning="collapse").fit(X, y).tree_
    >>> extract(tree), simplify(extract(tree), Table.read(X, y, schema=tree.schema))
    (RuleSet(5 rules, 11 conditions, default 0), RuleSet(5 rules, 8 conditions, default 0))
    """
    coverage = Coverage(table)
    class_totals = coverage.class_totals
    rates_of_class = [ErrorRates(coverage, k, confidence, constants) for k in range(rules.schema.n_classes)]
    found: dict[tuple[tuple[Condition, ...], int], Rule] = {}
    for rule in rules:
        rates = rates_of_class[rule.target]
        kept, error = _shortened(rule, rates) if rule.support >= _MIN_SUPPORT else ([], 1.0)
        if kept and error < rates.default:
            conditions = merge_conditions(sorted(kept, key=attrgetter("column")))
            covered = coverage.class_weight(coverage.rows(conditions))
            found.setdefault((conditions, rule.target), raw_rule(conditions, rule.target, covered, error))
    return RuleSet(
        rules.schema, tuple(found.values()), default_rule(class_totals, int(class_totals.argmax()))
    )


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
