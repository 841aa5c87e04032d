"""Bins of a numeric target, for its distribution at the nodes of a tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from hornbeam.data.hashes import fingerprint
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.sources import Partition, Source
from hornbeam.data.table import Table
from hornbeam.typing import Counts, Floats, Indices

_PARTS = 32  # a bin has at most this part of the rows ...
_TAIL = 4  # ... and of the rows outside it


@dataclass(frozen=True, slots=True, eq=False)
class TargetBins:
    """Bins of a numeric target: the least and the largest value of each, in increasing order.

    A bin has at most 1/32 of the weight of the rows, and at most 1/4 of the weight outside it, so that the bins of both
    tails have few rows; or it has a single value. A value between two bins belongs to the upper one, a value above all
    bins to the last.

    Examples
    --------
    >>> bins = TargetBins.cut(np.arange(100.0))
    >>> bins.n_bins, bins.low[:7].tolist()
    (47, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> bins.low[20:22].tolist(), bins.high[20:22].tolist()
    ([42.0, 45.0], [44.0, 47.0])
    >>> bins.codes(np.array([-5.0, 2.5, 43.0, 1e9])).tolist()
    [0, 3, 20, 46]
    """

    low: Floats
    high: Floats

    @classmethod
    def cut(cls, values: Floats, weight: Counts | None = None) -> Self:
        """Cut the values of some rows, of which a row of weight 2 is two rows; their order does not matter."""
        distinct, place = np.unique(values + 0.0, return_inverse=True)  # -0.0 becomes 0.0
        rows = np.zeros(len(distinct), np.int64)
        np.add.at(rows, place, 1 if weight is None else weight)
        from_below, from_above = _ends(rows), len(distinct) - _ends(rows[::-1])
        ends = np.unique(np.concatenate([from_below, from_above, [len(distinct)]]))
        ends = ends[ends > 0]
        return cls(distinct[np.append(0, ends[:-1])], distinct[ends - 1])

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.high)

    def codes(self, values: Floats) -> Indices:
        """Find the bin of each value."""
        return np.minimum(np.searchsorted(self.high, values), self.n_bins - 1).astype(np.int32)

    def within(self, values: Floats, below: Floats, up_to: Floats) -> tuple[Floats, Floats]:
        """Move probabilities below the bin of each value, and up to its end, to those below and up to the value.

        Where a bin is a single value, all of its rows are at this value.
        """
        code = self.codes(values)
        low, high = self.low[code], self.high[code]
        width, mass = high - low, up_to - below
        part = np.divide(values - low, width, out=np.zeros(len(values)), where=width > 0).clip(0.0, 1.0)
        return below + part * mass, below + np.where(width > 0, part, values >= low) * mass

    def at_levels(self, up_to: Floats, levels: Floats, side: Literal["left", "right"] = "left") -> Floats:
        """Find the values at some probabilities; `up_to` is that of values up to the end of each bin."""
        at = np.minimum(np.searchsorted(up_to, levels, side), self.n_bins - 1)
        before = np.append(0.0, up_to)[at]
        mass = up_to[at] - before
        part = np.divide(levels - before, mass, out=np.zeros(levels.shape), where=mass > 0).clip(0.0, 1.0)
        low, high = self.low[at], self.high[at]
        values: Floats = np.minimum(low + part * (high - low), high)
        return values

    def schema(self, schema: Schema) -> Schema:
        """Return a schema whose classes are the bins, by their largest values."""
        return replace(schema, classes=tuple(self.high.tolist()), target_kind=Kind.NOMINAL)

    def table(self, table: Table, shift: Floats | float = 0.0) -> Table:
        """Return a table with the bins of the target as classes; of the target minus `shift`, if it is given."""
        assert table.numeric_target is not None
        codes = self.codes(table.numeric_target.values - shift)
        return replace(table, schema=self.schema(table.schema), target=codes, numeric_target=None)


def _ends(rows: Counts) -> Counts:
    """Find the ends of bins up to the middle, as numbers of values; `rows` are those of each value."""
    below, outside = np.cumsum(rows), 0
    total, found = int(below[-1]), list[int]()
    while 2 * outside < total:
        most = outside + min(total // _PARTS, outside // _TAIL)
        at = max(int(np.searchsorted(below, most, side="right")), found[-1] + 1 if found else 1)
        outside = int(below[at - 1])
        found.append(at)
    return np.array(found, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class BinnedSource:
    """A source with the bins of its numeric target as classes; minus the shift of each row, if it is given."""

    source: Source
    bins: TargetBins
    shift: Callable[[Table], Floats] | None = None

    @property
    def schema(self) -> Schema:
        """Features, and the bins as classes."""
        return self.bins.schema(self.source.schema)

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return self.source.n_rows

    @property
    def unit(self) -> float:
        """The weight of one integer step."""
        return self.source.unit

    @property
    def class_weight(self) -> None:
        """No factors: bins do not choose splits."""
        return

    @property
    def fingerprint(self) -> str:
        """Content hash of the source and its bins."""
        return fingerprint(self.source.fingerprint, self.bins.low, self.bins.high)

    def partitions(self) -> Sequence[Partition]:
        """Return the addresses of the source."""
        return self.source.partitions()

    def read(
        self, partition: Partition, features: Sequence[int] | None = None, rows: Counts | None = None
    ) -> Table:
        """Read the rows of one partition."""
        if self.shift is None:
            return self.bins.table(self.source.read(partition, features, rows))
        table = self.source.read(partition, rows=rows)
        table = self.bins.table(table, self.shift(table))
        return table if features is None else table.select(features)
