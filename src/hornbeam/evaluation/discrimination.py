"""Separation of one class from the others by a score: ROC curve, Gini coefficient, KS, lift."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_whole
from hornbeam.data.reading.columns import as_data_error
from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.grid import Result
from hornbeam.typing import Bools, Floats, Label


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurve(Result[dict[str, float]]):
    """True and false positive rates for thresholds from high to low; printed, a line per threshold."""

    _COLUMNS: ClassVar = ("false_positive_rate", "true_positive_rate", "threshold")

    false_positive_rate: Floats
    true_positive_rate: Floats
    threshold: Floats


@dataclass(frozen=True, slots=True, repr=False)
class KSStatistic(Result[dict[str, float]]):
    """Kolmogorov-Smirnov statistic, and the score at which it is reached.

    Parameters
    ----------
    value : float
        The largest difference of true and false positive rate.
    threshold : float
        The score at which it is reached.

    Examples
    --------
    >>> ks_statistic([False, False, True], [0.1, 0.2, 0.9])
    value  threshold
        1        0.9
    """

    value: float
    threshold: float

    def to_dict(self) -> dict[str, list[float]]:
        """Return the two numbers as columns with one value."""
        return {"value": [self.value], "threshold": [self.threshold]}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LiftTable(Result[dict[str, float]]):
    """Rows in bins of equal size, from the highest score to the lowest; printed, a line per bin.

    Rows with equal scores at the border of two bins are divided in proportion, so their order does not matter.

    Parameters
    ----------
    rows : float64 array of shape (n_bins,)
        Number of rows of each bin, or their weight.
    predicted : float64 array of shape (n_bins,)
        Mean score.
    positives : float64 array of shape (n_bins,)
        Number of rows of the class, or their weight.

    Examples
    --------
    >>> table = lift_table([True, True, False, False], [0.9, 0.6, 0.6, 0.1], n_bins=2)
    >>> table
    rows  predicted  positives  rate  lift  captured  cumulative_lift
       2       0.75        1.5  0.75   1.5      0.75              1.5
       2       0.35        0.5  0.25   0.5         1                1
    >>> table.lift.tolist()
    [1.5, 0.5]
    """

    _COLUMNS: ClassVar = ("rows", "predicted", "positives", "rate", "lift", "captured", "cumulative_lift")

    rows: Floats
    predicted: Floats
    positives: Floats

    @property
    def rate(self) -> Floats:
        """Share of the class in each bin."""
        return self.positives / self.rows

    @property
    def lift(self) -> Floats:
        """Share of the class in each bin, divided by its share in all rows."""
        return self.rate / (self.positives.sum() / self.rows.sum())

    @property
    def captured(self) -> Floats:
        """Share of the rows of the class that are in this bin or an earlier one."""
        return np.cumsum(self.positives) / self.positives.sum()

    @property
    def cumulative_lift(self) -> Floats:
        """Lift of this bin and all earlier ones together."""
        return self.captured / (np.cumsum(self.rows) / self.rows.sum())


def roc_curve(
    y_true: Any, y_score: Any, *, positive: Label | None = None, sample_weight: Any = None
) -> RocCurve:
    """Compute the true and false positive rates at every threshold; parameters as in `gini_coefficient`."""
    y_true, score, weight = _both_sides(y_true, y_score, positive, sample_weight)
    values, group = np.unique(-score, return_inverse=True)
    positives, negatives = np.bincount(group, weight * y_true), np.bincount(group, weight * ~y_true)
    false_rate, true_rate = (
        np.concatenate([[0.0], np.cumsum(part) / part.sum()]) for part in (negatives, positives)
    )
    return RocCurve(false_rate, true_rate, np.concatenate([[np.inf], -values]))


def gini_coefficient(
    y_true: Any, y_score: Any, *, positive: Label | None = None, sample_weight: Any = None
) -> float:
    """Compute the Gini coefficient of a score: twice the area under the ROC curve, minus 1 (Somers' D).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The true classes; without `positive`, whether each row has the class of interest.
    y_score : array-like of float of shape (n_rows,)
        Probability of the class of interest, or any other score. A higher score must mean the class.
    positive : label, optional
        The class of interest.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row.

    Returns
    -------
    float

    Examples
    --------
    >>> gini_coefficient(["paid", "bad", "paid", "bad"], [0.1, 0.4, 0.4, 0.8], positive="bad")
    0.75
    """
    y_true, score, weight = _both_sides(y_true, y_score, positive, sample_weight)
    return 2.0 * area_under_curve(y_true, score, weight)[0] - 1.0


def ks_statistic(
    y_true: Any, y_score: Any, *, positive: Label | None = None, sample_weight: Any = None
) -> KSStatistic:
    """Find the largest difference of true and false positive rate over all thresholds.

    Parameters
    ----------
    y_true, y_score, positive, sample_weight
        As in `gini_coefficient`.

    Returns
    -------
    KSStatistic

    Examples
    --------
    >>> ks_statistic(["paid", "bad", "paid", "bad"], [0.1, 0.4, 0.4, 0.8], positive="bad")
    value  threshold
      0.5        0.8
    """
    curve = roc_curve(y_true, y_score, positive=positive, sample_weight=sample_weight)
    distance = curve.true_positive_rate - curve.false_positive_rate
    best = int(distance.argmax())
    return KSStatistic(float(distance[best]), float(curve.threshold[best]))._from_rows(y_true, y_score)


def lift_table(
    y_true: Any, y_score: Any, *, positive: Label | None = None, n_bins: int = 10, sample_weight: Any = None
) -> LiftTable:
    """Divide rows into bins of equal size by their score, highest first, and count the class in each.

    Parameters
    ----------
    y_true, y_score, positive
        As in `gini_coefficient`.
    n_bins : int, default 10
        Number of bins; 10 for a decile table.
    sample_weight
        As in `gini_coefficient`.

    Returns
    -------
    LiftTable

    Examples
    --------
    >>> lift_table(["bad", "paid", "paid", "paid"], [0.9, 0.3, 0.2, 0.1], positive="bad", n_bins=2).lift.tolist()
    [2.0, 0.0]
    """
    observed, score, weight = _both_sides(y_true, y_score, positive, sample_weight)
    check_whole("n_bins", n_bins, 1)
    _, group = np.unique(-score, return_inverse=True)
    rows = np.concatenate([[0.0], np.cumsum(np.bincount(group, weight))])
    ends = np.linspace(0.0, rows[-1], n_bins + 1)
    sums = (np.cumsum(np.bincount(group, weight * part)) for part in (score, observed))
    predicted, positives = (np.diff(np.interp(ends, rows, np.concatenate([[0.0], total]))) for total in sums)
    counts = np.diff(ends)
    return LiftTable(counts, predicted / counts, positives)._from_rows(y_true, y_score)


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


def _both_sides(
    y_true: Any, y_score: Any, positive: Label | None, sample_weight: Any
) -> tuple[Bools, Floats, Floats]:
    """Return outcomes, scores and weights of the rows that have a weight; refuse outcomes of one kind only."""
    y_true, score = read_outcomes(y_true, y_score, positive)
    weight = np.ones(len(score))
    if sample_weight is not None:
        weight = read_sample_weight(sample_weight, len(score))
        y_true, score, weight = (part[weight > 0] for part in (y_true, score, weight))
    if not y_true.any() or y_true.all():
        found = "rows of the class alone" if y_true.any() else "no row of the class"
        raise DataError(f"{found}; expected rows of the class and other rows.")
    return y_true, score, weight


def read_outcomes(y_true: Any, y_score: Any, positive: Label | None = None) -> tuple[Bools, Floats]:
    """Return whether each row has the class of interest, and the scores.

    `DataError` for labels without `positive`, unless they are true and false, or 1 and 0.
    """
    with as_data_error("outcomes and scores"):
        y_true, score = np.asarray(y_true), np.asarray(y_score, float)
    if y_true.shape != score.shape or score.ndim != 1:
        raise DataError(
            f"y_true of shape {y_true.shape} beside y_score of shape {score.shape}; expected one of each per row. "
            "Pass the probabilities of one class: predict_proba(X)[:, 1], for example."
        )
    if np.isnan(score).any():
        raise DataError("y_score has NaN; expected a number for each row.")
    if positive is not None:
        found = np.asarray(y_true == positive)
        if found.shape != y_true.shape or not found.any():
            raise ParameterError(
                f"positive={shown(positive)}: no row of y_true has this class; expected one of {_some(y_true)}."
            )
        return found, score
    if not np.isin(y_true, (0, 1)).all():
        raise DataError(
            f"y_true has the labels {_some(y_true)}; expected true and false, or the class of interest: pass "
            "positive=, one of these labels."
        )
    return y_true.astype(bool), score


def _some(labels: NDArray[Any]) -> str:
    """List the first labels."""
    known = list(dict.fromkeys(labels[:1000].tolist()))
    return ", ".join(map(repr, known[:5])) + ", …" * (len(known) > 5)
