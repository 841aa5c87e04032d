"""Distinct rows with their number: what scores and curves of test rows are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.typing import Counts, Floats

__all__ = ["MOST_CELLS", "Cells"]

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
