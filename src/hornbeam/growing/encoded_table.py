"""A table with its bins and codes, checked once."""

from dataclasses import InitVar, dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.typing import Codes

__all__ = ["EncodedTable"]


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
        schema = replace(table.schema, classes=(), target=Kind.NUMERIC)
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
