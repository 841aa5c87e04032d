"""What a list of rules thinks of a row: the rows each rule decides, and what wider circles lend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.rules.coverage import Coverage
from hornbeam.rules.dropping import Dropping, least_missed
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.typing import Floats

__all__ = ["smooth_rules"]

_MOST_LENT = 1e150  # rows; as many as all weights may add up to
_PRIOR = 1.0  # rows of the uniform distribution, so that no probability is 0


def smooth_rules(rules: RuleSet, table: Table, alpha: float = 1.0) -> RuleSet:
    """Count the rows that each rule of a list decides, and smooth their frequencies.

    Parameters
    ----------
    rules : RuleSet
    table : Table
        The rows to count.
    alpha : float, default 1.0
        Rows lent by each wider circle.

    Returns
    -------
    RuleSet
        Each rule names the class it believes in most; of equals, the one it named before.

    Notes
    -----
    A rule speaks for the rows that earlier rules of the list leave to it. They lie in a row of circles, each
    within the next: all rows that meet the conditions, those that meet all but the condition the rule misses
    least (by its pessimistic error, as when a rule is simplified), and so on, to all rows. What the ancestors
    of a node are in hierarchical gradient smoothing (Zhang, Petitjean, Buntine, PAKDD 2020, equation 4) the
    circles are here: each lends `alpha` rows of its frequencies, and nobody in particular one more. Circles
    that keep only a few of the conditions are hardly ever as pure as the rule, which was chosen for that.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.rules import extract
    >>> X, y = [[0.0], [1.0], [2.0]], ["no", "yes", "yes"]
    >>> tree = TreeClassifier("cart").fit(X, y).tree_
    >>> rules = smooth_rules(extract(tree), Table.read(X, y, schema=tree.schema))
    >>> [rule.belief.round(3).tolist() for rule in rules]
    [[0.708, 0.292], [0.167, 0.833]]
    """
    if not 0 <= alpha <= _MOST_LENT:
        raise ParameterError(
            f"alpha={alpha!r}: expected a number of rows from 0 to {_MOST_LENT:g}. Pass alpha=1.0, say."
        )
    coverage = Coverage(table)
    position = rules.decide(table)

    def counted(rule: Rule, at: int) -> Rule:
        rows = np.flatnonzero(position == at)
        circles = list(_circles(rule, coverage))
        decided = coverage.tally(rows)
        lent = sum(alpha * circle / circle.sum() for circle in circles if circle.any())
        weight = decided + lent + _PRIOR / len(decided)
        belief = weight / weight.sum()
        target = int(belief.argmax())
        target = rule.target if belief[rule.target] == belief[target] else target
        size = float(min(decided.sum(), len(rows)))
        return replace(rule, target=target, covered=circles[0], decided=decided, belief=belief, size=size)

    made = [counted(rule, at) for at, rule in enumerate((*rules, rules.default))]
    return RuleSet(rules.schema, tuple(made[:-1]), made[-1])


def _circles(rule: Rule, coverage: Coverage) -> Iterator[Floats]:
    """The classes of the rows that meet all conditions, all but one, ..., none."""
    judge = Dropping(coverage, rule.target)
    left = [part for condition in rule.conditions for part in condition.parts]
    while left:
        yield coverage.tally(coverage.rows(left))
        del left[least_missed(judge.rates(coverage.stack(left))[0])]
    yield coverage.classes
