"""Class probabilities of a list of rules: hierarchical smoothing over rules with fewer conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.rules.coverage import Coverage
from hornbeam.rules.error_rates import ErrorRates, least_needed
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.typing import Floats

__all__ = ["smooth_rules"]

_MAX_ALPHA = 1e150  # rows; the largest sum of weights
_PRIOR = 1.0  # pseudo-count of the uniform prior, so that no probability is 0


def smooth_rules(rules: RuleSet, table: Table, alpha: float = 1.0) -> RuleSet:
    """Count the rows that each rule of a list decides, and smooth their frequencies.

    A rule decides the rows that no earlier rule fires on. Its counts are smoothed with those of more general rules: all
    rows that meet its conditions, then those that meet all but the least needed condition (by the pessimistic error, as
    in `simplify`), and so on, down to all rows. These have the role of ancestors in hierarchical gradient smoothing
    (Zhang, Petitjean, Buntine, PAKDD 2020, equation 4): each adds `alpha` pseudo-counts in its class frequencies, and
    the uniform prior adds one more. The class of each rule is then its most probable class; of ties, the class it had
    before.
    """
    if not 0 <= alpha <= _MAX_ALPHA:
        raise ParameterError(
            f"alpha={alpha!r}: expected a number of rows from 0 to {_MAX_ALPHA:g}. Pass alpha=1.0, say."
        )
    coverage = Coverage(table)
    position = rules.decide(table)

    def smoothed(rule: Rule, at: int) -> Rule:
        rows = np.flatnonzero(position == at)
        general = list(_general_counts(rule, coverage))
        decided = coverage.class_weight(rows)
        borrowed = sum(alpha * counts / counts.sum() for counts in general if counts.any())
        weight = decided + borrowed + _PRIOR / len(decided)
        belief = weight / weight.sum()
        target = int(belief.argmax())
        target = rule.target if belief[rule.target] == belief[target] else target
        size = float(min(decided.sum(), len(rows)))
        return replace(rule, target=target, covered=general[0], decided=decided, belief=belief, size=size)

    *listed, default = [smoothed(rule, at) for at, rule in enumerate((*rules, rules.default))]
    return RuleSet(rules.schema, tuple(listed), default)


def _general_counts(rule: Rule, coverage: Coverage) -> Iterator[Floats]:
    """Yield the class weights of the rows that meet all conditions, all but one, ..., none."""
    rates = ErrorRates(coverage, rule.target)
    left = [part for condition in rule.conditions for part in condition.parts]
    while left:
        yield coverage.class_weight(coverage.rows(left))
        del left[least_needed(rates.without_each(coverage.stack(left))[0])]
    yield coverage.class_totals
