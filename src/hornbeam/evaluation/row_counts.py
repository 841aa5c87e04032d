"""Distinct rows, and values of each feature, with their numbers, added up over parts of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.typing import Counts, Floats

MOST_CELLS = 1 << 20  # distinct rows; of more, numbers are rounded
# How many of the 52 low bits of a value are left out, level by level.
_LEVELS = (0, 28, 36, 40, 43, 45, 46, 47, 48, 49, 50, 51, 52)


@dataclass(slots=True, eq=False)
class Cells:
    """Distinct rows of codes and numbers, in order, with their count.

    Those of other rows can be added, in any order, with the same result. If there are more than `most`, low bits
    of the numbers are left out: as many as needed for all rows together, so not more for any part of them. The sign and
    the exponent stay, so there may be more cells if they have many numbers.

    `keys`, of shape (n_cells, n_codes + n_numbers), are the codes, and the bits of the numbers; `level` is the position
    in `_LEVELS`.
    """

    keys: Counts
    count: Counts
    n_numbers: int
    level: int = 0
    most: int | None = None

    @classmethod
    def of(cls, codes: list[NDArray[Any]], numbers: list[Floats], most: int | None = None) -> Self:
        """Count the rows of some columns."""
        bits = [(column + 0.0).view(np.int64) for column in numbers]  # -0.0 is 0.0
        keys = np.column_stack([*(column.astype(np.int64) for column in codes), *bits])
        return cls(keys, np.ones(len(keys), np.int64), len(numbers), most=most)._merged()

    def __iadd__(self, other: Self) -> Self:
        level = max(self.level, other.level)
        parts = [one._at(level) for one in (self, other)]
        self.keys = np.concatenate([part.keys for part in parts])
        self.count = np.concatenate([part.count for part in parts])
        self.level = level
        merged = self._merged()
        self.keys, self.count, self.level = merged.keys, merged.count, merged.level
        return self

    @property
    def codes(self) -> Counts:
        """The codes of each cell."""
        return self.keys[:, : self.keys.shape[1] - self.n_numbers]

    @property
    def numbers(self) -> Floats:
        """The numbers of each cell; of rounded ones, the middle of those that were rounded together."""
        bits = self.keys[:, self.keys.shape[1] - self.n_numbers :]
        dropped = _LEVELS[self.level]
        middle = np.where(bits == 0, 0, bits | (1 << dropped >> 1 if dropped else 0))
        return middle.view(np.float64)

    @property
    def n_bits(self) -> int:
        """Bits of a number that are kept, beside its sign and exponent."""
        return 53 - _LEVELS[self.level]

    def _at(self, level: int) -> Self:
        """Leave out the low bits of a level, without merging."""
        if level == self.level:
            return self
        keys, dropped = self.keys.copy(), _LEVELS[level]
        if self.n_numbers:
            keys[:, -self.n_numbers :] = keys[:, -self.n_numbers :] >> dropped << dropped
        return type(self)(keys, self.count, self.n_numbers, level, self.most)

    def _merged(self) -> Self:
        """Sort, add up equal rows, and leave out bits until there are few enough."""
        order = np.lexsort(self.keys.T[::-1])
        keys = self.keys[order]
        first = np.ones(len(keys), bool)
        first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        begin = np.flatnonzero(first)
        count = np.add.reduceat(self.count[order], begin) if len(keys) else self.count
        merged = type(self)(keys[begin], count, self.n_numbers, self.level, self.most)
        most = MOST_CELLS if self.most is None else self.most
        if len(begin) > most and self.n_numbers and self.level + 1 < len(_LEVELS):
            return merged._at(self.level + 1)._merged()
        return merged


@dataclass(slots=True, eq=False)
class ValueCounts:
    """Values of each feature in some rows; those of other rows can be added.

    `counts` has, of a nominal feature, the rows with an unseen category, a missing value, and each category; of another
    feature the rows with a missing value. `low` and `high` are NaN if all values of a feature are missing.
    """

    n_rows: int
    counts: list[Counts]
    low: Floats
    high: Floats

    @classmethod
    def empty(cls, schema: Schema) -> Self:
        """Return the counts of no rows."""
        counts = [
            np.zeros(2 + len(one.categories) if one.is_nominal else 1, np.int64) for one in schema.features
        ]
        return cls(0, counts, *(np.full(schema.n_features, np.nan) for _ in range(2)))

    @classmethod
    def of(cls, table: Table) -> Self:
        """Count the values of a table."""
        found = cls.empty(table.schema)
        found.n_rows = table.n_rows
        for at, (feature, column) in enumerate(zip(table.schema.features, table.columns, strict=True)):
            if feature.is_nominal:
                found.counts[at] += np.bincount(column + 2, minlength=len(found.counts[at]))
            else:
                known = column[~np.isnan(column)]
                found.counts[at] += len(column) - len(known)
                if len(known):
                    found.low[at], found.high[at] = known.min(), known.max()
        return found

    def __iadd__(self, other: Self) -> Self:
        self.n_rows += other.n_rows
        for own, others in zip(self.counts, other.counts, strict=True):
            own += others
        self.low, self.high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        return self

    def varies(self, at: int) -> bool:
        """Whether a feature has at least two values; a missing one counts as a value."""
        counts = self.counts[at]
        if len(counts) > 1:  # rows with an unseen category may have several
            return bool(counts[0] > 0 or np.count_nonzero(counts) > 1)
        return bool(0 < counts[0] < self.n_rows or self.low[at] < self.high[at])

    def missing(self, at: int) -> int:
        """Rows with a missing value of a feature."""
        return int(self.counts[at][min(1, len(self.counts[at]) - 1)])
