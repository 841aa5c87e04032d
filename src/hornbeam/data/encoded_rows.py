"""Encoded rows, the input of the growing kernels: a table with its codes, or read partition by partition."""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.hashes import fingerprint
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Partition, Source, row_blocks
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.kernels.subtree import Rows
from hornbeam.typing import Codes


class EncodedSource(Protocol):
    """Encoded rows that are read partition by partition, always in the same order."""

    @property
    def fingerprint(self) -> str:
        """Content hash of the rows and their bins; only checkpoints and caches use it."""
        ...

    def partitions(self) -> Sequence[Partition]:
        """Return the addresses of all rows."""
        ...

    def read(self, partition: Partition) -> Rows:
        """Read the encoded rows of a partition."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class EncodingSource:
    """The rows of a source, encoded again on each read."""

    source: Source
    bins: Bins

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return self.source.n_rows

    @property
    def unit(self) -> float:
        """The weight of one integer step."""
        return self.source.unit

    @property
    def fingerprint(self) -> str:
        """Content hash of the rows and their bins, as of an `EncodedCache` of both."""
        return fingerprint("coded rows", self.source.fingerprint, self.bins.digest)

    def partitions(self) -> Sequence[Partition]:
        """Return the partitions of the source."""
        return self.source.partitions()

    def read(self, partition: Partition) -> Rows:
        """Read and encode the rows of a partition."""
        return self.encode(self.source.read(partition))

    def encode(self, table: Table) -> Rows:
        """Encode rows of the source."""
        return coded_rows(table, self.bins.encode(table))


def coded_rows(table: Table, codes: Codes) -> Rows:
    """Return the rows of a table and their codes as the kernels expect them; codes and weights are not copied."""
    if table.numeric_target is not None:
        numerator = table.numeric_target.numerators(table.weight, table.unit)
        return Rows(codes, np.empty(0, np.uint16), table.weight, numerator)
    if table.target is None:
        raise DataError("The source has no target. Open it with a target to grow a tree from it.")
    return Rows(codes, table.target.astype(np.uint16), table.weight)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Encoded rows in memory, read in blocks."""

    rows: Rows
    block: int = 65_536

    def __post_init__(self) -> None:
        row_blocks(0, self.block)  # checks the block size

    @property
    def fingerprint(self) -> str:
        """Content hash of the rows in their order."""
        return fingerprint("memory rows", *self.rows)

    def partitions(self) -> list[Partition]:
        """Return blocks of rows in order."""
        return row_blocks(self.rows.n_rows, self.block)

    def read(self, partition: Partition) -> Rows:
        """Read the rows of one partition, as views."""
        return self.rows.take(slice(partition.begin, partition.end))


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """Training rows, their bins and their codes; growing trees does not change them.

    `codes` is ``bins.encode(table)``. Codes from anywhere else are checked against the bins: a `DataError` if they have
    another shape or type, or a code that the bins do not have.
    """

    table: Table
    bins: Bins
    codes: Codes
    checked: InitVar[bool] = False

    def __post_init__(self, checked: bool) -> None:
        if checked:
            return
        shape = self.table.n_rows, len(self.bins.n_codes)
        if np.shape(self.codes) != shape or self.codes.dtype not in (np.uint8, np.uint16):
            raise DataError(
                f"the codes are {self.codes.dtype} of shape {self.codes.shape}; expected uint8 or uint16 of shape "
                f"{shape}. Encode the table with these bins."
            )
        wrong = np.flatnonzero(self.codes.max(axis=0, initial=0) > self.bins.n_codes)
        if len(wrong):
            column = int(wrong[0])
            raise DataError(
                f"column {column} of the codes has the code {self.codes[:, column].max()}; expected at most "
                f"{self.bins.n_codes[column]}, the code of a missing value. Encode the table with these bins."
            )

    @classmethod
    def of(cls, table: Table, bins: Bins, n_jobs: int = 1) -> Self:
        """Encode the rows of a table."""
        return cls(table, bins, bins.encode(table, n_jobs), checked=True)

    @classmethod
    def for_gradients(cls, table: Table, bins: Bins, n_jobs: int = 1) -> Self:
        """Encode the rows of a table without their target, for regression trees grown on gradients."""
        schema = replace(table.schema, classes=(), target_kind=Kind.NUMERIC)
        return cls.of(replace(table, schema=schema, target=None, numeric_target=None), bins, n_jobs)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def take(self, rows: NDArray[np.intp], table: Table | None = None) -> Self:
        """Copy some rows; `table` holds the same rows with other weights."""
        return type(self)(
            self.table.take(rows) if table is None else table, self.bins, self.codes[rows], checked=True
        )
