"""Sources of rows: a partition is the address of some rows, and a source reads it as a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from hornbeam.data.hashes import fingerprint
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.typing import Counts, Floats


@dataclass(frozen=True, slots=True)
class Partition:
    """The address of the rows from ``begin`` up to ``end`` of a source.

    Parameters
    ----------
    begin, end : int
        Positions among the rows of the source; rows of weight zero have none.
    file : str or None
        The file with these rows; None for rows in memory.
    group : int
        The row group of the file.
    part : int
        The part of the row group, if that is too large to be read at once.

    Examples
    --------
    >>> Partition(0, 100)
    Partition(begin=0, end=100)
    >>> Partition(0, 100, "a.parquet", 2)
    Partition(begin=0, end=100, file='a.parquet', group=2, part=0)
    """

    begin: int
    end: int
    file: str | None = None
    group: int = 0
    part: int = 0

    def __repr__(self) -> str:
        place = "" if self.file is None else f", file={self.file!r}, group={self.group}, part={self.part}"
        return f"Partition(begin={self.begin}, end={self.end}{place})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.end - self.begin


class Source(Protocol):
    """Protocol: rows of one schema, read partition by partition; small and picklable, so that workers can read.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from hornbeam import scan_parquet
    >>> from hornbeam.engines import Source
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = pd.DataFrame({"age": [30, 41, 52], "is": ["well", "ill", "ill"]})
    >>> rows.to_parquet(f"{folder.name}/rows.parquet", row_group_size=2)
    >>> source: Source = scan_parquet(folder.name, target="is")
    >>> [source.read(partition).columns[0].tolist() for partition in source.partitions()]
    [[30.0, 41.0], [52.0]]
    >>> folder.cleanup()
    """

    @property
    def schema(self) -> Schema:
        """Features and classes."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        ...

    @property
    def unit(self) -> float:
        """The weight of one integer step; 1.0 when every row counts 1."""
        ...

    @property
    def class_weight(self) -> Floats | None:
        """Factor of each class in the search for splits; None if all are 1."""
        ...

    @property
    def fingerprint(self) -> str:
        """Content hash: sources of equal rows have equal fingerprints."""
        ...

    def partitions(self) -> Sequence[Partition]:
        """Return addresses that together cover every row once."""
        ...

    def read(
        self, partition: Partition, features: Sequence[int] | None = None, rows: Counts | None = None
    ) -> Table:
        """Read the rows of one partition.

        Parameters
        ----------
        partition : Partition
        features : sequence of int, optional
            Read only these features; the table has a schema of these alone. Empty: the target and weights alone.
        rows : int array, optional
            Read only these rows, by position in the unit, in ascending order.
        """
        ...


def has_groups(source: Source) -> bool:
    """Whether the rows of a source belong to groups; a source of another library need not know of groups.

    Examples
    --------
    >>> has_groups(MemorySource(Table.read([[1.0], [2.0]], groups=["ann", "bob"])))
    True
    """
    return bool(getattr(source, "has_groups", False))


def names_of(rows: Table | Source) -> tuple[str, ...] | None:
    """Return the names of the columns; None if they had none before they were read.

    Examples
    --------
    >>> print(names_of(MemorySource(Table.read([[1.0], [2.0]]))))
    None
    """
    return getattr(rows, "names", rows.schema.names)  # a source of another library has a schema alone


def row_blocks(n_rows: int, block: int) -> list[Partition]:
    """Divide rows in memory into partitions of `block` rows.

    Examples
    --------
    >>> row_blocks(3, 2)
    [Partition(begin=0, end=2), Partition(begin=2, end=3)]
    """
    if block < 1:
        raise ParameterError(f"block is {block}; a partition holds at least 1 row")
    return [Partition(begin, min(begin + block, n_rows)) for begin in range(0, n_rows, block)]


def read_features(source: Source, partition: Partition, schema: Schema, names: Iterable[str]) -> Table:
    """Read some features of a partition as a table of another schema, whose other features are missing values.

    Examples
    --------
    >>> source = MemorySource(Table.read([[1.0, 5.0], [2.0, 6.0]]))
    >>> [column.tolist() for column in read_features(source, source.partitions()[0], source.schema, ["x1"]).columns]
    [[nan, nan], [5.0, 6.0]]
    """
    part = source.read(partition, [source.schema.names.index(name) for name in names] or [0])
    columns = dict(zip(schema.names, blank_columns(schema, part.n_rows), strict=True))
    columns |= zip(part.schema.names, part.columns, strict=True)
    return replace(part, schema=schema, columns=tuple(columns.values()), matrix=None, names=schema.names)


def blank_columns(schema: Schema, n_rows: int) -> tuple[Any, ...]:
    """Make columns of missing values; those of one type share their memory.

    Examples
    --------
    >>> from hornbeam.data.schema import Feature
    >>> blank_columns(Schema((Feature("age"),)), 2)
    (array([nan, nan]),)
    """
    numbers, codes = np.full(n_rows, np.nan), np.full(n_rows, -1, np.int32)
    return tuple([codes if feature.is_nominal else numbers for feature in schema.features])


@dataclass(frozen=True, slots=True, eq=False)
class MemorySource:
    """A table in memory, read in blocks of rows.

    Parameters
    ----------
    table : Table
        The rows.
    block : int
        Rows per partition.

    Examples
    --------
    >>> from hornbeam.data.table import Table
    >>> source = MemorySource(Table.read([[0.0], [1.0], [2.0]]), block=2)
    >>> source.partitions()
    [Partition(begin=0, end=2), Partition(begin=2, end=3)]
    >>> source.read(source.partitions()[1]).columns
    (array([2.]),)
    """

    table: Table
    block: int = 65_536

    def __post_init__(self) -> None:
        row_blocks(0, self.block)  # checks the block size

    @property
    def schema(self) -> Schema:
        """Features and classes."""
        return self.table.schema

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return self.table.n_rows

    @property
    def unit(self) -> float:
        """The weight of one integer step."""
        return self.table.unit

    @property
    def class_weight(self) -> Floats | None:
        """Factor of each class in the search for splits; None if all are 1."""
        return self.table.class_weight

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns; None if they had none."""
        return self.table.names

    @property
    def has_groups(self) -> bool:
        """Whether rows belong to groups, which are drawn and held out as a whole."""
        return self.table.group is not None

    @property
    def fingerprint(self) -> str:
        """Content hash of all rows, computed on each access."""
        table = self.table
        return fingerprint(
            repr(table.schema),
            repr(table.unit),
            *table.columns,
            *(table.target, table.weight, table.class_weight),
            None if table.numeric_target is None else table.numeric_target.values,
        )

    def partitions(self) -> list[Partition]:
        """Return blocks of rows in order; an empty table has none."""
        return row_blocks(self.n_rows, self.block)

    def read(
        self, partition: Partition, features: Sequence[int] | None = None, rows: Counts | None = None
    ) -> Table:
        """Read the rows of one partition: views, or copies if `rows` selects some."""
        table = self.table if features is None else self.table.select(features)
        if not (partition.begin == 0 and partition.end == self.n_rows):
            table = table.slice(partition.begin, partition.end)
        return table if rows is None else table.take(rows)
