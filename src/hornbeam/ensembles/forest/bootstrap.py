"""Bootstrap samples: rows drawn with replacement, one sample per tree."""

from dataclasses import dataclass
from math import ldexp
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.typing import Bools, Counts, Floats

_MOST_COPIES = 2**26  # larger total weights multiply the draws instead of being drawn copy by copy
_BITS = 53  # of a random number: the precision of float64


class Sample(NamedTuple):
    """The rows drawn for a tree, their weights in steps of `unit`, and the copies of every row that were not drawn.

    `weight` is None if every row in the sample was drawn once.
    """

    rows: NDArray[np.intp]
    weight: Counts | None
    unit: float
    n_left: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """Draws with replacement from the copies of rows; a row of weight 2 is two copies.

    The sample of a tree depends on the seed and the number of the tree alone (the counter-based generator Philox, keyed
    by both), so trees may be grown in any order, and the first ten of a hundred trees are the forest of ten.

    A sample is drawn copy by copy, so a row of weight 2 equals a row that occurs twice; `first` is the number of the
    first copy of each row, None if every row is one copy. With fractional or very large weights each row is one copy,
    and counts with its weight, `factor`, each time it is drawn. If rows belong to groups, `unit` is the group of each
    row: a copy is a group then, and all its rows are drawn together.
    """

    first: Counts | None
    n_copies: int
    n_draws: int
    factor: Floats | None = None
    seed: int = 0
    unit: Counts | None = None

    @classmethod
    def of(
        cls, table: Table, max_samples: float | None = None, seed: int = 0, unit: Counts | None = None
    ) -> Self:
        """Prepare the draws from a table.

        `max_samples` is a number of copies or of groups, a share of them, or None for all. `unit` has the number of the
        group of each row (`hornbeam.data.row_order.unit_ranks`), if rows belong to groups.
        """
        weight, n_rows = table.weight, table.n_rows
        if unit is not None:
            n_units, factor = int(unit.max()) + 1, None if weight is None else table.row_weights
            return cls(None, n_units, _n_draws(max_samples, n_units), factor, seed, unit)
        if weight is None:
            return cls(None, n_rows, _n_draws(max_samples, n_rows), None, seed)
        n_copies = int(weight.sum())
        if table.unit == 1.0 and n_copies <= _MOST_COPIES:
            return cls(np.cumsum(weight) - weight, n_copies, _n_draws(max_samples, n_copies), None, seed)
        factor = (weight * table.unit).astype(np.float64)
        return cls(None, n_rows, _n_draws(max_samples, n_rows), factor, seed)

    @property
    def design_effect(self) -> float:
        """Number of draws that count as one independent row when features are compared.

        Kish's design effect is 1 plus the draws per copy: 2 for a sample as large as the table. A larger value is used,
        so that a category of one row that is drawn four times does not look like two rows of the same class.
        """
        if self.factor is not None and self.unit is None:  # with fractional weights every row counts once
            return 1.0
        return 1.0 + 2.0 * self.n_draws / self.n_copies

    @property
    def copies(self) -> Counts:
        """Number of copies of each row."""
        return self._per_row(np.ones(self.n_copies, np.bool_))

    def sample(self, tree: int) -> Sample:
        """Draw the sample of a tree, by its number."""
        bits = np.random.Philox(key=[self.seed, tree]).random_raw(self.n_draws) >> np.uint64(64 - _BITS)
        copies = (bits * ldexp(self.n_copies, -_BITS)).astype(np.int64)
        drawn = np.bincount(np.minimum(copies, self.n_copies - 1), minlength=self.n_copies)
        times = self._per_row(drawn)
        rows = np.flatnonzero(times)
        weight = times[rows] if self.factor is None else times[rows] * self.factor[rows]
        return Sample(rows, *fixed_point_weights(weight.astype(np.float64)), self._per_row(drawn == 0))

    def _per_row(self, per_copy: Counts | Bools) -> Counts:
        """Sum an array over the copies of each row."""
        if self.unit is not None:
            return per_copy.astype(np.int64)[self.unit]
        if self.first is None:
            return per_copy.astype(np.int64)
        return np.add.reduceat(per_copy, self.first, dtype=np.int64)


def _n_draws(max_samples: float | None, n_copies: int) -> int:
    if max_samples is None:
        return n_copies
    if isinstance(max_samples, int):
        if 1 <= max_samples <= n_copies:
            return max_samples
    elif 0.0 < max_samples <= 1.0:
        return max(1, round(max_samples * n_copies))
    raise ParameterError(
        f"max_samples={max_samples!r}: expected a whole number from 1 to the number of rows, {n_copies:,}, or a share "
        "of them above 0.0 and up to 1.0. Pass None for as many as there are."
    )
