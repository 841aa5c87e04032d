"""Coded rows: what the growing kernels read, unit by unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import numpy as np

from hornbeam.data.units import Unit
from hornbeam.errors import ParameterError
from hornbeam.kernels.subtree import Rows

__all__ = ["CodedSource", "MemoryRows"]


class CodedSource(Protocol):
    """Where coded rows come from: units, and the rows behind one."""

    @property
    def fingerprint(self) -> str:
        """The same rows, the same word; asked for only where a checkpoint is kept."""
        ...

    def units(self) -> Sequence[Unit]:
        """Addresses of all rows."""
        ...

    def read(self, unit: Unit) -> Rows:
        """Read the coded rows of a unit."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MemoryRows:
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
    >>> source = MemoryRows(rows, block=2)
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
        digest = sha256()
        for array in self.rows:
            if array is not None:
                digest.update(f"{array.dtype.str}{array.shape};".encode())
                digest.update(np.ascontiguousarray(array))
        return digest.hexdigest()

    def units(self) -> list[Unit]:
        """Blocks of rows in order."""
        n_rows = len(self.rows.label)
        return [Unit(begin, min(begin + self.block, n_rows)) for begin in range(0, n_rows, self.block)]

    def read(self, unit: Unit) -> Rows:
        """Read the rows of one unit, as views."""
        mine = slice(unit.begin, unit.end)
        weight = self.rows.weight
        return Rows(self.rows.codes[mine], self.rows.label[mine], None if weight is None else weight[mine])
