"""Bootstrap samples: for each tree its own draw of the rows, with replacement."""

from dataclasses import dataclass
from math import ldexp
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.typing import Bools, Counts, Floats

__all__ = ["Bootstrap", "Sample"]

_MOST_COPIES = 2**26  # weights beyond are carried along instead of being drawn copy by copy
_BITS = 53  # of a random number that a float64 holds exactly


class Sample(NamedTuple):
    """The rows drawn for a tree, what each weighs in steps of a unit, and how many copies of every row are left.

    `weight` is None where all of them were drawn once.
    """

    rows: NDArray[np.intp]
    weight: Counts | None
    unit: float
    left: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """Draws with replacement among the copies of rows, where a row of weight 2 is two copies.

    Parameters
    ----------
    first : int64 array of shape (n_rows,) or None
        The first copy of each row; None if every row is one copy.
    n_copies : int
        How many copies there are.
    n_draws : int
        How many of them make a sample.
    carried : float64 array of shape (n_rows,) or None
        What a row counts each time it is drawn; None for 1.
    seed : int
        Another seed, other samples.

    Notes
    -----
    The sample of a tree depends on the seed and the number of the tree alone (the counter-based generator Philox,
    keyed by both): trees may be grown in any order, and the first ten of a hundred are the ten.

    A sample is drawn copy by copy, so that a row of weight 2 is exactly a row given twice. Weights that are not
    whole, or huge, are carried along instead: each row is one copy, and counts its weight each time it is drawn.

    Examples
    --------
    >>> table = Table.read([[1.0], [2.0], [3.0]], [0, 0, 1], sample_weight=[1, 3, 1])
    >>> sample = Bootstrap.of(table).sample(0)
    >>> sample.rows.tolist(), sample.weight.tolist(), sample.left.tolist()
    ([0, 1], [2, 3], [0, 1, 1])
    """

    first: Counts | None
    n_copies: int
    n_draws: int
    carried: Floats | None = None
    seed: int = 0

    @classmethod
    def of(cls, table: Table, max_samples: float | None = None, seed: int = 0) -> Self:
        """Prepare to draw from a table: as many copies as there are, so many, or such a share of them."""
        weight, n_rows = table.weight, table.n_rows
        if weight is None:
            return cls(None, n_rows, _n_draws(max_samples, n_rows), None, seed)
        n_copies = int(weight.sum())
        if table.unit == 1.0 and n_copies <= _MOST_COPIES:
            return cls(np.cumsum(weight) - weight, n_copies, _n_draws(max_samples, n_copies), None, seed)
        carried = (weight * table.unit).astype(np.float64)
        return cls(None, n_rows, _n_draws(max_samples, n_rows), carried, seed)

    @property
    def design_effect(self) -> float:
        """How many draws count as one independent row when features are compared.

        Kish's design effect is 1 plus the draws for each copy, 2 where as many are drawn as there are. It is taken a
        little larger: a category of one row that is drawn four times must not look like two rows that agree.
        """
        if self.carried is not None:  # rows of weights that are not whole are counted once each
            return 1.0
        return 1.0 + 2.0 * self.n_draws / self.n_copies

    def sample(self, tree: int) -> Sample:
        """Draw the sample of a tree."""
        bits = np.random.Philox(key=[self.seed, tree]).random_raw(self.n_draws) >> np.uint64(64 - _BITS)
        copies = (bits * ldexp(self.n_copies, -_BITS)).astype(np.int64)
        drawn = np.bincount(np.minimum(copies, self.n_copies - 1), minlength=self.n_copies)
        times = self._by_row(drawn)
        rows = np.flatnonzero(times)
        counted = times[rows] if self.carried is None else times[rows] * self.carried[rows]
        return Sample(rows, *fixed_point_weights(counted.astype(np.float64)), self._by_row(drawn == 0))

    def _by_row(self, of_copies: Counts | Bools) -> Counts:
        if self.first is None:
            return of_copies.astype(np.int64)
        return np.add.reduceat(of_copies, self.first, dtype=np.int64)


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
