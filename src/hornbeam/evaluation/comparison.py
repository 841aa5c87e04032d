"""Several methods on several data sets: who wins, and whether it is chance.

Scores are losses: less is better. Two scores that are equal to four decimals are a draw, as in the tables of the
HGS paper, and draws are dropped from the sign test.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, friedmanchisquare, rankdata, studentized_range

from hornbeam.errors import DataError
from hornbeam.typing import Floats

__all__ = ["Comparison", "Friedman", "WinDrawLoss", "nemenyi_distance", "sign_test"]


def sign_test(wins: int, losses: int) -> float:
    """Two-sided probability of a record at least as uneven, if either side were as likely to win.

    Examples
    --------
    >>> round(sign_test(84, 59), 4), round(sign_test(83, 60), 4), sign_test(0, 0)
    (0.0444, 0.0654, 1.0)
    """
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def nemenyi_distance(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """How far apart two average ranks must be to differ at this level (Nemenyi's critical difference).

    Notes
    -----
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, section 3.2.2.

    Examples
    --------
    The paper's own example, four methods on fourteen sets:

    >>> round(nemenyi_distance(4, 14), 2)
    1.25
    """
    # The studentized range of so many freedoms is that of infinitely many, for which SciPy needs a second.
    q = studentized_range.isf(level, n_methods, 100_000) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


class WinDrawLoss(NamedTuple):
    """Sets on which one method beat another, drew and lost, and the two-sided sign test of it.

    Examples
    --------
    >>> print(WinDrawLoss(wins=84, draws=0, losses=59))
    84-0-59 (p = .044)
    """

    wins: int
    draws: int
    losses: int

    @property
    def p(self) -> float:
        """Probability of a record at least as uneven by chance; draws are dropped."""
        return sign_test(self.wins, self.losses)

    def __str__(self) -> str:
        p = f"{self.p:.0e}" if self.p < 0.001 else f"{self.p:.3f}".lstrip("0")
        return f"{self.wins}-{self.draws}-{self.losses} (p = {p})"


class Friedman(NamedTuple):
    """Whether any of the methods differ: the statistic and its probability if none did."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A loss of every method on every set.

    Parameters
    ----------
    methods : tuple of str
        The columns.
    sets : tuple of str
        The rows.
    losses : float64 array of shape (n_sets, n_methods)
        Less is better; NaN where a method gave no answer.
    measure : str, default "loss"
        What it is, for headings.
    decimals : int, default 4
        Losses equal to so many decimals are a draw.

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
        """The losses of one method on every set."""
        if method not in self.methods:
            raise DataError(f"No method {method!r}; there are {', '.join(self.methods)}.")
        return self.losses[:, self.methods.index(method)]

    def among(self, methods: Iterable[str]) -> "Comparison":
        """The same sets with these methods alone."""
        methods = tuple(methods)
        return replace(self, methods=methods, losses=np.column_stack([self.of(name) for name in methods]))

    def on(self, sets: ArrayLike) -> "Comparison":
        """The same methods on the marked sets alone."""
        kept = np.asarray(sets, bool)
        names = tuple(name for name, keep in zip(self.sets, kept, strict=True) if keep)
        return replace(self, sets=names, losses=self.losses[kept])

    def complete(self) -> "Comparison":
        """Only the sets on which every method gave an answer."""
        return self.on(~np.isnan(self.losses).any(axis=1))

    def record(self, method: str, other: str) -> WinDrawLoss:
        """Wins, draws and losses of a method against another, over the sets where both gave an answer."""
        ours, theirs = self._shown(self.of(method)), self._shown(self.of(other))
        return WinDrawLoss(
            int((ours < theirs).sum()), int((ours == theirs).sum()), int((ours > theirs).sum())
        )

    def means(self) -> Floats:
        """Mean loss of every method over the sets where all gave an answer."""
        losses = self.complete().losses
        return losses.mean(axis=0) if len(losses) else np.full(len(self.methods), np.nan)

    def ranks(self) -> Floats:
        """Average rank of every method, 1 the best, over the sets where all gave an answer; draws share one."""
        losses = self._shown(self.complete().losses)
        if not len(losses):
            return np.full(len(self.methods), np.nan)
        ranks: Floats = rankdata(losses, axis=1).mean(axis=0)
        return ranks

    def friedman(self) -> Friedman:
        """Friedman's test that all methods are alike; three methods at least."""
        result = friedmanchisquare(*self._shown(self.complete().losses).T)
        return Friedman(float(result.statistic), float(result.pvalue))

    def critical_difference(self, level: float = 0.05) -> float:
        """How far apart two average ranks must be to differ at this level."""
        return nemenyi_distance(len(self.methods), len(self.complete().sets), level)

    def to_markdown(self, against: Iterable[str] | None = None) -> str:
        """Write a table, best mean first, with the record of each method against some or all."""
        against = self.methods if against is None else tuple(against)
        means, ranks = self.means(), self.ranks()
        lines = [
            " | ".join(["| method", f"mean {self.measure}", "rank", *(f"against {name}" for name in against)])
            + " |",
            "|---|--:|--:|" + "---|" * len(against),
        ]
        for i in np.argsort(means, kind="stable"):
            name = self.methods[i]
            records = [" " if other == name else f" {self.record(name, other)} " for other in against]
            head = f"| {name} | {means[i]:.{self.decimals}f} | {ranks[i]:.2f} |".replace("| 0.", "| .")
            lines.append(head + "|".join(records) + "|")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_markdown()

    def _shown(self, losses: Floats) -> Floats:
        shown: Floats = np.round(losses, self.decimals)
        return shown
