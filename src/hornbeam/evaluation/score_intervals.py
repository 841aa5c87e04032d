"""Scores of test rows with intervals, beside those of the base rate or of another model on the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from hornbeam.data.fixed_point import unit_scaled
from hornbeam.evaluation.calibration import ReliabilityCurve, wilson
from hornbeam.evaluation.discrimination import area_under_curve, ks_statistic, mean_area
from hornbeam.evaluation.scores import losses
from hornbeam.tree.decision import Costs
from hornbeam.tree.words import mean_text
from hornbeam.typing import Bools, Counts, Floats

LEVEL = 0.9  # level of the intervals
_GROUPS = 10  # of a curve of means
_MEANING = {
    "log loss": "minus the logarithm of the probability of the true class; lower is better",
    "Brier score": "squared error of the probabilities, summed over the classes: 0 to 2; lower is better",
    "accuracy": "share of rows for which the decision is right; higher is better",
    "cost per row": "mean cost of the decisions; lower is better",
    "Gini": "twice the area under the curve, minus 1; higher is better",
    "KS": "largest true minus false positive rate; higher is better",
    "root mean squared error": "typical error, large errors count most; in the units of the target; lower is better",
    "mean absolute error": "mean size of the error; in the units of the target; lower is better",
    "R²": "share of the variance that the tree explains; higher is better",
}


class PredictedEntries(Protocol):
    """Distinct rows with targets and predictions, and how many rows each stands for."""

    @property
    def target(self) -> NDArray[Any]:
        """The class code that was observed, or the number."""

    @property
    def predicted(self) -> Floats:
        """Probabilities of the classes, or means, a row for each entry."""

    @property
    def decided(self) -> NDArray[np.intp]:
        """The class codes that the model decides for."""

    @property
    def count(self) -> Counts:
        """How many rows each entry stands for."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score of the tree and of the base rate or another model.

    `base` is the score of the other model. `gain` is by how much the tree is better, row by row; below 0 where it is
    worse. `in_units`: the score is in the units of a numeric target.
    """

    name: str
    meaning: str
    value: float
    low: float
    high: float
    base: float
    gain: float
    gain_low: float
    gain_high: float
    in_units: bool = False

    def words(self, value: float) -> str:
        """Format a value of this score: three decimals, or four digits in units of the target."""
        predicted = mean_text(value, 2) if self.in_units else f"{value:.3f}"
        return predicted.replace("-", "−")

    def with_interval(self, value: float, low: float, high: float) -> str:
        """Format a value of this score with its interval, if that is finite."""
        return (
            f"{self.words(value)} ({self.words(low)} to {self.words(high)})"
            if high < inf
            else self.words(value)
        )

    @property
    def title(self) -> str:
        """The name, with a capital letter."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def convincing(self) -> bool:
        """Whether the whole interval of the gain is above 0."""
        return self.gain_low > 0


def class_scores(
    rows: PredictedEntries, base: Floats, costs: Costs | None = None, positive: int | None = None
) -> list[Score]:
    """Score probabilities and decisions beside those of the base rate, the class rates of the training rows.

    `costs` are what mistakes cost, if the model decides by costs: the cost per row comes first, beside that of the
    constant decision that is cheapest for the base rate. `positive` is the class of interest, for Gini and KS.

    Intervals are normal ones of means over rows, gains row by row (paired); accuracy has Wilson's, the area
    under the curve that of DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988). That of KS takes its threshold
    as given. All take the tree as it is: another training sample would have made another.
    """
    flat = np.broadcast_to(base, rows.predicted.shape)
    commonest = np.full(len(rows.target), base.argmax())
    own, others = losses(rows.predicted, rows.decided, rows.target), losses(flat, commonest, rows.target)
    scores = [paired(name, own[name], others[name], rows.count) for name in own]
    scores.append(area_score(rows.target, rows.predicted, count=rows.count))
    if positive is not None:
        scores += _separation(rows.target == positive, rows.predicted[:, positive], rows.count)
    if costs is None:
        return scores
    always = int(costs.cheapest(base[None])[0])
    paid, least = costs.matrix[rows.target, rows.decided], costs.matrix[rows.target, always]
    return [paired("cost per row", paid, least, rows.count), *scores]


def regression_scores(rows: PredictedEntries, base: float) -> list[Score]:
    """Score means beside the mean of the training rows: root mean squared error, mean absolute error and R².

    Intervals of the root and of R² are those of the delta method.
    """
    target: Floats = rows.target.astype(np.float64)
    own, flat = target - rows.predicted[:, 0], target - base
    return [*error_scores(own, flat, rows.count), _explained(own**2, flat**2, rows.count)]


def error_scores(own: Floats, base: Floats, count: Counts | None = None) -> list[Score]:
    """Score the errors of a model beside those of another on the same rows; `count` is how many an entry stands for."""
    return [
        _root(own**2, base**2, count),
        paired("mean absolute error", np.abs(own), np.abs(base), count, in_units=True),
    ]


def paired(
    name: str, own: Floats, base: Floats, count: Counts | None = None, *, in_units: bool = False
) -> Score:
    """Compare the means of two sets of scores of the same rows; `count` is how many rows an entry stands for."""
    value, half = mean(own, count), half_width(own, count)
    low, high, gain = value - half, value + half, base - own
    if name == "accuracy":
        n_rows = len(own) if count is None else int(count.sum())
        low, high = map(float, wilson(value, n_rows, LEVEL))
        gain = own - base
    gains = _interval(mean(gain, count), half_width(gain, count))
    return Score(name, _MEANING[name], value, low, high, mean(base, count), *gains, in_units=in_units)


def mean(values: Floats | Bools, count: Counts | None = None) -> float:
    """Return the mean over rows; `count` is how many rows an entry stands for."""
    return float(np.average(values, weights=count))


def half_width(values: Floats, count: Counts | None = None) -> float:
    """Return half the width of the interval of a mean; `count` is how many rows an entry stands for."""
    n_rows = len(values) if count is None else int(count.sum())
    if n_rows < 2:
        return inf
    deviation, scale = unit_scaled(values - mean(values, count))
    variance = mean(deviation**2, count) * n_rows / (n_rows - 1)
    return float(_quantile() * np.sqrt(variance / n_rows) * scale)


def _quantile() -> float:
    return float(norm.isf((1 - LEVEL) / 2))


def _interval(
    value: float, half: float, least: float = -inf, most: float = inf
) -> tuple[float, float, float]:
    return value, max(value - half, least), min(value + half, most)


def _root(own: Floats, base: Floats, count: Counts | None) -> Score:
    """Compare the roots of the means of squares."""
    middle, half = mean(own, count), half_width(own, count)
    value, flat = sqrt(middle), sqrt(mean(base, count))
    low, high = (sqrt(max(middle + sign * half, 0.0)) for sign in (-1, 1))
    # The derivative of a square root: half of the change, divided by the root.
    tiny = np.finfo(float).tiny
    around = half_width(base / max(2 * flat, tiny) - own / max(2 * value, tiny), count)
    name = "root mean squared error"
    return Score(
        name, _MEANING[name], value, low, high, flat, *_interval(flat - value, around), in_units=True
    )


def _explained(own: Floats, base: Floats, count: Counts) -> Score:
    """Compute R² from squared errors."""
    flat, interval = mean(base, count), (nan, nan, nan)
    if flat:
        left = mean(own, count) / flat
        interval = _interval(1 - left, half_width((own - left * base) / flat, count))
    return Score("R²", _MEANING["R²"], *interval, 0.0 if flat else nan, *interval)


def area_score(
    target: NDArray[Any], predicted: Floats, other: Floats | None = None, count: Counts | None = None
) -> Score:
    """Score the area under the ROC curve; for many classes the mean of one against the rest.

    `other` are the probabilities of another model to compare with; default: one that cannot tell rows apart.
    """
    weight = None if count is None else count.astype(np.float64)
    area, influence = mean_area(target, predicted, weight)
    base, of_base = (0.5, np.zeros(len(predicted))) if other is None else mean_area(target, other, weight)
    half, around = (_area_half_width(part, weight) for part in (influence, influence - of_base))
    many = "" if predicted.shape[1] == 2 else ", each class against the rest"
    meaning = f"share of pairs of rows that are ranked right{many}; higher is better"
    own, gain = _interval(area, half, 0.0, 1.0), _interval(area - base, around)
    return Score("area under the curve", meaning, *own, base, *gain)


def _area_half_width(influence: Floats, weight: Floats | None) -> float:
    """Return half the width of the interval of an area; the influence of an entry is that of all its rows together."""
    squares = influence**2 if weight is None else influence**2 / weight
    return float(_quantile() * np.sqrt(squares.sum()) / len(influence))


def _separation(observed: Bools, predicted: Floats, count: Counts) -> Iterator[Score]:
    """Yield Gini and KS of one class; nothing if all rows have it, or none."""
    if observed.all() or not observed.any():
        return
    weight = count.astype(np.float64)
    area, influence = area_under_curve(observed, predicted, weight)
    ks = ks_statistic(observed, predicted, sample_weight=count)
    above = predicted >= ks.threshold
    rates = [(mean(above[kind], count[kind]), int(count[kind].sum())) for kind in (observed, ~observed)]
    around = _quantile() * sqrt(sum(rate * (1 - rate) / n for rate, n in rates))
    for name, value, half in (
        ("Gini", 2 * area - 1, 2 * _area_half_width(influence, weight)),
        ("KS", ks.value, around),
    ):
        interval = _interval(value, half, -1.0, 1.0)
        yield Score(name, _MEANING[name], *interval, 0.0, *interval)


def mean_curve(rows: PredictedEntries) -> ReliabilityCurve:
    """Compare predicted with observed means in groups of about equal size, with intervals."""
    predicted, target, count = rows.predicted[:, 0], rows.target, rows.count
    points, place = np.unique(predicted, return_inverse=True)
    if len(points) > _GROUPS:  # equal predictions stay together
        place = np.searchsorted(_tenths(points, np.bincount(place, count)), predicted)
    groups = [place == group for group in np.unique(place)]
    widest = float(np.ptp(target)) or 1.0
    half = np.array([min(half_width(target[group], count[group]), widest) for group in groups])
    middle, means = (
        np.array([mean(values[group], count[group]) for group in groups]) for values in (target, predicted)
    )
    n_rows = np.array([count[group].sum() for group in groups], float)
    return ReliabilityCurve(means, middle, middle - half, middle + half, n_rows)


def _tenths(points: Floats, count: Floats) -> Floats:
    """Return the inner tenths of rows with some ordered values, as `numpy.quantile` does."""
    ends = np.cumsum(count)
    place = (ends[-1] - 1) * np.arange(1, _GROUPS) / _GROUPS
    low, high = (points[np.searchsorted(ends, at, side="right")] for at in (np.floor(place), np.ceil(place)))
    tenths: Floats = low + (high - low) * (place - np.floor(place))
    return tenths
