"""Sections on test rows in regression: errors, and predicted against observed means."""

from __future__ import annotations

from math import nan

import numpy as np

from hornbeam.evaluation import ReliabilityCurve
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.pictures import reliability
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.scores import LEVEL, Score, half_width, mean
from hornbeam.reporting.sections.tree import ABSENT, section
from hornbeam.typing import Counts, Floats

__all__ = [
    "NOTE",
    "calibration_curve",
    "error_scores",
    "regression_calibration_section",
    "regression_headline",
    "round_scale",
]

NOTE = (
    "The column Mean is a model that always predicts the mean of the training rows. In brackets are "
    f"{100 * LEVEL:g} % intervals, of roots and ratios by the delta method. They hold for this tree and for rows like "
    "these. The report cannot check that the test rows were not used for training."
)
_GROUPS = 10


def regression_headline(scored: ScoredRows, mean: float) -> list[Score]:
    """Score the tree, and the mean of the training rows, on the test rows.

    Parameters
    ----------
    scored : ScoredRows
    mean : float
        Of the training rows.

    Returns
    -------
    list of Score
        Root mean squared error, mean absolute error, and the share of the squared error that the tree explains.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> from hornbeam.reporting.reported_model import ReportedModel
    >>> reported = ReportedModel.of(TreeRegressor("cart").fit([[0], [1]], [0.0, 4.0]))
    >>> scored = ScoredRows.of(reported, [[0], [0], [1], [1]], [1.0, -1.0, 3.0, 5.0])
    >>> for score in regression_headline(scored, 2.0):
    ...     print(f"{score.name}: {score.value:.3f}, {score.base:.3f}")
    root mean squared error: 1.000, 2.236
    mean absolute error: 1.000, 2.000
    R²: 0.800, 0.000
    """
    target: Floats = scored.target.astype(np.float64)
    own, base = target - scored.predicted[:, 0], target - mean
    return [*error_scores(own, base, scored.count), _explained(own**2, base**2, scored.count)]


def error_scores(own: Floats, base: Floats, count: Counts | None = None) -> list[Score]:
    """Score the errors of a model beside those of another on the same rows; `count` is how many an entry stands for.

    Examples
    --------
    >>> root, absolute = error_scores(np.array([1.0, -1.0]), np.array([2.0, -2.0]))
    >>> root.value, root.base, absolute.gain
    (1.0, 2.0, 1.0)
    """
    return [_root(own**2, base**2, count), _absolute(np.abs(own), np.abs(base), count)]


def _root(own: Floats, base: Floats, count: Counts | None) -> Score:
    value, flat = float(np.sqrt(mean(own, count))), float(np.sqrt(mean(base, count)))
    half = half_width(own, count)
    low, high = (float(np.sqrt(max(mean(own, count) + sign * half, 0.0))) for sign in (-1, 1))
    # The derivative of a square root: half of the change, divided by the root.
    tiny = np.finfo(float).tiny
    around = half_width(base / max(2 * flat, tiny) - own / max(2 * value, tiny), count)
    bounds = (flat - value, flat - value - around, flat - value + around)
    meaning = "typical error, large errors count most; in the units of the target; lower is better"
    return Score("root mean squared error", meaning, value, low, high, flat, *bounds, in_units=True)


def _absolute(own: Floats, base: Floats, count: Counts | None) -> Score:
    value, half, gain = mean(own, count), half_width(own, count), base - own
    better, around = mean(gain, count), half_width(gain, count)
    meaning = "mean size of the error; in the units of the target; lower is better"
    bounds = (better, better - around, better + around)
    return Score(
        "mean absolute error",
        meaning,
        value,
        value - half,
        value + half,
        mean(base, count),
        *bounds,
        in_units=True,
    )


def _explained(own: Floats, base: Floats, count: Counts) -> Score:
    flat = mean(base, count)
    meaning = "share of the variance that the tree explains; higher is better"
    if flat == 0:
        return Score("R²", meaning, *(nan, nan, nan, nan, nan, nan, nan))
    left = mean(own, count) / flat
    value, half = 1 - left, half_width((own - left * base) / flat, count)
    return Score("R²", meaning, value, value - half, value + half, 0.0, value, value - half, value + half)


def calibration_curve(scored: ScoredRows) -> ReliabilityCurve:
    """Compare predicted with observed means in groups of about equal size, with intervals.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> from hornbeam.reporting.reported_model import ReportedModel
    >>> reported = ReportedModel.of(TreeRegressor("cart").fit([[0], [1]], [0.0, 4.0]))
    >>> curve = calibration_curve(ScoredRows.of(reported, [[0], [0], [1], [1]], [1.0, -1.0, 3.0, 7.0]))
    >>> curve.predicted.tolist(), curve.observed.tolist(), curve.weight.tolist()
    ([0.0, 4.0], [0.0, 5.0], [2.0, 2.0])
    """
    predicted, target, count = scored.predicted[:, 0], scored.target, scored.count
    points, place = np.unique(predicted, return_inverse=True)
    if len(points) > _GROUPS:  # equal predictions stay together
        place = np.searchsorted(_tenths(points, np.bincount(place, count)), predicted)
    groups = [place == group for group in np.unique(place)]
    widest = float(np.ptp(target)) or 1.0
    half = np.array([min(half_width(target[group], count[group]), widest) for group in groups])
    middle, means = (
        np.array([mean(values[group], count[group]) for group in groups]) for values in (target, predicted)
    )
    rows = np.array([count[group].sum() for group in groups], float)
    return ReliabilityCurve(means, middle, middle - half, middle + half, rows)


def _tenths(points: Floats, count: Floats) -> Floats:
    """Return the inner tenths of rows with some ordered values, as `numpy.quantile` does."""
    ends = np.cumsum(count)
    place = (ends[-1] - 1) * np.arange(1, _GROUPS) / _GROUPS
    low, high = (points[np.searchsorted(ends, at, side="right")] for at in (np.floor(place), np.ceil(place)))
    tenths: Floats = low + (high - low) * (place - np.floor(place))
    return tenths


def round_scale(low: float, high: float) -> tuple[float, float]:
    """Choose the ends of an axis with five round ticks that covers some numbers.

    Examples
    --------
    >>> round_scale(68.7, 265.1), round_scale(-0.03, 0.05), round_scale(3.0, 3.0)
    ((0.0, 300.0), (-0.05, 0.05), (2.0, 4.0))
    """
    largest = max(abs(low), abs(high))
    if high - low <= 1e-9 * largest:  # too little for ticks that differ
        low, high = low - max(1.0, 1e-9 * largest), high + max(1.0, 1e-9 * largest)
    power = 10.0 ** np.floor(np.log10((high - low) / 4))
    steps = [power * times for times in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 20)]
    step = next(step for step in steps if np.floor(low / step) * step + 4 * step >= high)
    begin = float(np.floor(low / step) * step)
    return begin, begin + 4 * float(step)


def regression_calibration_section(scored: ScoredRows | None) -> Markup:
    """Predicted against observed means, and the drift of rows between leaves."""
    title = "Predicted and seen"
    if scored is None:
        return section("calibration", title, element("p", ABSENT, class_="absent"))
    curve = calibration_curve(scored)
    ends = np.concatenate([curve.predicted, curve.lower, curve.upper])
    scale = round_scale(float(ends.min()), float(ends.max()))
    picture = reliability(curve, title, scale, ("predicted mean", "mean of the rows seen"))
    text = (
        "Test rows are grouped by the predicted mean. On the dotted line, the mean of the rows equals the prediction. "
        "The band is a 95 % interval of the mean: for an exact tree about one point in twenty lies off the line by "
        "chance. The bars below count the rows of each group."
    )
    chance = f"{scored.drift.psi_p_value:.2f}" if scored.drift.psi_p_value >= 0.01 else "less than 0.01"
    moved = (
        "The population stability index compares how the test rows and the training rows spread over the leaves. It is "
        f"{scored.drift.stability_index:.3f}; by chance alone it would be as large with probability {chance}."
    )
    beside = element("div", element("p", moved), class_="note")
    figure = element("figure", picture, element("figcaption", "Means of groups of test rows"))
    return section(
        "calibration", title, element("p", text), element("div", figure, beside, class_="figures one")
    )
