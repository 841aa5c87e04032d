"""Coded rows: what the growing kernels read, unit by unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.fingerprint import fingerprint
from hornbeam.data.sources import Source, Unit
from hornbeam.errors import DataError, ParameterError
from hornbeam.kernels.subtree import Rows

__all__ = ["EncodedRows", "EncodedSource", "EncodingSource"]


class EncodedSource(Protocol):
    """Where coded rows come from: units, and the rows behind one, always in the same order."""

    @property
    def fingerprint(self) -> str:
        """The same rows in the same bins, the same word; asked for only where a checkpoint is kept."""
        ...

    def units(self) -> Sequence[Unit]:
        """Addresses of all rows."""
        ...

    def read(self, unit: Unit) -> Rows:
        """Read the coded rows of a unit."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class EncodingSource:
    """The rows of a source, encoded anew whenever they are read.

    Parameters
    ----------
    source : Source
        Rows with class labels.
    bins : Bins
        The bins of its features.

    Examples
    --------
    >>> from hornbeam.data import LocalEngine, MemorySource, Table
    >>> source = MemorySource(Table.read([[1.0], [2.0], [4.0]], ["no", "no", "yes"]), block=2)
    >>> coded = EncodingSource(source, Bins.fit(source, LocalEngine()))
    >>> coded.read(coded.units()[0])
    Rows(codes=array([[0], [1]], dtype=uint8), label=array([0, 0], dtype=uint16), weight=None, numerator=None)
    """

    source: Source
    bins: Bins

    @property
    def n_rows(self) -> int:
        """Rows of all units together."""
        return self.source.n_rows

    @property
    def unit(self) -> float:
        """What one step of a row's weight is worth."""
        return self.source.unit

    @property
    def fingerprint(self) -> str:
        """The word of a cache of the same rows in the same bins."""
        return fingerprint("coded rows", self.source.fingerprint, self.bins.digest)

    def units(self) -> Sequence[Unit]:
        """Addresses of all rows: the source's own."""
        return self.source.units()

    def read(self, unit: Unit) -> Rows:
        """Read and encode the rows of a unit."""
        table = self.source.read(unit)
        if table.target is None:
            raise DataError("The source has no class labels. Open it with a target to grow a tree from it.")
        return Rows(self.bins.encode(table), table.target.astype(np.uint16), table.weight)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Coded rows in memory, read in blocks.

    Parameters
    ----------
    rows : Rows
        All of them.
    block : int
        Rows per unit.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.zeros((3, 1), np.uint8), np.array([0, 1, 1], np.uint16), None)
    >>> source = EncodedRows(rows, block=2)
    >>> source.units()
    [Unit(begin=0, end=2), Unit(begin=2, end=3)]
    >>> source.read(source.units()[1]).label
    array([1], dtype=uint16)
    """

    rows: Rows
    block: int = 65_536

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ParameterError(f"block is {self.block}; a unit holds at least 1 row")

    @property
    def fingerprint(self) -> str:
        """The same rows in the same order, the same word."""
        return fingerprint("memory rows", *self.rows)

    def units(self) -> list[Unit]:
        """Blocks of rows in order."""
        n_rows = self.rows.n_rows
        return [Unit(begin, min(begin + self.block, n_rows)) for begin in range(0, n_rows, self.block)]

    def read(self, unit: Unit) -> Rows:
        """Read the rows of one unit, as views."""
        mine = slice(unit.begin, unit.end)
        codes, label, weight, numerator = self.rows
        return Rows(
            codes[mine],
            label[mine],
            None if weight is None else weight[mine],
            None if numerator is None else numerator[mine],
        )
