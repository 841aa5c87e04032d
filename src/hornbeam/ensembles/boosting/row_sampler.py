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

    Parameters
    ----------
    position : int64 array of shape (n_rows,)
        Position of each row in the canonical order, which does not depend on the order of the table.
    seed : int
    unit : int64 array of shape (n_rows,) or None
        Number of the group of each row, if rows belong to groups: these are held out as a whole.

    Notes
    -----
    The random number of a row is that of its position, from the counter-based generator Philox keyed by seed and
    round. Equal rows may swap positions without any effect on the model.

    Examples
    --------
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> sampler = RowSampler.of(table, np.array([[0], [1], [2], [3]], np.uint8), seed=1)
    >>> int(sampler.sample(0, 0.5).sum()), int(sampler.held_out(0.5, table.target).sum())
    (2, 2)
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
            rows = np.bincount(self.unit)
            in_turn = np.argsort(np.random.Philox(key=[self.seed, _HELD_OUT]).random_raw(len(rows)))
            n_units = np.searchsorted(np.cumsum(rows[in_turn]), share * len(self.unit), side="right")
            chosen = np.zeros(len(rows), np.bool_)
            chosen[in_turn[: max(1, n_units)]] = True
            return chosen[self.unit]
        bits = self._random_bits(_HELD_OUT)
        order = np.argsort(bits) if strata is None else np.lexsort((bits, strata))
        steps = np.floor(np.arange(len(order) + 1) * share)
        held = np.zeros(len(order), np.bool_)
        held[order[np.diff(steps) > 0]] = True
        return held
