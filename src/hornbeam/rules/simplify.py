"""Conditions that a rule is better off without (Quinlan, C4.5, 1993, chapter 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.rules.condition import Condition, merged
from hornbeam.rules.coverage import Coverage
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.tree.pessimism import pessimistic_errors
from hornbeam.typing import Floats

__all__ = ["simplify"]

_LEAST = 1.0  # rows that a leaf must have for a rule to be made of it


def simplify(
    rules: RuleSet, table: Table, *, confidence: float = 0.25, constants: str = "c4.5"
) -> RuleSet:
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
        Of the errors to expect (`hornbeam.tree.pessimism.pessimistic_errors`).

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
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.rules import extract
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2], [2, 3]] * 5
    >>> y = ["no", "no", "no", "yes", "yes", "yes", "yes", "yes"] * 5
    >>> tree = TreeClassifier("c4.5").fit(X, y).tree_
    >>> rules = simplify(extract(tree), Table.read(X, y, schema=tree.schema))
    >>> extract(tree), rules
    (RuleSet(3 rules, 5 conditions, default 'yes'), RuleSet(3 rules, 4 conditions, default 'yes'))
    """
    coverage = Coverage(table)
    limit = partial(pessimistic_errors, confidence=confidence, constants=constants)
    classes = coverage.classes
    total = classes.sum()
    found: dict[tuple[tuple[Condition, ...], int], Rule] = {}
    for rule in rules:
        if rule.support < _LEAST:
            continue
        parts = [part for condition in rule.conditions for part in condition.parts]
        default = float(1 - (classes[rule.target] + 1) / (total + 2))
        kept, error = _shortened(coverage, parts, rule.target, limit, default)
        if kept and error < default:
            conditions = merged(kept)
            covered = coverage.tally(coverage.rows(conditions))
            size = float(covered.sum())
            shorter = Rule(conditions, rule.target, covered, covered, covered / size, size, error)
            found.setdefault((conditions, rule.target), shorter)
    most = int(classes.argmax())
    everything = Rule((), most, classes, classes, classes / total, float(total), float(1 - classes[most] / total))
    return RuleSet(rules.schema, tuple(found.values()), everything)


def _shortened(
    coverage: Coverage,
    parts: Sequence[Condition],
    target: int,
    limit: Callable[[Floats, Floats], Floats],
    default: float,
) -> tuple[list[Condition], float]:
    """Find the conditions that stay, and the error rate to expect; none where the rule is not worth making."""
    left = list(parts)
    while left:
        met = _all_but_one(np.stack([coverage.bits(part) for part in left]))
        n = coverage.weigh(met)
        e = n - coverage.weigh(met & coverage.members[target])
        some = n > 0
        safe = np.where(some, n, 1.0)
        actual = np.where(some, e / safe, 0.0)
        expected = np.where(some, limit(n, e) / safe, default)
        if not ((expected[1:] <= expected[0]) | (actual[1:] <= actual[0])).any():
            return left, float(expected[0])
        del left[np.flatnonzero(expected[1:] == expected[1:].min())[-1]]
    return left, default


def _all_but_one(met: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Give the rows that meet all conditions, and those that meet all but the first, the second, ..."""
    everybody = np.full_like(met[:1], -1 % 2**64)
    before = np.vstack([everybody, np.bitwise_and.accumulate(met, axis=0)])
    behind = np.vstack([np.bitwise_and.accumulate(met[::-1], axis=0)[::-1], everybody])
    return np.vstack([before[-1:], before[:-1] & behind[1:]])
