"""How well a score separates the rows of one class from the others: ROC curve, Gini, KS, lift."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from hornbeam.errors import DataError, ParameterError
from hornbeam.typing import Bools, Floats

__all__ = ["KS", "LiftTable", "RocCurve", "gini", "ks_statistic", "lift_table", "roc_auc", "roc_curve"]


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """True against false positive rate, for thresholds from high to low.

    Parameters
    ----------
    false_positive_rate, true_positive_rate : float64 arrays
        Shares of the other rows, and of the rows of the class, whose score is at least the threshold.
    threshold : float64 array
        Infinite first, then each score that occurs.

    Examples
    --------
    >>> curve = roc_curve([False, True, True], [0.1, 0.4, 0.8])
    >>> curve.threshold.tolist()
    [inf, 0.8, 0.4, 0.1]
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    threshold: Floats


class KS(NamedTuple):
    """The Kolmogorov-Smirnov statistic, and the score at which it is reached.

    Examples
    --------
    >>> ks_statistic([False, False, True], [0.1, 0.2, 0.9])
    KS(value=1.0, threshold=0.9)
    """

    value: float
    threshold: float


@dataclass(frozen=True, slots=True, eq=False)
class LiftTable:
    """Rows in groups of equal size, from the highest score to the lowest.

    Rows of equal scores that fall into two groups are divided in proportion, so that their order does not matter.

    Parameters
    ----------
    rows : float64 array of shape (n_groups,)
        Rows of each group.
    predicted : float64 array of shape (n_groups,)
        Mean score.
    positives : float64 array of shape (n_groups,)
        Rows of the class.

    Examples
    --------
    >>> table = lift_table([True, True, False, False], [0.9, 0.6, 0.6, 0.1], n_groups=2)
    >>> table.positives.tolist(), table.lift.tolist(), table.captured.tolist()
    ([1.5, 0.5], [1.5, 0.5], [0.75, 1.0])
    """

    rows: Floats
    predicted: Floats
    positives: Floats

    @property
    def rate(self) -> Floats:
        """Share of the class in each group."""
        return self.positives / self.rows

    @property
    def lift(self) -> Floats:
        """Share of the class in each group, divided by its share in all rows."""
        return self.rate / (self.positives.sum() / self.rows.sum())

    @property
    def captured(self) -> Floats:
        """Share of all rows of the class that are in this group or in one before."""
        return np.cumsum(self.positives) / self.positives.sum()

    @property
    def cumulative_lift(self) -> Floats:
        """Lift of this group and those before, taken together."""
        return self.captured / (np.cumsum(self.rows) / self.rows.sum())


def roc_curve(came: Any, score: Any) -> RocCurve:
    """Find the true and false positive rates at every threshold.

    Parameters
    ----------
    came : array-like of bool of shape (n_rows,)
        Whether a row has the class.
    score : array-like of float of shape (n_rows,)
        Its probability, or any other score.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> curve = roc_curve([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    came, score = _both_kinds(came, score)
    values, group = np.unique(-score, return_inverse=True)
    yes, no = np.bincount(group, came), np.bincount(group, ~came)
    false_rate, true_rate = (np.concatenate([[0.0], np.cumsum(part) / part.sum()]) for part in (no, yes))
    return RocCurve(false_rate, true_rate, np.concatenate([[np.inf], -values]))


def roc_auc(came: Any, score: Any) -> float:
    """Find how often a row of the class has a higher score than another row; ties count one half.

    Parameters
    ----------
    came : array-like of bool of shape (n_rows,)
        Whether a row has the class.
    score : array-like of float of shape (n_rows,)
        Its probability, or any other score.

    Returns
    -------
    float
        The area under the ROC curve.

    Examples
    --------
    >>> roc_auc([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    came, score = _both_kinds(came, score)
    yes = int(came.sum())
    return float((rankdata(score)[came].mean() - (yes + 1) / 2) / (len(came) - yes))


def gini(came: Any, score: Any) -> float:
    """Find the Gini coefficient of a score: twice the area under the ROC curve, minus 1 (Somers' D).

    Parameters
    ----------
    came : array-like of bool of shape (n_rows,)
        Whether a row has the class.
    score : array-like of float of shape (n_rows,)
        Its probability, or any other score.

    Returns
    -------
    float

    Examples
    --------
    >>> gini([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    0.75
    """
    return 2.0 * roc_auc(came, score) - 1.0


def ks_statistic(came: Any, score: Any) -> KS:
    """Find the largest distance between the true and the false positive rate over all thresholds.

    Parameters
    ----------
    came : array-like of bool of shape (n_rows,)
        Whether a row has the class.
    score : array-like of float of shape (n_rows,)
        Its probability, or any other score. Higher is taken to mean the class.

    Returns
    -------
    KS

    Examples
    --------
    >>> ks_statistic([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    KS(value=0.5, threshold=0.8)
    """
    curve = roc_curve(came, score)
    distance = curve.true_positive_rate - curve.false_positive_rate
    best = int(distance.argmax())
    return KS(float(distance[best]), float(curve.threshold[best]))


def lift_table(came: Any, score: Any, n_groups: int = 10) -> LiftTable:
    """Divide rows into groups of equal size by their score, highest first, and count the class in each.

    Parameters
    ----------
    came : array-like of bool of shape (n_rows,)
        Whether a row has the class.
    score : array-like of float of shape (n_rows,)
        Its probability, or any other score.
    n_groups : int, default 10
        10 for a decile table.

    Returns
    -------
    LiftTable

    Examples
    --------
    >>> lift_table([True, False, False, False], [0.9, 0.3, 0.2, 0.1], n_groups=2).lift.tolist()
    [2.0, 0.0]
    """
    came, score = _both_kinds(came, score)
    if n_groups < 1:
        raise ParameterError(f"n_groups={n_groups}: expected 1 or more.")
    _, group, size = np.unique(-score, return_inverse=True, return_counts=True)
    rows = np.concatenate([[0.0], np.cumsum(size)])
    ends = np.linspace(0.0, len(came), n_groups + 1)
    sums = (np.cumsum(np.bincount(group, part)) for part in (score, came))
    predicted, positives = (np.diff(np.interp(ends, rows, np.concatenate([[0.0], total]))) for total in sums)
    counts = np.diff(ends)
    return LiftTable(counts, predicted / counts, positives)


def _both_kinds(came: Any, score: Any) -> tuple[Bools, Floats]:
    """Outcomes and scores as arrays, checked."""
    came, score = np.asarray(came), np.asarray(score, float)
    if came.shape != score.shape or score.ndim != 1:
        raise DataError(
            f"outcomes of shape {came.shape} beside scores of shape {score.shape}; expected one of each a row. "
            "Pass the probabilities of one class: predict_proba(X)[:, 1], for example."
        )
    if not np.isin(came, (0, 1)).all():
        raise DataError(
            "outcomes other than true and false; expected whether each row has the class. Pass y == label."
        )
    came = came.astype(bool)
    if np.isnan(score).any():
        raise DataError("scores with NaN; expected a number for each row.")
    if not came.any() or came.all():
        found = "rows of the class alone" if came.any() else "no row of the class"
        raise DataError(f"{found}; expected rows of the class and other rows.")
    return came, score
