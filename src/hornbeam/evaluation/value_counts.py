"""Ranges, frequent categories and missing values of features, added up over parts of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.typing import Counts, Floats

__all__ = ["ValueCounts"]


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
