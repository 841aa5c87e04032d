"""Rows encoded once, for all the trees of an ensemble."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.row_order import canonical_order
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing import Grower
from hornbeam.recipe import Recipe
from hornbeam.tree.tree import Tree
from hornbeam.typing import Codes, Counts

__all__ = ["EncodedTable"]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """A table, its bins and its codes, the rows in an order that they themselves decide.

    Parameters
    ----------
    table : Table
        Rows with their target, those that are alike side by side.
    bins : Bins
        Shared by all trees.
    codes : array of shape (n_rows, n_features)
        The codes of these rows.
    origin : int64 array of shape (n_rows,)
        Where each row stood in the table that was read.
    number : uint64 array of shape (n_rows,)
        A number drawn by what a row is, ascending: rows that are alike have the same.

    Notes
    -----
    What is drawn at random is drawn by place. Since places depend on the rows and not on the order they came in,
    neither do the draws.

    Examples
    --------
    >>> table = Table.read([[1.0], [2.0], [1.0]], ["a", "b", "a"])
    >>> rows = EncodedTable.of(table, Recipe())
    >>> rows.codes[rows.number == rows.number[rows.origin == 0]].ravel().tolist()
    [0, 0]
    """

    table: Table
    bins: Bins
    codes: Codes
    origin: Counts
    number: NDArray[np.uint64]

    @classmethod
    def of(cls, table: Table, recipe: Recipe, n_jobs: int = 1) -> Self:
        """Bin, encode and order the rows of a table."""
        if table.target is None and table.numeric_target is None:
            raise DataError("The table has no target. Read it with y to grow trees from it.")
        bins = recipe.bin(table, n_jobs)
        codes = bins.encode(table, n_jobs)
        origin, number = canonical_order(table, codes)
        return cls(table.take(origin), bins, codes[origin], origin, number[origin])

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows

    def take(self, rows: NDArray[np.intp], weight: Counts | None = None, unit: float = 1.0) -> Self:
        """Copy some rows, and let them weigh so many steps of a unit; None: 1 each.

        Examples
        --------
        >>> rows = EncodedTable.of(Table.read([[1.0], [2.0]], ["a", "b"]), Recipe())
        >>> rows.take(np.array([1]), np.array([2])).table.weight
        array([2])
        """
        some = replace(self.table.take(rows), weight=weight, unit=unit)
        if some.numeric_target is not None:
            some = replace(some, numeric_target=NumericTarget.of(some.numeric_target.values, weight, unit))
        return type(self)(some, self.bins, self.codes[rows], self.origin[rows], self.number[rows])

    def grow(self, grower: Grower, key: int) -> Tree:
        """Grow a tree from all of these rows; their codes are reordered, so take them first.

        Examples
        --------
        >>> rows = EncodedTable.of(Table.read([[1.0], [2.0]], ["a", "b"]), Recipe())
        >>> rows.take(np.arange(2)).grow(Grower(), key=0).n_leaves
        2
        """
        return grower.grow(self.table, self.bins, self.codes, key=key)
