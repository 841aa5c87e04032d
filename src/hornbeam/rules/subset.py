"""The rules of one class that are worth telling: those with which rules and exceptions take the fewest bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels.elementary import log2
from hornbeam.kernels.sums import row_sums
from hornbeam.rules.code_length import exception_bits, log2_factorial
from hornbeam.tree.level_order import concat_ranges
from hornbeam.typing import Bools, Counts, Floats

__all__ = ["Pool"]

_MOST_EXHAUSTIVE = 10  # rules: 1,024 subsets
_RULE_WEIGHT = 0.5  # a bit of a rule counts half: features repeat each other
_TRIALS = 11  # greedy searches, from a subset of no rules to one of all
_GAIN = 1e-9  # bits that are more than rounding

type _Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Pool:
    """Rules of one class, and the rows they fire on.

    Parameters
    ----------
    fires : sequence of intp arrays
        The rows of each rule.
    right : bool array of shape (n_rows,)
        Rows of the class.
    weight : int64 array of shape (n_rows,)
        In steps of `unit`.
    unit : float
    bits : float64 array of shape (n_rules,)
        The code length of each rule.

    Examples
    --------
    The second rule says nothing that the first does not:

    >>> import numpy as np
    >>> right = np.array([True] * 20 + [False] * 20)
    >>> fires = [np.arange(20), np.arange(8)]
    >>> Pool(fires, right, np.ones(40, int), 1.0, np.array([6.0, 3.0])).best(np.random.default_rng(0))
    array([ True, False])
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
        """Find the subset: the best of all of ten rules, else the best that eleven greedy searches find.

        Each search starts with other rules, drawn from `rng` with probability 0, 0.1, ..., 1, and adds or drops
        the rule that saves most, as long as one saves anything.
        """
        if len(self.bits) <= _MOST_EXHAUSTIVE:
            return self._best_of_all()
        climb = _Climb.of(self)
        best, least = np.zeros(len(self.bits), np.bool_), np.inf
        for trial in range(_TRIALS):
            inside, bits = climb.search(rng.random(len(self.bits)) < trial / (_TRIALS - 1))
            if bits < least - _GAIN:
                best, least = inside, bits
        return best

    def _best_of_all(self) -> Bools:
        """Count the rows by the set of rules that fire on them, and from that those without any of a subset."""
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
        told = row_sums(subset * self.bits) - [log2_factorial(k) for k in subset.sum(axis=1).tolist()]
        bits = self.code_length(told, wrong[0] - wrong, right)
        best: Bools = subset[np.flatnonzero(bits <= bits.min() + _GAIN)[0]] > 0
        return best

    def code_length(self, told: Floats, wrong: Floats, missed: Floats) -> Floats:
        """Count the bits of rules that take so many, fire on so many wrong rows and miss so many right ones."""
        fires = self.n_right - missed + wrong
        rest = exception_bits(self.n * self.unit, fires * self.unit, wrong * self.unit, missed * self.unit)
        total: Floats = _RULE_WEIGHT * told + rest
        return total


@dataclass(slots=True)
class _Climb:
    """A greedy search: which rules are in, and what each of them changes.

    A rule that is out would add the rows that no rule fires on; one that is in has for itself the rows that
    only one rule fires on. Both are kept up to date row by row.
    """

    pool: Pool
    begin: _Rows  # of each row, where in `rule` the rules that fire on it begin
    length: _Rows
    rule: _Rows
    side: NDArray[np.intp] = field(init=False)  # of each row: 0 wrong, 1 right
    firing: NDArray[np.int32] = field(init=False)  # of each row, how many rules that are in
    alone: Floats = field(
        init=False
    )  # [rows no rule fires on, rows one rule fires on], of each rule and side
    wrong: float = field(init=False)  # weight that some rule wrongly fires on
    missed: float = field(init=False)  # weight of the class that none fires on

    @classmethod
    def of(cls, pool: Pool) -> _Climb:
        """Turn the rows of each rule into the rules of each row."""
        rows = np.concatenate(pool.fires)
        rule = np.repeat(np.arange(len(pool.fires)), list(map(len, pool.fires)))
        length = np.bincount(rows, minlength=len(pool.right))
        climb = cls(pool, np.cumsum(length) - length, length, rule[np.argsort(rows, kind="stable")])
        climb.side = pool.right.astype(np.intp)
        return climb

    def search(self, inside: Bools) -> tuple[Bools, float]:
        """Add or drop the rule that saves most bits until none does; give the subset and its bits."""
        self._begin(inside)
        while True:
            bits, after = self._weigh(inside)
            best = after.argmin().item()
            if not after[best] < bits - _GAIN:
                return inside, bits
            inside[best] = ~inside[best]
            self._turn(best, 1 if inside[best] else -1)

    def _weigh(self, inside: Bools) -> tuple[float, Floats]:
        """Count the bits of a subset, and those with each rule added or dropped."""
        pool, k = self.pool, int(inside.sum())
        told = float(pool.bits[inside].sum()) - log2_factorial(k)
        sign = np.where(inside, -1.0, 1.0)
        order = np.where(inside, log2(float(max(k, 1))), -log2(k + 1.0))
        theirs = np.where(inside[:, None], self.alone[1], self.alone[0]) * sign[:, None]
        wrong = np.append(self.wrong + theirs[:, 0], self.wrong)
        missed = np.append(self.missed - theirs[:, 1], self.missed)
        bits = pool.code_length(np.append(told + sign * pool.bits + order, told), wrong, missed)
        return float(bits[-1]), bits[:-1]

    def _begin(self, inside: Bools) -> None:
        weight, right = self.pool.weight, self.pool.right
        self.firing = np.zeros(len(right), np.int32)
        for rule in np.flatnonzero(inside).tolist():
            self.firing[self.pool.fires[rule]] += 1
        rows, silent = np.arange(len(right)), self.firing == 0
        self.alone = np.stack([self._spread(rows, (self.firing == n).view(np.int8)) for n in (0, 1)])
        self.wrong, self.missed = float(weight[~silent & ~right].sum()), float(weight[silent & right].sum())

    def _turn(self, rule: int, step: int) -> None:
        rows = self.pool.fires[rule]
        before = self.firing[rows]
        after = before + step
        self.firing[rows] = after
        first = rows[(after if step > 0 else before) == 1]  # rows that get, or lose, their only rule
        moved = np.bincount(self.side[first], self.pool.weight[first], minlength=2)
        self.wrong, self.missed = self.wrong + step * moved.item(0), self.missed - step * moved.item(1)
        for n in (0, 1):
            change = (after == n).astype(np.int8) - (before == n)
            changed = np.flatnonzero(change)
            self.alone[n] += self._spread(rows[changed], change[changed])

    def _spread(self, rows: _Rows, factor: NDArray[np.int8]) -> Floats:
        """Add up, for each rule and side, the weight of those rows it fires on."""
        n_rules, length = len(self.pool.bits), self.length[rows]
        where = 2 * self.rule[concat_ranges(self.begin[rows], length)] + np.repeat(self.side[rows], length)
        weight = np.repeat(self.pool.weight[rows] * factor, length)
        spread: Floats = np.bincount(where, weight, minlength=2 * n_rules).reshape(n_rules, 2)
        return spread
