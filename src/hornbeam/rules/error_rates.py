"""Error rates of a rule with all its conditions, and without each of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.rules.coverage import Coverage, Words
from hornbeam.tree.statistics import pessimistic_errors
from hornbeam.typing import Floats

__all__ = ["ErrorRates", "least_needed"]


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
