"""The subset of the rules of one class with the shortest description of rules and exceptions (Quinlan, ICML 1995)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels.elementary import log2, row_sums
from hornbeam.rules.coverage import Coverage
from hornbeam.tree.condition import Condition
from hornbeam.tree.level_order import concat_ranges
from hornbeam.typing import Bools, Counts, Floats

_MAX_EXHAUSTIVE = 10  # rules: 1,024 subsets
_RULE_WEIGHT = 0.5  # factor of the bits of rules, as in C4.5: features are redundant
_TRIALS = 11  # greedy searches, from no rules to all rules
_TOLERANCE = 1e-9  # bits; smaller differences are rounding

type _Rows = NDArray[np.intp]
_IMPOSSIBLE = 1e6  # bits of an event of probability 0
_ROUNDING = 1e-6  # rows


@dataclass(frozen=True, slots=True)
class RuleSubsets:
    """Search for the best subset of the rules of one class.

    `fires` are the rows on which each rule fires, `right` marks rows of the class, `weight` is in steps of `unit`, and
    `bits` are the description length of each rule.
    """

    fires: Sequence[_Rows]
    right: Bools
    weight: Counts
    unit: float
    bits: Floats
    n: int = field(init=False)
    n_right: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", int(self.weight.sum()))
        object.__setattr__(self, "n_right", int(self.weight[self.right].sum()))

    def best(self, rng: np.random.Generator) -> Bools:
        """Find the best of all subsets of up to ten rules, or the best of eleven greedy searches.

        Each search starts with a random subset, drawn from `rng` with probability 0, 0.1, ..., 1 for each rule, and
        adds or removes the rule that saves most bits until none saves any.
        """
        if len(self.bits) <= _MAX_EXHAUSTIVE:
            return self._best_of_all()
        greedy = _GreedySearch.of(self)
        best, least = np.zeros(len(self.bits), np.bool_), np.inf
        for trial in range(_TRIALS):
            inside, bits = greedy.search(rng.random(len(self.bits)) < trial / (_TRIALS - 1))
            if bits < least - _TOLERANCE:
                best, least = inside, bits
        return best

    def _best_of_all(self) -> Bools:
        """Count rows by the set of rules that fire on them, then the rows without any rule of each subset."""
        n_rules = len(self.bits)
        pattern = np.zeros(len(self.right), np.intp)
        for rule, rows in enumerate(self.fires):
            pattern[rows] |= 1 << rule
        count = np.bincount(2 * pattern + self.right, self.weight, minlength=2 << n_rules)
        silent = count.reshape((2,) * n_rules + (2,))
        for axis in range(n_rules):
            silent = np.cumsum(silent, axis=axis)
        wrong, right = silent.reshape(-1, 2)[::-1].T  # of the complement of each subset
        subset = np.arange(1 << n_rules)[:, None] >> np.arange(n_rules) & 1
        rule_bits = row_sums(subset * self.bits) - [log2_factorial(k) for k in subset.sum(axis=1).tolist()]
        bits = self.code_length(rule_bits, wrong[0] - wrong, right)
        best: Bools = subset[np.flatnonzero(bits <= bits.min() + _TOLERANCE)[0]] > 0
        return best

    def code_length(self, rule_bits: Floats, wrong: Floats, missed: Floats) -> Floats:
        """Add the bits of rules and those of their exceptions: rows of other classes, and missed rows of the class."""
        fires = self.n_right - missed + wrong
        errors = exception_bits(self.n * self.unit, fires * self.unit, wrong * self.unit, missed * self.unit)
        total: Floats = _RULE_WEIGHT * rule_bits + errors
        return total


@dataclass(slots=True)
class _GreedySearch:
    """Greedy search for a subset, with the change of each rule kept up to date row by row.

    A rule outside the subset would add the rows on which no rule fires. A rule inside would lose the rows on which it
    alone fires.
    """

    rules: RuleSubsets
    begin: _Rows  # per row, the first index into `rule` of the rules that fire on it
    length: _Rows  # per row, the number of these rules
    rule: _Rows
    side: NDArray[np.intp] = field(init=False)  # per row: 0 for other classes, 1 for the class
    firing: NDArray[np.int32] = field(init=False)  # per row, the number of rules of the subset that fire
    firing_weight: Floats = field(init=False)  # per rule and side, of rows with [0, 1] firing rules
    wrong: float = field(init=False)  # weight of other classes on which some rule fires
    missed: float = field(init=False)  # weight of the class on which no rule fires

    @classmethod
    def of(cls, rules: RuleSubsets) -> _GreedySearch:
        """List the rules that fire on each row."""
        rows = np.concatenate(rules.fires)
        rule = np.repeat(np.arange(len(rules.fires)), list(map(len, rules.fires)))
        length = np.bincount(rows, minlength=len(rules.right))
        search = cls(rules, np.cumsum(length) - length, length, rule[np.argsort(rows, kind="stable")])
        search.side = rules.right.astype(np.intp)
        return search

    def search(self, inside: Bools) -> tuple[Bools, float]:
        """Add or remove the rule that saves most bits until none does; return the subset and its bits."""
        self._start(inside)
        while True:
            bits, after = self._code_lengths(inside)
            best = after.argmin().item()
            if not after[best] < bits - _TOLERANCE:
                return inside, bits
            inside[best] = ~inside[best]
            self._toggle(best, 1 if inside[best] else -1)

    def _code_lengths(self, inside: Bools) -> tuple[float, Floats]:
        """Count the bits of a subset, and those with each rule added or removed."""
        rules, k = self.rules, int(inside.sum())
        rule_bits = float(rules.bits[inside].sum()) - log2_factorial(k)
        sign = np.where(inside, -1.0, 1.0)
        order = np.where(inside, log2(float(max(k, 1))), -log2(k + 1.0))
        change = np.where(inside[:, None], self.firing_weight[1], self.firing_weight[0]) * sign[:, None]
        wrong = np.append(self.wrong + change[:, 0], self.wrong)
        missed = np.append(self.missed - change[:, 1], self.missed)
        bits = rules.code_length(np.append(rule_bits + sign * rules.bits + order, rule_bits), wrong, missed)
        return float(bits[-1]), bits[:-1]

    def _start(self, inside: Bools) -> None:
        weight, right = self.rules.weight, self.rules.right
        self.firing = np.zeros(len(right), np.int32)
        for rule in np.flatnonzero(inside).tolist():
            self.firing[self.rules.fires[rule]] += 1
        rows, silent = np.arange(len(right)), self.firing == 0
        sums = [self._sum_by_rule(rows, (self.firing == n).view(np.int8)) for n in (0, 1)]
        self.firing_weight = np.stack(sums)
        self.wrong, self.missed = float(weight[~silent & ~right].sum()), float(weight[silent & right].sum())

    def _toggle(self, rule: int, step: int) -> None:
        rows = self.rules.fires[rule]
        before = self.firing[rows]
        after = before + step
        self.firing[rows] = after
        first = rows[(after if step > 0 else before) == 1]  # rows that get or lose their only rule
        moved = np.bincount(self.side[first], self.rules.weight[first], minlength=2)
        self.wrong, self.missed = self.wrong + step * moved.item(0), self.missed - step * moved.item(1)
        for n in (0, 1):
            change = (after == n).astype(np.int8) - (before == n)
            changed = np.flatnonzero(change)
            self.firing_weight[n] += self._sum_by_rule(rows[changed], change[changed])

    def _sum_by_rule(self, rows: _Rows, factor: NDArray[np.int8]) -> Floats:
        """Add up the weights of rows, times `factor`, for each rule that fires on them and each side."""
        n_rules, length = len(self.rules.bits), self.length[rows]
        where = 2 * self.rule[concat_ranges(self.begin[rows], length)] + np.repeat(self.side[rows], length)
        weight = np.repeat(self.rules.weight[rows] * factor, length)
        total: Floats = np.bincount(where, weight, minlength=2 * n_rules).reshape(n_rules, 2)
        return total


@dataclass(frozen=True, slots=True)
class CodeBook:
    """Number of bits that encode a condition: of the choice of a feature, and of a branch of each feature.

    `subset` are the bits of a set of categories of each feature: one per category.
    """

    feature: float
    branch: tuple[float, ...]
    subset: tuple[int, ...]

    @classmethod
    def of(cls, coverage: Coverage) -> CodeBook:
        """Compute the code from a table: entropy of categories, or one bit and half of log2 of the number of values."""
        table = coverage.table
        branch = []
        for column in table.columns:
            if column.dtype.kind == "i":
                known = column >= 0
                weight = np.bincount(column[known], coverage.weight[known])
                share = weight[weight > 0] / coverage.weight.sum()
                branch.append(float(-(share * log2(share)).sum()) + 0.0)
            else:
                values = len(np.unique(column[~np.isnan(column)]))
                branch.append(1 + float(log2(values)) / 2 if values > 1 else 0.0)
        used = np.array(branch)[np.array(branch) > 0]
        share = used / used.sum() if len(used) else used
        subset = tuple([len(feature.categories) for feature in table.schema.features])
        return cls(float(-(share * log2(share)).sum()) + 0.0, tuple(branch), subset)

    def rule(self, conditions: Sequence[Condition]) -> float:
        """Count the bits of a set of conditions; their order is not encoded."""
        parts = [part for condition in conditions for part in condition.parts]
        if not parts:
            return 0.0
        return sum(map(self._condition, parts)) + float(log2(len(parts))) - log2_factorial(len(parts))

    def _condition(self, part: Condition) -> float:
        if part.among is not None and len(part.among) > 1:
            return self.feature + self.subset[part.column]
        return self.feature + self.branch[part.column]


def log2_factorial(n: int) -> float:
    """Compute the bits of an order of `n` items."""
    return float(log2(np.arange(1.0, n + 1)).sum())


def exception_bits(n: float, fires: Floats, wrong: Floats, missed: Floats) -> Floats:
    """Count the bits that encode the errors of the rules of one class.

    Of `n` rows, `fires` are those on which some rule fires, `wrong` the rows of other classes among them, and `missed`
    the rows of the class on which no rule fires. This is Quinlan's biased code ("MDL and categorical theories
    (continued)", ICML 1995). There are two parts: rows on which a rule fires, and the others. The larger part is
    encoded as if it had half of all errors, the smaller one by its own number of errors.
    """
    half = 0.5 * (wrong + missed)
    many = fires > 0.5 * n
    fired = _error_bits(fires, wrong, np.where(many, half, wrong))
    silent = _error_bits(n - fires, missed, np.where(many, missed, half))
    bits: Floats = log2(n) + fired + silent
    return bits


def _error_bits(n: Floats, errors: Floats, expected: Floats) -> Floats:
    """Count the bits that encode which of `n` rows are errors, with a code for `expected` errors."""
    none, every = expected <= _ROUNDING, expected >= n - _ROUNDING
    rate = np.where(none | every, 0.5, expected / np.where(n > 0, n, 1))
    bits = -errors * log2(rate) - (n - errors) * log2(1 - rate)
    bits = np.where(every, np.where(np.abs(errors - n) <= _ROUNDING, 0.0, _IMPOSSIBLE), bits)
    found: Floats = np.where(none, np.where(errors <= _ROUNDING, 0.0, _IMPOSSIBLE), bits)
    return found
