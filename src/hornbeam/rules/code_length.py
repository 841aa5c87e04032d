"""What it takes to tell somebody rules, and their exceptions, in bits (Quinlan, ICML 1995)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.kernels.elementary import log2
from hornbeam.rules.coverage import Coverage
from hornbeam.tree.condition import Condition
from hornbeam.typing import Floats

__all__ = ["CodeBook", "exception_bits", "log2_factorial"]

_NEVER = 1e6  # bits for what the code says cannot happen
_TOLERANCE = 1e-6  # rows


@dataclass(frozen=True, slots=True)
class CodeBook:
    """How many bits name a feature, and what is asked of it.

    Parameters
    ----------
    feature : float
        To say which feature.
    branch : tuple of float
        To say which outcome, of each feature.
    subset : tuple of int
        To say which of its categories, of each feature: a bit each.

    Examples
    --------
    >>> from hornbeam import Table
    >>> table = Table.read([["red", 1], ["red", 2], ["blue", 3], ["blue", 4]], ["no", "no", "yes", "yes"])
    >>> book = CodeBook.of(Coverage(table))
    >>> book.branch, round(book.feature, 3)
    ((1.0, 2.0), 0.918)
    >>> colour, size = table.schema.features
    >>> round(book.rule([Condition(0, colour, among=(1,)), Condition(1, size, above=2.0)]), 3)
    4.837
    """

    feature: float
    branch: tuple[float, ...]
    subset: tuple[int, ...]

    @classmethod
    def of(cls, coverage: Coverage) -> CodeBook:
        """Make the code of a table: an entropy of categories, or half the bits of all thresholds and a sign."""
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
        """Count the bits of a rule's conditions, which may come in any order."""
        parts = [part for condition in conditions for part in condition.parts]
        if not parts:
            return 0.0
        return sum(map(self._condition, parts)) + float(log2(len(parts))) - log2_factorial(len(parts))

    def _condition(self, part: Condition) -> float:
        if part.among is not None and len(part.among) > 1:
            return self.feature + self.subset[part.column]
        return self.feature + self.branch[part.column]


def log2_factorial(n: int) -> float:
    """Count the bits of an order of `n` things.

    Examples
    --------
    >>> round(log2_factorial(4), 3)
    4.585
    """
    return float(log2(np.arange(1.0, n + 1)).sum())


def exception_bits(n: float, fires: Floats, wrong: Floats, missed: Floats) -> Floats:
    """Count the bits that say which rows the rules of one class get wrong.

    Parameters
    ----------
    n : float
        All rows.
    fires : float64 array
        Rows that some rule fires on.
    wrong : float64 array
        Those among them that are of another class.
    missed : float64 array
        Rows of the class that no rule fires on.

    Returns
    -------
    float64 array

    Notes
    -----
    Quinlan's biased code ("MDL and categorical theories (continued)", ICML 1995): whoever covers more than half
    of the data is charged as if half of all errors were there, the other side by the errors it has.

    Examples
    --------
    Rules that fire on 6 of 14 rows, 1 of them wrong, and miss 2:

    >>> import numpy as np
    >>> exception_bits(14.0, np.array([6.0]), np.array([1.0]), np.array([2.0])).round(3)
    array([14.335])
    """
    half = 0.5 * (wrong + missed)
    many = fires > 0.5 * n
    said = _biased(fires, wrong, np.where(many, half, wrong))
    unsaid = _biased(n - fires, missed, np.where(many, missed, half))
    bits: Floats = log2(n) + said + unsaid
    return bits


def _biased(n: Floats, errors: Floats, expected: Floats) -> Floats:
    """Bits to say which of n rows are errors, by a code made for so many as expected."""
    none, every = expected <= _TOLERANCE, expected >= n - _TOLERANCE
    rate = np.where(none | every, 0.5, expected / np.where(n > 0, n, 1))
    bits = -errors * log2(rate) - (n - errors) * log2(1 - rate)
    bits = np.where(every, np.where(np.abs(errors - n) <= _TOLERANCE, 0.0, _NEVER), bits)
    found: Floats = np.where(none, np.where(errors <= _TOLERANCE, 0.0, _NEVER), bits)
    return found
