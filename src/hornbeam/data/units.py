"""Where rows lie: units are their addresses, a source reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError

__all__ = ["MemorySource", "Source", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A tiny address of some rows: those from ``begin`` up to ``end``.

    Examples
    --------
    >>> Unit(0, 100)
    Unit(begin=0, end=100)
    """

    begin: int
    end: int


class Source(Protocol):
    """Rows of one schema that can be read unit by unit."""

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        ...

    @property
    def n_rows(self) -> int:
        """Rows of all units together."""
        ...

    def units(self) -> Sequence[Unit]:
        """Addresses that together cover every row once."""
        ...

    @property
    def unit(self) -> float:
        """What one step of a row's weight is worth."""
        ...

    @property
    def fingerprint(self) -> str:
        """The same rows, the same word."""
        ...

    def read(self, unit: Unit, features: Sequence[int] | None = None) -> Table:
        """The rows of one unit; only some columns, if `features` says so."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MemorySource:
    """A table in memory, read in blocks of rows.

    Parameters
    ----------
    table : Table
        The rows.
    block : int
        Rows per unit.

    Examples
    --------
    >>> from hornbeam.data.table import Table
    >>> source = MemorySource(Table.read([[0.0], [1.0], [2.0]]), block=2)
    >>> source.units()
    [Unit(begin=0, end=2), Unit(begin=2, end=3)]
    >>> source.read(source.units()[1]).columns
    (array([2.]),)
    """

    table: Table
    block: int = 65_536

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ParameterError(f"block is {self.block}; a unit holds at least 1 row")

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.table.schema

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.n_rows

    def units(self) -> list[Unit]:
        """Blocks of rows in order; an empty table has none."""
        n_rows = self.n_rows
        return [Unit(begin, min(begin + self.block, n_rows)) for begin in range(0, n_rows, self.block)]

    @property
    def unit(self) -> float:
        """What one step of a row's weight is worth."""
        return self.table.unit

    @property
    def fingerprint(self) -> str:
        """To be written."""
        return ""

    def read(self, unit: Unit, features: Sequence[int] | None = None) -> Table:
        """The rows of one unit, as views."""
        table = self.table.slice(unit.begin, unit.end)
        if features is None:
            return table
        schema = Schema(tuple(self.schema.features[f] for f in features), self.schema.classes)
        return replace(table, schema=schema, columns=tuple(table.columns[f] for f in features), matrix=None)
