"""Conditions that a rule is better off without (Quinlan, C4.5, 1993, chapter 5)."""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from hornbeam.data.table import Table
from hornbeam.rules.coverage import Coverage
from hornbeam.rules.dropping import Dropping, least_missed
from hornbeam.rules.rule import Rule, RuleSet, default_rule, raw_rule
from hornbeam.tree.condition import Condition, merged

__all__ = ["simplify"]

_LEAST = 1.0  # rows that a leaf must have for a rule to be made of it


def simplify(rules: RuleSet, table: Table, *, confidence: float = 0.25, constants: str = "c4.5") -> RuleSet:
    """Drop the conditions of each rule that it needs least, while its expected errors do not rise.

    Parameters
    ----------
    rules : RuleSet
        Rules of leaves. Of the two bounds of an interval each is a condition of its own; unmerged ones
        (``extract(tree, merge=False)``) may also be widened to an earlier threshold of the same path.
    table : Table
        The rows to judge by, usually those the tree was grown from.
    confidence : float, default 0.25
        The smaller, the more errors are expected of rules for few rows, and the more conditions go.
    constants : {"j48", "c4.5"}, default "c4.5"
        Of the errors to expect (`hornbeam.tree.statistics.pessimism.pessimistic_errors`).

    Returns
    -------
    RuleSet
        Different rules that are better than naming their class for every row, in the order of the leaves. They
        overlap, and their order means nothing yet: `choose` makes a list of them.

    Notes
    -----
    As in C4.5rules: as long as some condition could go without a rise of the pessimistic or of the actual error
    rate, that one goes without which the pessimistic rate is least, the last of equals. Rules without rows or
    conditions are dropped, and those expected to be wrong as often as 1 - (n_class + 1) / (n + 2).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.rules import extract
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TreeClassifier("c4.5").fit(X, y).tree_
    >>> extract(tree), simplify(extract(tree), Table.read(X, y, schema=tree.schema))
    (RuleSet(5 rules, 11 conditions, default 0), RuleSet(5 rules, 8 conditions, default 0))
    """
    coverage = Coverage(table)
    classes = coverage.classes
    judges = [Dropping(coverage, k, confidence, constants) for k in range(rules.schema.n_classes)]
    found: dict[tuple[tuple[Condition, ...], int], Rule] = {}
    for rule in rules:
        judge = judges[rule.target]
        kept, error = _shortened(rule, judge) if rule.support >= _LEAST else ([], 1.0)
        if kept and error < judge.default:
            conditions = merged(sorted(kept, key=attrgetter("column")))
            covered = coverage.tally(coverage.rows(conditions))
            found.setdefault((conditions, rule.target), raw_rule(conditions, rule.target, covered, error))
    return RuleSet(rules.schema, tuple(found.values()), default_rule(classes, int(classes.argmax())))


def _shortened(rule: Rule, judge: Dropping) -> tuple[list[Condition], float]:
    """Find the conditions that stay, and the error rate to expect."""
    left = [part for condition in rule.conditions for part in condition.parts]
    if not left:
        return left, judge.default
    stack = judge.coverage.stack(left)
    while left:
        expected, actual = judge.rates(stack)
        if not ((expected[1:] <= expected[0]) | (actual[1:] <= actual[0])).any():
            return left, float(expected[0])
        least = least_missed(expected)
        del left[least]
        stack = np.delete(stack, least, axis=0)
    return left, judge.default
