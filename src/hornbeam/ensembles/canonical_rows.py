"""Encoded rows in canonical order, shared by all trees of an ensemble."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.row_order import canonical_order, first_units, keep_copies_together, unit_ranks
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.recipe import Recipe
from hornbeam.typing import Bits, Codes, Counts


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalRows:
    """Encoded rows, sorted by a hash of their codes and target; equal rows are neighbours and have equal hashes.

    `origin` is the position of each row in the table that was read. Random draws go by position. Positions depend on
    the rows and not on the order they were read in, so the draws do not depend on that order either.

    A pickle, which an engine sends to its workers, has the codes instead of the columns of the table. Its copy has
    other values with the same codes, so that trees grown from these rows predict the same.
    """

    encoded: EncodedTable
    origin: Counts
    row_hash: Bits

    @classmethod
    def of(cls, table: Table, recipe: Recipe, n_jobs: int = 1) -> Self:
        """Bin, encode and sort the rows of a table."""
        if table.target is None and table.numeric_target is None:
            raise DataError("The table has no target. Read it with y to grow trees from it.")
        table = keep_copies_together(table)
        encoded = EncodedTable(table, *recipe.encode(table, n_jobs), checked=True)
        origin, row_hash = canonical_order(table, encoded.codes)
        return cls(encoded.take(origin), origin, row_hash[origin])

    @property
    def table(self) -> Table:
        """The rows in canonical order."""
        return self.encoded.table

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.encoded.n_rows

    @property
    def unit(self) -> Counts | None:
        """Number of the group of each row; None if rows do not belong to groups."""
        return None if self.table.group is None else unit_ranks(self.row_hash, self.table)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts of a pickle: codes, but no columns."""
        encoded, bare = self.encoded, replace(self.table, columns=(), matrix=None)
        return _from_codes, (type(self), bare, encoded.bins, encoded.codes, self.origin, self.row_hash)

    def subset(self, n_rows: int) -> Self:
        """Return a random sample, in canonical order: the rows or groups of smallest hash.

        Equal rows have different hashes here, so that some of them are drawn.
        """
        if n_rows >= self.n_rows:
            return self
        rows = first_units(unit_ranks(self.row_hash, self.table), n_rows)
        return type(self)(self.encoded.take(rows), self.origin[rows], self.row_hash[rows])

    def sample(
        self, rows: NDArray[np.intp], weight: Counts | None = None, unit: float = 1.0, *, values: bool = True
    ) -> EncodedTable:
        """Copy some rows with new weights, in steps of `unit`; None for a weight of 1 each.

        Without `values` the table of the sample has the first column only, beside the codes of all.
        """
        table = self.table if values else replace(self.table, columns=self.table.columns[:1], matrix=None)
        table = replace(table.take(rows), weight=weight, unit=unit)
        if table.numeric_target is not None:
            table = replace(table, numeric_target=NumericTarget.of(table.numeric_target.values, weight, unit))
        return self.encoded.take(rows, table)


def _from_codes(
    kind: type[CanonicalRows],
    bare: Table,
    bins: Bins,
    codes: Codes,
    origin: Counts,
    row_hash: Bits,
) -> CanonicalRows:
    """Restore pickled rows, with a value of its bin in place of each value."""
    table = replace(bare, columns=bins.decode(codes))
    return kind(EncodedTable(table, bins, codes, checked=True), origin, row_hash)
