"""Scores on the test rows with intervals, beside the base rate or another model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from hornbeam.data.fixed_point import unit_scaled
from hornbeam.evaluation import ks_statistic
from hornbeam.evaluation.calibration import wilson
from hornbeam.evaluation.row_scores import area_under_curve, losses, mean_area
from hornbeam.export.prediction_text import mean_text
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.tree.decision.costs import Costs
from hornbeam.typing import Bools, Counts, Floats

__all__ = [
    "LEVEL",
    "Score",
    "area_score",
    "half_width",
    "headline",
    "mean",
    "paired",
]

LEVEL = 0.95  # level of the intervals


@dataclass(frozen=True, slots=True)
class Score:
    """A score of the tree and of the base rate or another model.

    Parameters
    ----------
    name, meaning : str
        What it is called, and what it says, in a few words.
    value, low, high : float
        Of the tree, with the bounds of its interval.
    base : float
        Of the base rate.
    gain, gain_low, gain_high : float
        By how much the tree is better, row by row against the base rate; below 0 where it is worse.
    in_units : bool, default False
        Whether it is in the units of a numeric target.

    Examples
    --------
    >>> Score("accuracy", "rows named right", 0.8, 0.7, 0.9, 0.5, 0.3, 0.2, 0.4).convincing
    True
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

    @property
    def convincing(self) -> bool:
        """Whether the whole interval of the gain is above 0."""
        return self.gain_low > 0


def headline(
    scored: ScoredRows, base: Floats, costs: Costs | None = None, positive: int | None = None
) -> list[Score]:
    """Score the tree and the base rate on the test rows.

    Parameters
    ----------
    scored : ScoredRows
    base : float64 array of shape (n_classes,)
        The class rates of the training rows.
    costs : Costs, optional
        What mistakes cost, if the model decides by costs.
    positive : int, optional
        Code of the class of interest, for Gini and KS.

    Returns
    -------
    list of Score
        Log loss, Brier score on scikit-learn's scale, accuracy of the decisions, area under the curve; Gini and KS of
        the class of interest; cost of the decisions.

    Notes
    -----
    Intervals are normal ones of means over rows, gains row by row (paired); accuracy has Wilson's, the area
    under the curve that of DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988). That of KS takes its threshold
    as given. All take the tree as it is: another training sample would have made another.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.reporting.reported_model import ReportedModel
    >>> reported = ReportedModel.of(TreeClassifier(smoothing="laplace").fit([[0]] * 8 + [[1]] * 8, [0] * 8 + [1] * 8))
    >>> scored = ScoredRows.of(reported, [[0], [0], [1], [1]] * 5, [0, 0, 0, 1] * 5)
    >>> for score in headline(scored, np.array([0.5, 0.5]), positive=1):
    ...     print(f"{score.name}: {score.value:.3f} ({score.low:.3f} to {score.high:.3f}), {score.base:.3f}")
    log loss: 0.655 (0.227 to 1.082), 0.693
    Brier score: 0.210 (0.054 to 0.366), 0.250
    accuracy: 0.750 (0.531 to 0.888), 0.750
    area under the curve: 0.833 (0.714 to 0.953), 0.500
    Gini: 0.667 (0.428 to 0.905), 0.000
    KS: 0.667 (0.428 to 0.905), 0.000
    """
    flat = np.broadcast_to(base, scored.predicted.shape)
    commonest = np.full(len(scored.target), base.argmax())
    own, others = (
        losses(scored.predicted, scored.decided, scored.target),
        losses(flat, commonest, scored.target),
    )
    scores = [paired(name, own[name], others[name], scored.count) for name in own]
    scores.append(area_score(scored.target, scored.predicted, count=scored.count))
    if positive is not None:
        scores += _separation(scored.observed(positive), scored.predicted[:, positive], scored.count)
    if costs is None:
        return scores
    always = int(costs.cheapest(base[None])[0])
    paid, least = costs.matrix[scored.target, scored.decided], costs.matrix[scored.target, always]
    return [*scores, paired("cost per row", paid, least, scored.count)]


_MEANING = {
    "log loss": "minus the logarithm of the probability of the true class; lower is better",
    "Brier score": "squared error of the probabilities; lower is better",
    "accuracy": "share of rows for which the decision is right; higher is better",
    "cost per row": "mean cost of the decisions; lower is better",
}


def paired(name: str, own: Floats, base: Floats, count: Counts | None = None) -> Score:
    """Compare the means of two sets of scores of the same rows; `count` is how many rows an entry stands for.

    Examples
    --------
    >>> score = paired("log loss", np.array([0.5, 0.7]), np.array([1.0, 1.2]))
    >>> round(score.value, 2), round(score.base, 2), round(score.gain, 2)
    (0.6, 1.1, 0.5)
    """
    value, half = mean(own, count), half_width(own, count)
    n_rows = len(own) if count is None else int(count.sum())
    low, high = (
        map(float, wilson(value, n_rows, LEVEL)) if name == "accuracy" else (value - half, value + half)
    )
    gain = own - base if name == "accuracy" else base - own
    better, around = mean(gain, count), half_width(gain, count)
    return Score(
        name, _MEANING[name], value, low, high, mean(base, count), better, better - around, better + around
    )


def mean(values: Floats | Bools, count: Counts | None = None) -> float:
    """Return the mean over rows; `count` is how many rows an entry stands for.

    Examples
    --------
    >>> mean(np.array([0.0, 1.0]), np.array([3, 1]))
    0.25
    """
    return float(np.average(values, weights=count))


def half_width(values: Floats, count: Counts | None = None) -> float:
    """Half the width of the confidence interval of a mean; `count` is how many rows an entry stands for.

    Examples
    --------
    >>> round(half_width(np.array([0.0, 1.0, 2.0])), 3)
    1.132
    """
    n_rows = len(values) if count is None else int(count.sum())
    if n_rows < 2:
        return float("inf")
    deviation, scale = unit_scaled(values - mean(values, count))
    variance = mean(deviation**2, count) * n_rows / (n_rows - 1)
    return float(_quantile() * np.sqrt(variance / n_rows) * scale)


def _quantile() -> float:
    return float(norm.isf((1 - LEVEL) / 2))


def area_score(
    target: NDArray[Any], predicted: Floats, other: Floats | None = None, count: Counts | None = None
) -> Score:
    """Score the area under the ROC curve; for many classes the mean of one against the rest.

    Parameters
    ----------
    target : int array of shape (n_rows,)
    predicted : float64 array of shape (n_rows, n_classes)
    other : float64 array of shape (n_rows, n_classes), optional
        Probabilities of another model to compare with; default: one that cannot tell rows apart.
    count : int64 array of shape (n_rows,), optional
        How many equal rows each entry stands for.

    Examples
    --------
    >>> p = np.array([0.1, 0.4, 0.4, 0.8])
    >>> area_score(np.array([0, 1, 0, 1]), np.column_stack([1 - p, p])).value
    0.875
    """
    k, n = predicted.shape[1], len(predicted)
    weight = None if count is None else count.astype(np.float64)
    area, influence = mean_area(target, predicted, weight)
    base, base_influence = (0.5, np.zeros(n)) if other is None else mean_area(target, other, weight)
    half, around = (_area_half_width(part, weight) for part in (influence, influence - base_influence))
    opponents = "" if k == 2 else ", each class against the rest"
    meaning = f"share of pairs of rows that are ranked right{opponents}; higher is better"
    low, high, gain = max(area - half, 0.0), min(area + half, 1.0), area - base
    return Score("area under the curve", meaning, area, low, high, base, gain, gain - around, gain + around)


def _area_half_width(influence: Floats, weight: Floats | None) -> float:
    """Half the width of the interval of an area; the influence of an entry is that of all its rows together."""
    squares = influence**2 if weight is None else influence**2 / weight
    return float(_quantile() * np.sqrt(squares.sum()) / len(influence))


def _separation(observed: Bools, predicted: Floats, count: Counts) -> list[Score]:
    """Gini and KS of one class."""
    if observed.all() or not observed.any():
        return []
    weight = count.astype(np.float64)
    area, influence = area_under_curve(observed, predicted, weight)
    half = 2 * _area_half_width(influence, weight)
    gini, ks = 2 * area - 1, ks_statistic(observed, predicted, n_rows=count)
    above = predicted >= ks.threshold
    rates = [(mean(above[kind], count[kind]), int(count[kind].sum())) for kind in (observed, ~observed)]
    around = _quantile() * float(np.sqrt(sum(rate * (1 - rate) / n for rate, n in rates)))
    return [
        _above_zero("Gini", "twice the area under the curve, minus 1; higher is better", gini, half),
        _above_zero("KS", "largest true minus false positive rate; higher is better", ks.value, around),
    ]


def _above_zero(name: str, meaning: str, value: float, half: float) -> Score:
    low, high = max(value - half, -1.0), min(value + half, 1.0)
    return Score(name, meaning, value, low, high, 0.0, value, low, high)
