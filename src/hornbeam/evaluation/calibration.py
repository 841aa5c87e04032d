"""The reliability curve: predicted probabilities against observed frequencies."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.evaluation.discrimination import read_outcomes
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityCurve:
    """Bins of rows, ordered by predicted probability.

    Parameters
    ----------
    predicted : float64 array
        Mean predicted probability of each bin.
    observed : float64 array
        Share of its rows that have the class.
    lower, upper : float64 arrays
        Confidence interval of that share.
    weight : float64 array
        Number of rows of each bin, or their weight.

    Examples
    --------
    >>> curve = reliability_curve([False, True, True], [0.1, 0.9, 0.9], n_bins=2)
    >>> curve.predicted.tolist(), curve.observed.tolist(), curve.weight.tolist()
    ([0.1, 0.9], [0.0, 1.0], [1.0, 2.0])
    """

    predicted: Floats
    observed: Floats
    lower: Floats
    upper: Floats
    weight: Floats


def reliability_curve(
    y_true: Any,
    predicted: Any,
    *,
    n_bins: int = 10,
    level: float = 0.95,
    interval: Literal["wilson", "exact"] = "wilson",
    sample_weight: Any = None,
    n_rows: Any = None,
) -> ReliabilityCurve:
    """Compare the predicted probability of one class with its frequency, in bins of equal weight.

    Parameters
    ----------
    y_true : array-like of bool of shape (n_rows,)
        Whether each row has the class.
    predicted : array-like of float of shape (n_rows,)
        Probability of the class.
    n_bins : int, default 10
        Maximum number of bins. Rows with the same prediction, such as those of a leaf, share a bin.
    level : float, default 0.95
        Confidence level of the intervals.
    interval : {"wilson", "exact"}, default "wilson"
        Wilson's score interval, or the wider one of Clopper and Pearson.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row. The interval is then that of Kish's effective number of rows, ``(sum w)² / sum w²``.
    n_rows : array-like of shape (n_rows,), optional
        Number of equal rows that each entry stands for; its weight is their total weight.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 1, 0, 1, 1, 1, 1], [0.2] * 4 + [0.8] * 4)
    >>> curve.observed.tolist(), curve.lower.round(3).tolist(), curve.upper.round(3).tolist()
    ([0.25, 1.0], [0.046, 0.51], [0.699, 1.0])
    """
    y_true, p = read_outcomes(y_true, predicted)
    if not len(p):
        raise DataError("there are no rows; expected at least one.")
    if n_bins < 1 or not 0 < level < 1:
        raise ParameterError(f"n_bins={n_bins}, level={level}: expected at least one bin, and 0 < level < 1.")
    if interval not in _INTERVALS:
        raise ParameterError(f"interval={shown(interval)}: expected 'wilson' or 'exact'.")
    rows = np.ones(len(p)) if n_rows is None else np.asarray(n_rows, float)
    weight = rows if sample_weight is None else read_sample_weight(sample_weight, len(p))
    bin_of_row = _equal_mass(p, weight, n_bins)

    def add(values: Floats) -> Floats:
        return np.bincount(bin_of_row, values)

    total = add(weight)
    observed = add(weight * y_true) / total
    effective = total**2 / add(weight**2 / rows)
    lower, upper = _INTERVALS[interval](observed, effective, level)
    return ReliabilityCurve(add(weight * p) / total, observed, lower, upper, total)


def _equal_mass(p: Floats, weight: Floats, n_bins: int) -> Any:
    """Return the bin of each row; bins are numbered without gaps, and equal predictions share one."""
    values, group = np.unique(p, return_inverse=True)
    mass = np.bincount(group, weight)
    middle = np.cumsum(mass) - mass / 2
    place = np.minimum((middle * n_bins / mass.sum()).astype(np.intp), n_bins - 1)
    return np.unique(place, return_inverse=True)[1][group] if len(values) else group


def wilson(share: Floats | float, n: Floats | float, level: float) -> tuple[Floats, Floats]:
    """Return the bounds of Wilson's score interval of a share of ``n`` rows."""
    z = norm.isf((1 - level) / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _clopper_pearson(share: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    k, tail = share * n, (1 - level) / 2
    with np.errstate(invalid="ignore"):
        lower = np.where(k > 0, betaincinv(k, n - k + 1, tail), 0.0)
        upper = np.where(k < n, betaincinv(k + 1, n - k, 1 - tail), 1.0)
    return lower, upper


_INTERVALS = {"wilson": wilson, "exact": _clopper_pearson}
