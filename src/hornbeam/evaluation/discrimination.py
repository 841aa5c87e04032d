"""Separation of one class from the others by a score: ROC curve, Gini, KS, lift."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.reading.columns import as_data_error
from hornbeam.errors import DataError, ParameterError
from hornbeam.typing import Bools, Floats


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """True and false positive rates for thresholds from high to low."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    threshold: Floats


class KS(NamedTuple):
    """Kolmogorov-Smirnov statistic, and the score at which it is reached.

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

    Rows with equal scores at the border of two groups are divided in proportion, so their order does not matter.

    Parameters
    ----------
    rows : float64 array of shape (n_groups,)
        Number of rows of each group.
    predicted : float64 array of shape (n_groups,)
        Mean score.
    positives : float64 array of shape (n_groups,)
        Number of rows of the class.

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
        """Share of the rows of the class that are in this group or an earlier one."""
        return np.cumsum(self.positives) / self.positives.sum()

    @property
    def cumulative_lift(self) -> Floats:
        """Lift of this group and all earlier ones together."""
        return self.captured / (np.cumsum(self.rows) / self.rows.sum())


def roc_curve(y_true: Any, score: Any, *, n_rows: Any = None) -> RocCurve:
    """Compute the true and false positive rates at every threshold.

    Parameters
    ----------
    y_true : array-like of bool of shape (n_rows,)
        Whether each row has the class.
    score : array-like of float of shape (n_rows,)
        Probability of the class, or any other score.
    n_rows : array-like of shape (n_rows,), optional
        Number of equal rows that each entry stands for; default 1.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> curve = roc_curve([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    y_true, score = _checked(y_true, score)
    rows = np.ones(len(score)) if n_rows is None else np.asarray(n_rows, float)
    values, group = np.unique(-score, return_inverse=True)
    positives, negatives = np.bincount(group, rows * y_true), np.bincount(group, rows * ~y_true)
    false_rate, true_rate = (
        np.concatenate([[0.0], np.cumsum(part) / part.sum()]) for part in (negatives, positives)
    )
    return RocCurve(false_rate, true_rate, np.concatenate([[np.inf], -values]))


def roc_auc(y_true: Any, score: Any, *, n_rows: Any = None) -> float:
    """Compute the area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of bool of shape (n_rows,)
        Whether each row has the class.
    score : array-like of float of shape (n_rows,)
        Probability of the class, or any other score.
    n_rows : array-like of shape (n_rows,), optional
        Number of equal rows that each entry stands for; default 1.

    Returns
    -------
    float
        Probability that a row of the class has a higher score than another row; ties count one half.

    Examples
    --------
    >>> roc_auc([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    curve = roc_curve(y_true, score, n_rows=n_rows)
    height = (curve.true_positive_rate[1:] + curve.true_positive_rate[:-1]) / 2
    return float((np.diff(curve.false_positive_rate) * height).sum())


def gini(y_true: Any, score: Any) -> float:
    """Compute the Gini coefficient of a score: twice the area under the ROC curve, minus 1 (Somers' D).

    Parameters
    ----------
    y_true : array-like of bool of shape (n_rows,)
        Whether each row has the class.
    score : array-like of float of shape (n_rows,)
        Probability of the class, or any other score.

    Returns
    -------
    float

    Examples
    --------
    >>> gini([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    0.75
    """
    return 2.0 * roc_auc(y_true, score) - 1.0


def ks_statistic(y_true: Any, score: Any, *, n_rows: Any = None) -> KS:
    """Find the largest difference of true and false positive rate over all thresholds.

    Parameters
    ----------
    y_true : array-like of bool of shape (n_rows,)
        Whether each row has the class.
    score : array-like of float of shape (n_rows,)
        Probability of the class, or any other score. A higher score must mean the class.
    n_rows : array-like of shape (n_rows,), optional
        Number of equal rows that each entry stands for; default 1.

    Returns
    -------
    KS

    Examples
    --------
    >>> ks_statistic([False, True, False, True], [0.1, 0.4, 0.4, 0.8])
    KS(value=0.5, threshold=0.8)
    """
    curve = roc_curve(y_true, score, n_rows=n_rows)
    distance = curve.true_positive_rate - curve.false_positive_rate
    best = int(distance.argmax())
    return KS(float(distance[best]), float(curve.threshold[best]))


def lift_table(y_true: Any, score: Any, n_groups: int = 10, *, n_rows: Any = None) -> LiftTable:
    """Divide rows into groups of equal size by their score, highest first, and count the class in each.

    Parameters
    ----------
    y_true : array-like of bool of shape (n_rows,)
        Whether each row has the class.
    score : array-like of float of shape (n_rows,)
        Probability of the class, or any other score.
    n_groups : int, default 10
        Number of groups; 10 for a decile table.
    n_rows : array-like of shape (n_rows,), optional
        Number of equal rows that each entry stands for; default 1.

    Returns
    -------
    LiftTable

    Examples
    --------
    >>> lift_table([True, False, False, False], [0.9, 0.3, 0.2, 0.1], n_groups=2).lift.tolist()
    [2.0, 0.0]
    """
    y_true, score = _checked(y_true, score)
    if n_groups < 1:
        raise ParameterError(f"n_groups={n_groups}: expected 1 or more.")
    each = np.ones(len(score)) if n_rows is None else np.asarray(n_rows, float)
    _, group = np.unique(-score, return_inverse=True)
    rows = np.concatenate([[0.0], np.cumsum(np.bincount(group, each))])
    ends = np.linspace(0.0, rows[-1], n_groups + 1)
    sums = (np.cumsum(np.bincount(group, each * part)) for part in (score, y_true))
    predicted, positives = (np.diff(np.interp(ends, rows, np.concatenate([[0.0], total]))) for total in sums)
    counts = np.diff(ends)
    return LiftTable(counts, predicted / counts, positives)


def mean_area(target: NDArray[Any], predicted: Floats, weight: Floats | None = None) -> tuple[float, Floats]:
    """Return the area of the second of two classes, or the mean over classes with rows, and each row's part of it."""
    k = predicted.shape[1]
    found = [area_under_curve(target == c, predicted[:, c], weight) for c in ([1] if k == 2 else range(k))]
    known = [(area, influence) for area, influence in found if not np.isnan(area)]
    if not known:
        return float("nan"), np.full(len(predicted), np.nan)
    return float(np.mean([area for area, _ in known])), np.mean([influence for _, influence in known], axis=0)


def area_under_curve(
    observed: Bools, predicted: Floats, weight: Floats | None = None
) -> tuple[float, Floats]:
    """Return the area under the ROC curve, and the contribution of each row to its standard error.

    The area is NaN where one side has no rows. The contributions have the mean 0; the root of the sum of their squares,
    divided by the rows, is the standard error :cite:p:`delong1988`.
    """
    n = len(observed)
    influence = np.zeros(n)
    if observed.all() or not observed.any():
        return float("nan"), influence
    weight = np.ones(n) if weight is None else weight
    yes, no = weight[observed], weight[~observed]
    above = _share_below(predicted[observed], predicted[~observed], no)
    below = _share_below(-predicted[~observed], -predicted[observed], yes)
    area = float((yes * above).sum() / yes.sum())
    influence[observed] = yes * (above - area) * n / yes.sum()
    influence[~observed] = no * (below - area) * n / no.sum()
    return area, influence


def _share_below(score: Floats, others: Floats, weight: Floats) -> Floats:
    """Weight of the other rows with a lower score, and half of that with the same, by their total weight."""
    order = np.argsort(others)
    ranked, below = others[order], np.append(0.0, np.cumsum(weight[order]))
    lower, not_higher = (below[np.searchsorted(ranked, score, side)] for side in ("left", "right"))
    share: Floats = (lower + not_higher) / (2 * below[-1])
    return share


def _checked(y_true: Any, score: Any) -> tuple[Bools, Floats]:
    """Return outcomes and scores as arrays; refuse outcomes of one kind only."""
    y_true, score = read_outcomes(y_true, score)
    if not y_true.any() or y_true.all():
        found = "rows of the class alone" if y_true.any() else "no row of the class"
        raise DataError(f"{found}; expected rows of the class and other rows.")
    return y_true, score


def read_outcomes(y_true: Any, score: Any) -> tuple[Bools, Floats]:
    """Return outcomes and scores as arrays; raise `DataError` for outcomes other than true and false."""
    with as_data_error("outcomes and scores"):
        y_true, score = np.asarray(y_true), np.asarray(score, float)
    if y_true.shape != score.shape or score.ndim != 1:
        raise DataError(
            f"outcomes of shape {y_true.shape} beside scores of shape {score.shape}; expected one of each per row. "
            "Pass the probabilities of one class: predict_proba(X)[:, 1], for example."
        )
    if not np.isin(y_true, (0, 1)).all():
        raise DataError(
            "outcomes other than true and false; expected whether each row has the class. Pass y == label."
        )
    if np.isnan(score).any():
        raise DataError("scores with NaN; expected a number for each row.")
    return y_true.astype(bool), score
