"""Where rows lie: units are their addresses, a source reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hornbeam.data.fingerprint import fingerprint
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.typing import Counts, Floats

__all__ = ["MemorySource", "Source", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A tiny address of some rows: those from ``begin`` up to ``end``.

    Parameters
    ----------
    begin, end : int
        Numbers among all rows of a source that count.
    file : str or None
        The file they lie in; None for rows in memory.
    group : int
        Their row group in the file.
    part : int
        Which part of a row group that is too large to be read at once.

    Examples
    --------
    >>> Unit(0, 100)
    Unit(begin=0, end=100)
    >>> Unit(0, 100, "a.parquet", 2)
    Unit(begin=0, end=100, file='a.parquet', group=2, part=0)
    """

    begin: int
    end: int
    file: str | None = None
    group: int = 0
    part: int = 0

    def __repr__(self) -> str:
        place = "" if self.file is None else f", file={self.file!r}, group={self.group}, part={self.part}"
        return f"Unit(begin={self.begin}, end={self.end}{place})"

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.end - self.begin


class Source(Protocol):
    """Rows of one schema that can be read unit by unit; small, so that it can be sent to where they are."""

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        ...

    @property
    def n_rows(self) -> int:
        """Rows of all units together."""
        ...

    @property
    def unit(self) -> float:
        """What one step of a row's weight is worth; 1.0 when every row counts 1."""
        ...

    @property
    def class_weight(self) -> Floats | None:
        """How much the rows of each class weigh in the search for tests; None if all weigh the same."""
        ...

    @property
    def fingerprint(self) -> str:
        """The same rows, the same word."""
        ...

    def units(self) -> Sequence[Unit]:
        """Addresses that together cover every row once."""
        ...

    def read(self, unit: Unit, features: Sequence[int] | None = None, rows: Counts | None = None) -> Table:
        """The rows of one unit.

        Parameters
        ----------
        unit : Unit
        features : sequence of int, optional
            These features alone, and a schema of just these.
        rows : int array, optional
            These rows alone, by their place in the unit, in ascending order.
        """
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

    @property
    def unit(self) -> float:
        """What one step of a row's weight is worth."""
        return self.table.unit

    @property
    def class_weight(self) -> Floats | None:
        """How much the rows of each class weigh in the search for tests."""
        return self.table.class_weight

    @property
    def fingerprint(self) -> str:
        """The same rows, the same word: a hash of all of them, made whenever it is asked for."""
        table = self.table
        return fingerprint(
            repr(table.schema),
            repr(table.unit),
            *table.columns,
            *(table.target, table.weight, table.class_weight),
            None if table.numeric_target is None else table.numeric_target.values,
        )

    def units(self) -> list[Unit]:
        """Blocks of rows in order; an empty table has none."""
        n_rows = self.n_rows
        return [Unit(begin, min(begin + self.block, n_rows)) for begin in range(0, n_rows, self.block)]

    def read(self, unit: Unit, features: Sequence[int] | None = None, rows: Counts | None = None) -> Table:
        """The rows of one unit, as views; some of them alone are copied."""
        table = self.table if features is None else self.table.select(features)
        if not (unit.begin == 0 and unit.end == self.n_rows):
            table = table.slice(unit.begin, unit.end)
        return table if rows is None else table.take(rows)
