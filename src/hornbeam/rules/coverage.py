"""The rows of a table that meet conditions, as bit sets.

A set of rows is an array of 64-bit words, so several conditions are combined with a bitwise and. Weights are integers:
for each binary digit there is a set of the rows that have it, and the weight of a set is a sum of bit counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.tree.condition import Condition
from hornbeam.typing import Bools, Counts, Floats, Indices

type Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Training rows: classes, weights in steps of the table's unit, and a cache of the rows that meet each condition.

    `members` are the rows of each class, as bit sets of shape (n_classes, n_words).
    """

    table: Table
    target: Indices = field(init=False)
    weight: Counts = field(init=False)
    members: Words = field(init=False)
    _digits: list[tuple[int, Words]] = field(init=False)
    _met: dict[Condition, Words] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        table = self.table
        if table.target is None:
            raise DataError("the table has no target, expected the class of every row: Table.read(X, y)")
        weight = np.ones(table.n_rows, np.int64) if table.weight is None else table.weight
        digits = range(int(weight.max(initial=1)).bit_length())
        classes = range(table.schema.n_classes)
        object.__setattr__(self, "target", table.target)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "members", np.stack([_packed(table.target == k) for k in classes]))
        object.__setattr__(self, "_digits", [(1 << d, _packed((weight >> d & 1) > 0)) for d in digits])

    def bits(self, condition: Condition) -> Words:
        """Return the rows that meet a condition; cached, because leaves have most conditions in common."""
        met = self._met.get(condition)
        if met is None:
            met = self._met[condition] = _packed(condition.holds_in(self.table.columns[condition.column]))
        return met

    def stack(self, conditions: Sequence[Condition]) -> Words:
        """Stack the rows that meet each condition."""
        return np.stack([self.bits(condition) for condition in conditions])

    def rows(self, conditions: Iterable[Condition]) -> NDArray[np.intp]:
        """List the rows that meet all conditions."""
        all_rows = np.bitwise_or.reduce(self.members, axis=0)
        met = reduce(np.bitwise_and, map(self.bits, conditions), all_rows)
        return np.flatnonzero(np.unpackbits(met.view(np.uint8), count=self.table.n_rows))

    def total_weight(self, bits: Words) -> Floats:
        """Add up the weights of sets of rows, which are along the last axis."""
        steps = np.zeros(bits.shape[:-1], np.int64)
        for step, digit in self._digits:
            steps += step * np.bitwise_count(bits & digit).sum(axis=-1, dtype=np.int64)
        weight: Floats = steps.astype(np.float64) * self.table.unit
        return weight

    def class_weight(self, rows: NDArray[np.intp]) -> Floats:
        """Weight of each class among some rows."""
        k = self.table.schema.n_classes
        weight: Floats = np.bincount(self.target[rows], self.weight[rows], minlength=k) * self.table.unit
        return weight

    @property
    def class_totals(self) -> Floats:
        """Weight of each class among all rows."""
        return self.total_weight(self.members)


def _packed(rows: Bools) -> Words:
    """Pack a mask of rows into 64-bit words."""
    packed = np.packbits(rows)
    return np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)
