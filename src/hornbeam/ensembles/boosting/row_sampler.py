"""Rows drawn for a round, and rows held out of all: by what they are, not by where they stand."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.row_order import canonical_order
from hornbeam.data.table import Table
from hornbeam.typing import Bools, Codes, Counts

__all__ = ["RowSampler"]

_HELD_OUT = 2**63  # rounds are numbered from 0


@dataclass(frozen=True, slots=True, eq=False)
class RowSampler:
    """Draws of rows that depend on the seed, the round and the rows alone.

    Parameters
    ----------
    place : int64 array of shape (n_rows,)
        The place of each row in an order that the rows themselves decide.
    seed : int

    Notes
    -----
    A row's number in a round is that of its place from the counter-based generator Philox, keyed by seed and round.
    Rows that are alike may change places, and nobody would notice.

    Examples
    --------
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> drawing = RowSampler.of(table, np.array([[0], [1], [2], [3]], np.uint8), seed=1)
    >>> int(drawing.sample(0, 0.5).sum()), int(drawing.held_out(0.5, table.target).sum())
    (2, 2)
    """

    place: Counts
    seed: int

    @classmethod
    def of(cls, table: Table, codes: Codes, seed: int) -> Self:
        """Find the order of the rows of a table."""
        order, _ = canonical_order(table, codes)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return cls(place, seed)

    def _numbers(self, key: int) -> NDArray[np.uint64]:
        bits = np.random.Philox(key=[self.seed, key]).random_raw(len(self.place))
        of_rows: NDArray[np.uint64] = bits[self.place]
        return of_rows

    def sample(self, number: int, share: float, among: Bools | None = None) -> Bools:
        """Draw such a share of the rows, or of some of them, without replacement, for the round of a number."""
        candidates = np.arange(len(self.place)) if among is None else np.flatnonzero(among)
        size = max(1, round(share * len(candidates)))
        order = np.argpartition(self._numbers(number)[candidates], size - 1)
        drawn = np.zeros(len(self.place), np.bool_)
        drawn[candidates[order[:size]]] = True
        return drawn

    def held_out(self, share: float, strata: NDArray[np.int32] | None = None) -> Bools:
        """Draw such a share of the rows, the same of every stratum."""
        numbers = self._numbers(_HELD_OUT)
        order = np.argsort(numbers) if strata is None else np.lexsort((numbers, strata))
        turns = np.floor(np.arange(len(order) + 1) * share)
        held = np.zeros(len(order), np.bool_)
        held[order[np.diff(turns) > 0]] = True
        return held
