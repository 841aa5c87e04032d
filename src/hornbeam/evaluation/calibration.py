"""The reliability curve: predicted probabilities against observed frequencies."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

from hornbeam.checks import check_choice, check_share, check_whole
from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError
from hornbeam.evaluation.discrimination import read_outcomes
from hornbeam.grid import Result
from hornbeam.typing import Bools, Floats, Label


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReliabilityCurve(Result[dict[str, float]]):
    """Bins of rows, ordered by predicted probability; printed, a line per bin.

    Parameters
    ----------
    predicted : float64 array
        Mean predicted probability of each bin.
    observed : float64 array
        Share of its rows that have the class.
    low, high : float64 arrays
        Confidence interval of that share.
    weight : float64 array
        Number of rows of each bin, or their weight.

    Examples
    --------
    >>> curve = reliability_curve([False, True, True], [0.1, 0.9, 0.9], n_bins=2)
    >>> curve
    predicted  observed    low    high  weight
          0.1         0      0  0.7301       1
          0.9         1  0.425       1       2
    >>> curve.observed.tolist()
    [0.0, 1.0]
    """

    _COLUMNS: ClassVar = ("predicted", "observed", "low", "high", "weight")

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    weight: Floats


def reliability_curve(
    y_true: Any,
    y_score: Any,
    *,
    positive: Label | None = None,
    n_bins: int = 10,
    level: float = 0.9,
    interval: Literal["wilson", "exact"] = "wilson",
    sample_weight: Any = None,
) -> ReliabilityCurve:
    """Compare the predicted probability of one class with its frequency, in bins of equal weight.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The true classes; without `positive`, whether each row has the class of interest.
    y_score : array-like of float of shape (n_rows,)
        Probability of the class of interest.
    positive : label, optional
        The class of interest.
    n_bins : int, default 10
        Maximum number of bins. Rows with the same prediction, such as those of a leaf, share a bin.
    level : float, default 0.9
        Level of the intervals.
    interval : {"wilson", "exact"}, default "wilson"
        Wilson's score interval, or the wider one of Clopper and Pearson.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row. The interval is then that of Kish's effective number of rows, ``(sum w)² / sum w²``.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> y = ["paid", "paid", "bad", "paid", "bad", "bad", "bad", "bad"]
    >>> curve = reliability_curve(y, [0.2] * 4 + [0.8] * 4, positive="bad")
    >>> curve.observed.tolist(), curve.low.round(3).tolist(), curve.high.round(3).tolist()
    ([0.25, 1.0], [0.058, 0.597], [0.644, 1.0])
    """
    given = y_true, y_score
    y_true, p = read_outcomes(y_true, y_score, positive)
    weight = None
    if sample_weight is not None:
        weight = read_sample_weight(sample_weight, len(p))
        y_true, p, weight = (part[weight > 0] for part in (y_true, p, weight))
    curve = curve_of_entries(y_true, p, weight, n_bins=n_bins, level=level, interval=interval)
    return curve._from_rows(*given)


def curve_of_entries(
    observed: Bools,
    p: Floats,
    weight: Floats | None = None,
    squares: Floats | None = None,
    *,
    n_bins: int = 10,
    level: float = 0.9,
    interval: Literal["wilson", "exact"] = "wilson",
) -> ReliabilityCurve:
    """Compute the curve of entries that stand for rows, with their weight and the sum of their squared weights."""
    if not len(p):
        raise DataError("there are no rows; expected at least one.")
    check_whole("n_bins", n_bins, 1)
    check_share("level", level)
    check_choice("interval", interval, _INTERVALS)
    weight = np.ones(len(p)) if weight is None else weight
    squares = weight**2 if squares is None else squares
    bin_of_row = _equal_mass(p, weight, n_bins)

    def add(values: Floats) -> Floats:
        return np.bincount(bin_of_row, values)

    total = add(weight)
    share = add(weight * observed) / total
    effective = total**2 / add(squares)
    low, high = _INTERVALS[interval](share, effective, level)
    return ReliabilityCurve(add(weight * p) / total, share, low, high, total)


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
        low = np.where(k > 0, betaincinv(k, n - k + 1, tail), 0.0)
        high = np.where(k < n, betaincinv(k + 1, n - k, 1 - tail), 1.0)
    return low, high


_INTERVALS = {"wilson": wilson, "exact": _clopper_pearson}
