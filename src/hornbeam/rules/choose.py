"""Choice and order of rules, the default class, and smoothed class probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.rules.coverage import Coverage
from hornbeam.rules.rule import Rule, default_rule, first_rules
from hornbeam.rules.simplify import ErrorRates, least_needed
from hornbeam.rules.subset import CodeBook, RuleSubsets
from hornbeam.typing import Bools, Floats

type _Rows = NDArray[np.intp]
_MAX_ALPHA = 1e150  # rows; the largest sum of weights
_PRIOR = 1.0  # pseudo-count of the uniform prior, so that no probability is 0


def choose_rules(
    rules: Sequence[Rule], table: Table, *, alpha: float = 1.0, seed: int = 0
) -> tuple[Rule, ...]:
    """Choose a subset of rules, order them and smooth their probabilities (`RuleSet.choose`); the default is last."""
    coverage = Coverage(table)
    fires = [coverage.rows(rule.conditions) for rule in rules]
    kept = _shortest_subsets(rules, coverage, fires, seed)
    order = _ordered(rules, coverage, fires, kept)
    default = _default_class(coverage, [fires[at] for at in order])
    order = _without_harmful(rules, coverage, fires, order, default)
    last = default_rule(table.schema.classes, coverage.class_totals, default)
    return smooth_rules([*(rules[at] for at in order), last], table, alpha)


def _shortest_subsets(
    rules: Sequence[Rule], coverage: Coverage, fires: Sequence[_Rows], seed: int
) -> list[int]:
    """Find the rules of each class with the shortest description."""
    book, kept = CodeBook.of(coverage), []
    for target in range(coverage.table.schema.n_classes):
        own = [at for at, rule in enumerate(rules) if rule.code == target]
        if own:
            subsets = RuleSubsets(
                fires=[fires[at] for at in own],
                right=coverage.target == target,
                weight=coverage.weight,
                unit=coverage.table.unit,
                bits=np.array([book.rule(rules[at].conditions) for at in own]),
            )
            inside = subsets.best(np.random.default_rng([seed, target]))
            kept += [at for at, keep in zip(own, inside.tolist(), strict=True) if keep]
    return kept


def _ordered(
    rules: Sequence[Rule], coverage: Coverage, fires: Sequence[_Rows], kept: Sequence[int]
) -> list[int]:
    """Order classes by the errors of their rules, and the rules of a class by their pessimistic error rate."""
    covered: dict[int, Bools] = {}
    for at in kept:
        covered.setdefault(rules[at].code, np.zeros(len(coverage.target), np.bool_))[fires[at]] = True
    left = np.ones(len(coverage.target), np.bool_)
    order: list[int] = []
    while covered:
        wrong = {
            target: coverage.weight[rows & left & (coverage.target != target)].sum()
            for target, rows in sorted(covered.items())
        }
        best = min(wrong, key=wrong.__getitem__)
        order += sorted((at for at in kept if rules[at].code == best), key=lambda at: rules[at].error)
        left &= ~covered.pop(best)
    return order


def _default_class(coverage: Coverage, fires: Sequence[_Rows]) -> int:
    """Find the most frequent class where no rule fires; of ties, the class more frequent among all rows."""
    silent = np.ones(len(coverage.target), np.bool_)
    for rows in fires:
        silent[rows] = False
    left, totals = coverage.class_weight(np.flatnonzero(silent)), coverage.class_totals
    return max(range(len(left)), key=lambda target: (left[target], totals[target]))


def _without_harmful(
    rules: Sequence[Rule], coverage: Coverage, fires: Sequence[_Rows], order: list[int], default: int
) -> list[int]:
    """Remove the first rule that is worse than the rules after it, until there is no such rule."""
    n = len(coverage.target)
    place = np.repeat(np.arange(len(order)), [len(fires[at]) for at in order])
    rows = np.concatenate([fires[at] for at in order]) if order else np.zeros(0, np.intp)
    target = np.array([*[rules[at].code for at in order], default])
    while True:
        first = np.full(n, len(order))
        np.minimum.at(first, rows, place)
        second = np.full(n, len(order))
        later = place > first[rows]
        np.minimum.at(second, rows[later], place[later])
        one, other, truth = target[first], target[second], coverage.target
        gain = np.where(one == other, 0, (one == truth).astype(np.int64) - (other == truth)) * coverage.weight
        total: Floats = np.bincount(first, gain, minlength=len(order) + 1)[: len(order)]
        harmful = np.flatnonzero(total < 0)
        if not len(harmful):
            left = np.isin(np.arange(len(order)), place)
            return [at for at, stays in zip(order, left.tolist(), strict=True) if stays]
        stays = place != harmful[0]
        place, rows = place[stays], rows[stays]


def smooth_rules(listed: Sequence[Rule], table: Table, alpha: float = 1.0) -> tuple[Rule, ...]:
    """Count the rows that each rule of a list decides, and smooth their frequencies; the default is last.

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
    position = first_rules(listed[:-1], table)

    def smoothed(rule: Rule, at: int) -> Rule:
        rows = np.flatnonzero(position == at)
        general = list(_general_counts(rule, coverage))
        decided = coverage.class_weight(rows)
        borrowed = sum(alpha * counts / counts.sum() for counts in general if counts.any())
        weight = decided + borrowed + _PRIOR / len(decided)
        probability = weight / weight.sum()
        code = int(probability.argmax())
        code = rule.code if probability[rule.code] == probability[code] else code
        size = float(min(decided.sum(), len(rows)))
        return replace(
            rule, code=code, covered=general[0], decided=decided, probability=probability, size=size
        )

    return tuple(smoothed(rule, at) for at, rule in enumerate(listed))


def _general_counts(rule: Rule, coverage: Coverage) -> Iterator[Floats]:
    """Yield the class weights of the rows that meet all conditions, all but one, ..., none."""
    rates = ErrorRates(coverage, rule.code)
    left = [part for condition in rule.conditions for part in condition.parts]
    while left:
        yield coverage.class_weight(coverage.rows(left))
        del left[least_needed(rates.without_each(coverage.stack(left))[0])]
    yield coverage.class_totals
