"""Row subsampling per round, and the held-out rows of early stopping."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.row_order import canonical_order, unit_ranks
from hornbeam.data.table import Table
from hornbeam.typing import Bools, Codes, Counts

__all__ = ["RowSampler"]

_HELD_OUT = 2**63  # key of the held-out rows; rounds are numbered from 0


@dataclass(frozen=True, slots=True, eq=False)
class RowSampler:
    """Random draws of rows that depend on the seed, the round and the rows alone.

    `position` is that of each row in the canonical order, which does not depend on the order of the table. The random
    number of a row is that of its position, from the counter-based generator Philox keyed by seed and round. Equal rows
    may swap positions without any effect on the model. `unit` is the number of the group of each row, if rows belong to
    groups: these are held out as a whole.
    """

    position: Counts
    seed: int
    unit: Counts | None = None

    @classmethod
    def of(cls, table: Table, codes: Codes, seed: int) -> Self:
        """Compute the canonical order of the rows of a table."""
        order, hashes = canonical_order(table, codes)
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        return cls(position, seed, None if table.group is None else unit_ranks(hashes, table))

    def _random_bits(self, key: int) -> NDArray[np.uint64]:
        bits: NDArray[np.uint64] = np.random.Philox(key=[self.seed, key]).random_raw(len(self.position))
        return bits[self.position]

    def sample(self, number: int, share: float, candidates: Bools | None = None) -> Bools:
        """Draw a share of the rows without replacement for a round; `candidates` is a mask, None for all rows."""
        rows = np.arange(len(self.position)) if candidates is None else np.flatnonzero(candidates)
        size = max(1, round(share * len(rows)))
        order = np.argpartition(self._random_bits(number)[rows], size - 1)
        drawn = np.zeros(len(self.position), np.bool_)
        drawn[rows[order[:size]]] = True
        return drawn

    def held_out(self, share: float, strata: NDArray[np.int32] | None = None) -> Bools:
        """Draw a share of the rows, the same share of every stratum; or groups of at most that share, at least one."""
        if self.unit is not None:
            rows, order = np.bincount(self.unit), self._shuffled_units()
            n_units = np.searchsorted(np.cumsum(rows[order]), share * len(self.unit), side="right")
            return np.isin(self.unit, order[: max(1, n_units)])
        order = self._shuffled(strata)
        steps = np.floor(np.arange(len(order) + 1) * share)
        held = np.zeros(len(order), np.bool_)
        held[order[np.diff(steps) > 0]] = True
        return held

    def folds(self, n_folds: int, strata: NDArray[np.int32] | None = None) -> list[Bools]:
        """Divide the rows among folds of equal size, each with the same share of every stratum; return their masks.

        Groups are divided as a whole, among no more folds than there are groups.
        """
        order = self._shuffled(strata) if self.unit is None else self._shuffled_units()
        n_folds = min(n_folds, len(order))
        turn = np.empty(len(order), np.intp)
        turn[order] = np.arange(len(order)) % n_folds
        of_row = turn if self.unit is None else turn[self.unit]
        return [of_row == number for number in range(n_folds)]

    def _shuffled(self, strata: NDArray[np.int32] | None) -> NDArray[np.intp]:
        """Return the rows in random order, stratum by stratum."""
        bits = self._random_bits(_HELD_OUT)
        return np.argsort(bits) if strata is None else np.lexsort((bits, strata))

    def _shuffled_units(self) -> NDArray[np.intp]:
        """Return the groups in random order."""
        assert self.unit is not None
        return np.argsort(np.random.Philox(key=[self.seed, _HELD_OUT]).random_raw(int(self.unit.max()) + 1))
