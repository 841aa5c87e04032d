"""Predicted distributions of a numeric target, one for each row, as a table and as arrays."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hornbeam.checks import check_share
from hornbeam.data.binning.target_bins import TargetBins
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.errors import DataError
from hornbeam.grid import Grid, Result
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowDistributions(Result[dict[str, Any]]):
    """Distribution of a numeric target for each row; the table has some of its quantiles.

    Within a bin, from `low` to `high`, values are uniform; a bin of a single value has its whole probability there. The
    bins are those of the model; the values of a row are these plus its `shift`, the sum of its terms.

    Parameters
    ----------
    bins : TargetBins
        The bins of the target.
    up_to : float64 array of shape (n_rows, n_bins)
        Probability of values up to the end of each bin.
    shift : float64 array of shape (n_rows,)
        What the terms of a tree add to the values of each row; 0 without terms.

    Examples
    --------
    >>> bins = TargetBins(np.array([1.0, 3.0]), np.array([1.0, 5.0]))
    >>> found = RowDistributions(bins, np.array([[0.4, 1.0]]), np.zeros(1))
    >>> found.probability, found.quantile(0.7), found.cdf([3.5])
    (array([[0.4, 0.6]]), array([4.]), array([0.55]))
    >>> found.to_dict()
    {'q05': [1.0], 'q25': [1.0], 'q50': [3.333333333333333], 'q75': [4.166666666666667], 'q95': [4.833333333333333]}
    """

    bins: TargetBins
    up_to: Floats
    shift: Floats
    _LEVELS: ClassVar[tuple[float, ...]] = (0.05, 0.25, 0.5, 0.75, 0.95)

    @property
    def low(self) -> Floats:
        """The least value of each bin."""
        return self.bins.low

    @property
    def high(self) -> Floats:
        """The largest value of each bin."""
        return self.bins.high

    @property
    def probability(self) -> Floats:
        """The probability of each bin, of shape (n_rows, n_bins)."""
        return np.diff(self.up_to, axis=1, prepend=0.0)

    def quantile(self, q: Any = 0.5) -> Floats:
        """Compute quantiles of each row, as `predict_quantile`.

        Parameters
        ----------
        q : float or sequence of float, default=0.5
            Probabilities between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, len(q)) for a sequence
        """
        levels = quantile_levels(q)
        found = np.array([self.bins.at_levels(row, levels) for row in self.up_to]).reshape(-1, len(levels))
        found += self.shift[:, None]
        return found if np.ndim(q) else found[:, 0]

    def cdf(self, y: Any) -> Floats:
        """Compute the probability of targets up to a number: one for all rows, or one for each row.

        Parameters
        ----------
        y : float or array-like of shape (n_rows,)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        numbers = read_numeric_target(y if np.ndim(y) else [y])
        if len(numbers) != len(self.shift) and np.ndim(y):
            raise DataError(
                f"y has {len(numbers)} numbers for {len(self.shift)} rows; expected one for each row, or a single one."
            )
        apart = numbers - self.shift
        code, row = self.bins.codes(apart), np.arange(len(apart))
        below = np.where(code > 0, self.up_to[row, code - 1], 0.0)
        return self.bins.within(apart, below, self.up_to[row, code])[1]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with some quantiles of each row."""
        columns = self.quantile(self._LEVELS).T.tolist()
        return {f"q{100 * q:02.0f}": column for q, column in zip(self._LEVELS, columns, strict=True)}

    def _grid(self) -> Grid:
        """Return a table with a line for each row."""
        heads = ["median" if q == 0.5 else f"{100 * q:.0f} %" for q in self._LEVELS]
        rows = [[f"{one:.4g}" for one in row] for row in zip(*self.to_dict().values(), strict=True)]
        return Grid("Quantiles of each row", [f"{head:>6}" for head in heads], rows, ">")


def quantile_levels(q: Any) -> Floats:
    """Check probabilities: one, or a list of them."""
    many = isinstance(q, (list, tuple, np.ndarray)) and np.ndim(q) == 1
    for one in q if many else [q]:
        check_share("q", one)
    return np.array(q if many else [q], np.float64)
