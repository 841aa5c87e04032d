"""Comparison of several methods on several data sets, with significance tests.

Scores are losses: less is better. Two scores that are equal to four decimals are a draw, as in the tables of the
HGS paper, and the sign test ignores draws.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, friedmanchisquare, rankdata, studentized_range

from hornbeam.checks import check_share, check_text, check_whole
from hornbeam.data.reading.columns import as_data_error
from hornbeam.errors import DataError, shown
from hornbeam.grid import Grid, Result
from hornbeam.typing import Floats


class WinDrawLoss(NamedTuple):
    """Numbers of sets on which one method beat another, drew and lost.

    Examples
    --------
    >>> [round(WinDrawLoss(wins, 0, losses).p, 4) for wins, losses in ((84, 59), (83, 60), (0, 0))]
    [0.0444, 0.0654, 1.0]
    """

    wins: int
    draws: int
    losses: int

    @property
    def p(self) -> float:
        """Two-sided p-value of the sign test; draws are ignored."""
        decided = self.wins + self.losses
        return float(binomtest(self.wins, decided).pvalue) if decided else 1.0

    def __str__(self) -> str:
        p = f"{self.p:.0e}" if self.p < 0.001 else f"{self.p:.3f}".lstrip("0")
        return f"{self.wins}-{self.draws}-{self.losses} (p = {p})"


class Friedman(NamedTuple):
    """Statistic and p-value of Friedman's test that all methods are equal."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Result[dict[str, Any]]):
    """Losses of several methods on several sets; printed, a line per method.

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
        object.__setattr__(self, "methods", _names("methods", self.methods))
        object.__setattr__(self, "sets", _names("sets", self.sets))
        check_text("measure", self.measure)
        check_whole("decimals", self.decimals, 0)
        with as_data_error("losses"):
            object.__setattr__(self, "losses", np.asarray(self.losses, float))
        if self.losses.shape != (len(self.sets), len(self.methods)):
            raise DataError(
                f"Losses of shape {self.losses.shape} beside {len(self.sets)} sets and {len(self.methods)} "
                "methods; expected a row for each set and a column for each method."
            )

    def of(self, method: str) -> Floats:
        """Return the losses of one method on every set."""
        if method not in self.methods:
            raise DataError(f"No method {shown(method)}; there are {', '.join(self.methods)}.")
        return self.losses[:, self.methods.index(method)]

    def among(self, methods: Iterable[str]) -> "Comparison":
        """Return the comparison of these methods only."""
        methods = _names("methods", methods)
        return replace(self, methods=methods, losses=np.column_stack([self.of(name) for name in methods]))

    def on(self, sets: ArrayLike) -> "Comparison":
        """Return the comparison on the selected sets only."""
        kept = np.asarray(sets, bool)
        if kept.shape != (len(self.sets),):
            raise DataError(
                f"sets of shape {kept.shape}; expected true or false for each of the {len(self.sets)} sets."
            )
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
        """Run Friedman's test that all methods are equal; it needs at least three methods.

        Returns
        -------
        Friedman
            The `statistic`, and its `p`.
        """
        if len(self.methods) < 3 or not len(self.complete().sets):
            raise DataError(
                f"{len(self.methods)} methods with results on {len(self.complete().sets)} common sets; expected three "
                "methods at least, and one set. Compare two methods with record."
            )
        result = friedmanchisquare(*self._rounded(self.complete().losses).T)
        return Friedman(float(result.statistic), float(result.pvalue))

    def critical_difference(self, *, significance: float = 0.05) -> float:
        """Return Nemenyi's critical difference: average ranks that differ by more differ significantly.

        Parameters
        ----------
        significance : float, default 0.05
            Probability of a difference by chance, over all pairs of equal methods.

        Returns
        -------
        float

        References
        ----------
        Demšar (2006), section 3.2.2 :cite:p:`demsar2006`.

        Examples
        --------
        The example of the paper, four methods on fourteen sets:

        >>> import numpy as np
        >>> comparison = Comparison("abcd", map(str, range(14)), np.zeros((14, 4)))
        >>> round(comparison.critical_difference(), 2)
        1.25
        """
        check_share("significance", significance)
        k, n_sets = len(self.methods), len(self.complete().sets)
        if k < 2 or not n_sets:
            raise DataError(
                f"{k} methods with results on {n_sets} common sets; expected two methods at least, and one set."
            )
        # 100,000 degrees of freedom stand for infinitely many, for which SciPy takes a second.
        q = studentized_range.isf(significance, k, 100_000) / np.sqrt(2)
        return float(q * np.sqrt(k * (k + 1) / (6 * n_sets)))

    def plot(self, *, significance: float = 0.05, ax: Any = None) -> Any:
        """Draw average ranks on a line, best at the left, with a bar over methods that do not differ significantly.

        Parameters
        ----------
        significance : float, default 0.05
            As in `critical_difference`.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib axes

        References
        ----------
        Demšar (2006), figure 1 :cite:p:`demsar2006`.

        Examples
        --------
        >>> import numpy as np
        >>> losses = np.random.default_rng(0).random((30, 3)) + [0, 0.1, 1.0]
        >>> ax = Comparison(("a", "b", "c"), [str(at) for at in range(30)], losses).plot()
        """
        from hornbeam.plots.comparison import draw_ranks

        return draw_ranks(self.methods, self.ranks(), self.critical_difference(significance=significance), ax)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the mean loss and the average rank of each method."""
        return {"method": [*self.methods], "mean": self.means().tolist(), "rank": self.ranks().tolist()}

    def to_markdown(self, against: Iterable[str] | None = None) -> str:
        """Format a table, best mean first, with the record of each method against some or all others."""
        against = self.methods if against is None else _names("against", against)
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


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Check names of methods or sets."""
    names = tuple(value) if isinstance(value, Iterable) else (None,)
    if not all(isinstance(one, str) for one in names):
        raise DataError(f"{name}={shown(value)}: expected a list of texts.")
    return names
