"""What becomes of a rule's errors without one of its conditions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.rules.coverage import Coverage, Words
from hornbeam.tree.statistics.pessimism import pessimistic_errors
from hornbeam.typing import Floats

__all__ = ["Dropping", "least_missed"]


@dataclass(frozen=True, slots=True)
class Dropping:
    """The error rates of a rule for one class, with all of its conditions and without each of them.

    Parameters
    ----------
    coverage : Coverage
    target : int
        Code of the class.
    confidence : float, default 0.25
    constants : {"j48", "c4.5"}, default "c4.5"
        Of the errors to expect (`hornbeam.tree.statistics.pessimism.pessimistic_errors`).

    Attributes
    ----------
    default : float
        The error rate of naming the class for every row, by Laplace's estimate.

    Examples
    --------
    >>> from hornbeam import Table
    >>> from hornbeam.tree import Condition
    >>> table = Table.read([[1, 0], [2, 0], [3, 1], [4, 1]], ["no", "yes", "yes", "yes"])
    >>> dropping = Dropping(Coverage(table), target=1)
    >>> x0, x1 = table.schema.features
    >>> tests = [Condition(0, x0, above=1.5), Condition(1, x1, at_most=0.5)]
    >>> expected, actual = dropping.rates(dropping.coverage.stack(tests))
    >>> actual.tolist()
    [0.0, 0.5, 0.0]
    """

    coverage: Coverage
    target: int
    confidence: float = 0.25
    constants: str = "c4.5"
    default: float = field(init=False)

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ParameterError(f"confidence={self.confidence!r}: expected a number between 0 and 1.")
        classes = self.coverage.classes
        rate = float(1 - (classes[self.target] + 1) / (classes.sum() + 2))
        object.__setattr__(self, "default", rate)

    def rates(self, stack: Words) -> tuple[Floats, Floats]:
        """Give the expected and the actual error rate: with all conditions, without the first, the second, ...

        A row of `stack` has the rows of the table that meet a condition (`Coverage.stack`).
        """
        met = _all_but_one(stack)
        n = self.coverage.weigh(met)
        e = n - self.coverage.weigh(met & self.coverage.members[self.target])
        some = n > 0
        safe = np.where(some, n, 1.0)
        expected = pessimistic_errors(n, e, self.confidence, self.constants) / safe
        return np.where(some, expected, self.default), np.where(some, e / safe, 0.0)


def least_missed(expected: Floats) -> int:
    """Find the condition without which the expected error rate is least, the last of equals.

    Examples
    --------
    >>> import numpy as np
    >>> least_missed(np.array([0.2, 0.3, 0.1, 0.1]))
    2
    """
    return int(np.flatnonzero(expected[1:] == expected[1:].min())[-1])


def _all_but_one(met: Words) -> Words:
    """Give the rows that meet all conditions, and those that meet all but the first, the second, ..."""
    everybody = np.full_like(met[:1], -1 % 2**64)
    before = np.vstack([everybody, np.bitwise_and.accumulate(met, axis=0)])
    behind = np.vstack([np.bitwise_and.accumulate(met[::-1], axis=0)[::-1], everybody])
    return np.vstack([before[-1:], before[:-1] & behind[1:]])
