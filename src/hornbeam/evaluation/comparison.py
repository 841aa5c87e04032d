"""Comparison of several methods on several data sets, with significance tests.

Scores are losses: less is better. Two scores that are equal to four decimals are a draw, as in the tables of the
HGS paper, and the sign test ignores draws.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, friedmanchisquare, rankdata, studentized_range

from hornbeam.errors import DataError
from hornbeam.grid import Grid
from hornbeam.typing import Floats


def sign_test(wins: int, losses: int) -> float:
    """Compute the two-sided p-value of the sign test.

    Examples
    --------
    >>> round(sign_test(84, 59), 4), round(sign_test(83, 60), 4), sign_test(0, 0)
    (0.0444, 0.0654, 1.0)
    """
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def nemenyi_distance(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """Compute Nemenyi's critical difference: average ranks that differ by more differ significantly.

    Notes
    -----
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, section 3.2.2.

    Examples
    --------
    The example of the paper, four methods on fourteen sets:

    >>> round(nemenyi_distance(4, 14), 2)
    1.25
    """
    # 100,000 degrees of freedom stand for infinitely many, for which SciPy takes a second.
    q = studentized_range.isf(level, n_methods, 100_000) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


class WinDrawLoss(NamedTuple):
    """Numbers of sets on which one method beat another, drew and lost."""

    wins: int
    draws: int
    losses: int

    @property
    def p(self) -> float:
        """Two-sided p-value of the sign test; draws are ignored."""
        return sign_test(self.wins, self.losses)

    def __str__(self) -> str:
        p = f"{self.p:.0e}" if self.p < 0.001 else f"{self.p:.3f}".lstrip("0")
        return f"{self.wins}-{self.draws}-{self.losses} (p = {p})"


class Friedman(NamedTuple):
    """Statistic and p-value of Friedman's test that all methods are equal."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Losses of several methods on several sets.

    Parameters
    ----------
    methods : tuple of str
        The columns.
    sets : tuple of str
        The rows.
    losses : float64 array of shape (n_sets, n_methods)
        Less is better; NaN where a method has no result.
    measure : str, default "loss"
        Name of the loss, for headings.
    decimals : int, default 4
        Losses that are equal to this number of decimals are a draw.

    References
    ----------
    Demšar (2006) :cite:p:`demsar2006`.

    Examples
    --------
    >>> import numpy as np
    >>> losses = np.array([[0.31, 0.29], [0.20, 0.18], [0.4, 0.40001]])
    >>> comparison = Comparison(("raw", "hgs"), ("a", "b", "c"), losses, "RMSE")
    >>> print(comparison.record("hgs", "raw"))
    2-1-0 (p = .500)
    >>> print(comparison)
    | method | mean RMSE | rank | against raw | against hgs |
    |---|--:|--:|---|---|
    | hgs | .2900 | 1.17 | 2-1-0 (p = .500) | |
    | raw | .3033 | 1.83 | | 0-1-2 (p = .500) |
    """

    methods: tuple[str, ...]
    sets: tuple[str, ...]
    losses: Floats
    measure: str = "loss"
    decimals: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", tuple(self.methods))
        object.__setattr__(self, "sets", tuple(self.sets))
        object.__setattr__(self, "losses", np.asarray(self.losses, float))
        if self.losses.shape != (len(self.sets), len(self.methods)):
            raise DataError(
                f"Losses of shape {self.losses.shape} beside {len(self.sets)} sets and {len(self.methods)} "
                "methods; expected a row for each set and a column for each method."
            )

    def of(self, method: str) -> Floats:
        """Return the losses of one method on every set."""
        if method not in self.methods:
            raise DataError(f"No method {method!r}; there are {', '.join(self.methods)}.")
        return self.losses[:, self.methods.index(method)]

    def among(self, methods: Iterable[str]) -> "Comparison":
        """Return the comparison of these methods only."""
        methods = tuple(methods)
        return replace(self, methods=methods, losses=np.column_stack([self.of(name) for name in methods]))

    def on(self, sets: ArrayLike) -> "Comparison":
        """Return the comparison on the selected sets only."""
        kept = np.asarray(sets, bool)
        names = tuple(name for name, keep in zip(self.sets, kept, strict=True) if keep)
        return replace(self, sets=names, losses=self.losses[kept])

    def complete(self) -> "Comparison":
        """Return the comparison on the sets where every method has a result."""
        return self.on(~np.isnan(self.losses).any(axis=1))

    def record(self, method: str, other: str) -> WinDrawLoss:
        """Return wins, draws and losses of one method against another, over the sets where both have a result."""
        ours, theirs = self._rounded(self.of(method)), self._rounded(self.of(other))
        return WinDrawLoss(
            int((ours < theirs).sum()), int((ours == theirs).sum()), int((ours > theirs).sum())
        )

    def means(self) -> Floats:
        """Return the mean loss of every method over the sets where all have a result."""
        losses = self.complete().losses
        return losses.mean(axis=0) if len(losses) else np.full(len(self.methods), np.nan)

    def ranks(self) -> Floats:
        """Return the average rank of every method, 1 for the best, over the sets where all have a result."""
        losses = self._rounded(self.complete().losses)
        if not len(losses):
            return np.full(len(self.methods), np.nan)
        ranks: Floats = rankdata(losses, axis=1).mean(axis=0)
        return ranks

    def friedman(self) -> Friedman:
        """Run Friedman's test that all methods are equal; it needs at least three methods."""
        result = friedmanchisquare(*self._rounded(self.complete().losses).T)
        return Friedman(float(result.statistic), float(result.pvalue))

    def critical_difference(self, level: float = 0.05) -> float:
        """Return the critical difference of average ranks at this level."""
        return nemenyi_distance(len(self.methods), len(self.complete().sets), level)

    def to_markdown(self, against: Iterable[str] | None = None) -> str:
        """Format a table, best mean first, with the record of each method against some or all others."""
        against = self.methods if against is None else tuple(against)
        means, ranks = self.means(), self.ranks()
        rows = [
            [
                self.methods[i],
                f"{means[i]:.{self.decimals}f}".removeprefix("0"),
                f"{ranks[i]:.2f}",
                *("" if name == self.methods[i] else self.record(self.methods[i], name) for name in against),
            ]
            for i in np.argsort(means, kind="stable")
        ]
        header = ["method", f"mean {self.measure}", "rank", *(f"against {name}" for name in against)]
        return Grid("", header, rows, "<>><").markdown(escaped=True).replace("|  |", "| |")

    def __str__(self) -> str:
        return self.to_markdown()

    def _rounded(self, losses: Floats) -> Floats:
        rounded: Floats = np.round(losses, self.decimals)
        return rounded
