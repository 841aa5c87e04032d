"""What a list of rules thinks of a row: the rows each rule decides, and what they borrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.rules.coverage import Coverage
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.typing import Floats

__all__ = ["believe"]

_PRIOR = 1.0  # rows of nobody in particular, so that no probability is 0


def believe(rules: RuleSet, coverage: Coverage, m: float = 1.0) -> RuleSet:
    """Count the rows that each rule of a list decides, and shrink their frequencies towards a wider circle.

    Parameters
    ----------
    rules : RuleSet
    coverage : Coverage
        The rows to count.
    m : float, default 1.0
        Rows that a rule borrows; 0 for raw frequencies where there are any.

    Returns
    -------
    RuleSet
        Each rule names the class it believes in most; of equals, the one it named before.

    Notes
    -----
    A rule speaks for the rows that come to it, which earlier rules of the list left over. These are a part of all
    rows that meet its conditions, and those a part of all rows: three circles, each of which borrows m rows
    from the next, as in M-branch smoothing of the nodes of a tree. All rows borrow one of the uniform
    distribution. A rule that decides no row believes what the rows that meet its conditions say.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> from hornbeam.rules import extract
    >>> X, y = [[0.0], [1.0], [2.0]], ["no", "yes", "yes"]
    >>> tree = TreeClassifier("cart").fit(X, y).tree_
    >>> rules = believe(extract(tree), Coverage(Table.read(X, y, schema=tree.schema)))
    >>> [rule.belief.round(3).tolist() for rule in rules]
    [[0.844, 0.156], [0.042, 0.958]]
    """
    if not 0 <= m < np.inf:
        raise ParameterError(f"m={m!r}: expected a finite number of rows, 0 or more.")
    everybody = coverage.classes
    base = _shrunk(everybody, np.full(len(everybody), 1 / len(everybody)), _PRIOR)
    position = rules.decide(coverage.table)

    def counted(rule: Rule, at: int) -> Rule:
        rows = np.flatnonzero(position == at)
        covered = coverage.tally(coverage.rows(rule.conditions))
        decided = coverage.tally(rows)
        belief = _shrunk(decided, _shrunk(covered, base, m), m)
        target = int(belief.argmax())
        target = rule.target if belief[rule.target] == belief[target] else target
        size = float(min(decided.sum(), len(rows)))
        return replace(rule, target=target, covered=covered, decided=decided, belief=belief, size=size)

    made: Sequence[Rule] = [counted(rule, at) for at, rule in enumerate((*rules, rules.default))]
    return RuleSet(rules.schema, tuple(made[:-1]), made[-1])


def _shrunk(weight: Floats, towards: Floats, m: float) -> Floats:
    total = weight.sum() + m
    belief: Floats = (weight + m * towards) / total if total > 0 else towards
    return belief
