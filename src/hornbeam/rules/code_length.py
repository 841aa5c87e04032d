"""Description length, in bits, of rules and their exceptions (Quinlan, ICML 1995)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.kernels.elementary import log2
from hornbeam.rules.coverage import Coverage
from hornbeam.tree.condition import Condition
from hornbeam.typing import Floats

__all__ = ["CodeBook", "exception_bits", "log2_factorial"]

_IMPOSSIBLE = 1e6  # bits of an event of probability 0
_TOLERANCE = 1e-6  # rows


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
    none, every = expected <= _TOLERANCE, expected >= n - _TOLERANCE
    rate = np.where(none | every, 0.5, expected / np.where(n > 0, n, 1))
    bits = -errors * log2(rate) - (n - errors) * log2(1 - rate)
    bits = np.where(every, np.where(np.abs(errors - n) <= _TOLERANCE, 0.0, _IMPOSSIBLE), bits)
    found: Floats = np.where(none, np.where(errors <= _TOLERANCE, 0.0, _IMPOSSIBLE), bits)
    return found
