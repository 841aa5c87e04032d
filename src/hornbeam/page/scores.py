"""The headline: how good the probabilities were on the test rows, how sure that is, and against what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from hornbeam.evaluation.scores import LEAST_PROBABILITY
from hornbeam.export.answers import mean
from hornbeam.page.trial import Trial
from hornbeam.tree.costs import Costs
from hornbeam.typing import Bools, Floats

__all__ = ["LEVEL", "Score", "area_under_curve", "half_width", "headline"]

LEVEL = 0.95  # of the intervals


@dataclass(frozen=True, slots=True)
class Score:
    """A score of the tree beside that of one who always says the base rate.

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
        """Write a number of this score: three decimals, or four digits in units of the target."""
        said = mean(value, 2) if self.in_units else f"{value:.3f}"
        return said.replace("-", "−")

    @property
    def convincing(self) -> bool:
        """Whether the whole interval of the gain is above 0."""
        return self.gain_low > 0


def headline(trial: Trial, base: Floats, costs: Costs | None = None) -> list[Score]:
    """Score the tree and the base rate on the test rows.

    Parameters
    ----------
    trial : Trial
    base : float64 array of shape (n_classes,)
        The class rates of the training rows.
    costs : Costs, optional
        What mistakes cost, if the model decides by it.

    Returns
    -------
    list of Score
        Log loss, Brier score, accuracy of the class held most probable, area under the curve; what the model's
        decisions cost.

    Notes
    -----
    Intervals are normal ones of means over rows, gains row by row (paired); accuracy has Wilson's, the area
    under the curve that of DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988). All take the tree as it
    is: another training sample would have made another.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.page.subject import Subject
    >>> subject = Subject.of(TreeClassifier(smoothing="laplace").fit([[0]] * 8 + [[1]] * 8, [0] * 8 + [1] * 8))
    >>> trial = Trial.of(subject, [[0], [0], [1], [1]] * 5, [0, 0, 0, 1] * 5)
    >>> for score in headline(trial, np.array([0.5, 0.5])):
    ...     print(f"{score.name}: {score.value:.3f} ({score.low:.3f} to {score.high:.3f}), {score.base:.3f}")
    log loss: 0.655 (0.227 to 1.082), 0.693
    Brier score: 0.420 (0.108 to 0.732), 0.500
    accuracy: 0.750 (0.531 to 0.888), 0.750
    area under the curve: 0.833 (0.714 to 0.953), 0.500
    """
    flat = np.broadcast_to(base, trial.said.shape)
    rows = np.arange(trial.n_rows)
    log_loss = [-np.log(np.maximum(p[rows, trial.target], LEAST_PROBABILITY)) for p in (trial.said, flat)]
    brier = [((p - np.eye(len(base))[trial.target]) ** 2).sum(axis=1) for p in (trial.said, flat)]
    hits = [1.0 * (p.argmax(axis=1) == trial.target) for p in (trial.said, flat)]
    scores = [
        _mean("log loss", "surprise at what came, in nats; lower is better", log_loss, -1),
        _mean("Brier score", "squared error over the classes, 0 to 2; lower is better", brier, -1),
        _mean("accuracy", "how often the class held most probable came; higher is better", hits, 1),
        _area(trial),
    ]
    if costs is None:
        return scores
    always = int(costs.cheapest(base[None])[0])
    paid = [costs.matrix[trial.target, trial.named], costs.matrix[trial.target, always]]
    return [
        *scores,
        _mean("cost a row", "of what the model decides, by the costs given; lower is better", paid, -1),
    ]


def _mean(name: str, meaning: str, losses: list[Floats], sign: int) -> Score:
    """The mean of the tree's losses, or gains, beside that of the base rate's."""
    own, base = losses
    value, half = float(own.mean()), half_width(own)
    low, high = _wilson(value, len(own)) if name == "accuracy" else (value - half, value + half)
    gain = sign * (own - base)
    better, around = float(gain.mean()), half_width(gain)
    return Score(
        name, meaning, value, low, high, float(base.mean()), better, better - around, better + around
    )


def half_width(values: Floats) -> float:
    """Half the width of the interval of a mean.

    Examples
    --------
    >>> round(half_width(np.array([0.0, 1.0, 2.0])), 3)
    1.132
    """
    if len(values) < 2:
        return float("inf")
    return float(_quantile() * values.std(ddof=1) / np.sqrt(len(values)))


def _quantile() -> float:
    return float(norm.isf((1 - LEVEL) / 2))


def _wilson(share: float, n: int) -> tuple[float, float]:
    z2 = _quantile() ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return max(float(centre - half), 0.0), min(float(centre + half), 1.0)


def _area(trial: Trial) -> Score:
    k = trial.said.shape[1]
    asked = [1] if k == 2 else range(k)
    found = [area_under_curve(trial.target == c, trial.said[:, c]) for c in asked]
    known = [(area, pull) for area, pull in found if not np.isnan(area)]
    area = float(np.mean([area for area, _ in known])) if known else float("nan")
    pull = np.mean([pull for _, pull in known], axis=0) if known else np.full(trial.n_rows, np.nan)
    half = float(_quantile() * np.sqrt((pull**2).sum()) / len(pull))
    low, high = max(area - half, 0.0), min(area + half, 1.0)
    whom = "" if k == 2 else ", each class against the rest"
    meaning = f"how often of two rows the right one ranks higher{whom}; higher is better"
    return Score("area under the curve", meaning, area, low, high, 0.5, area - 0.5, low - 0.5, high - 0.5)


def area_under_curve(came: Bools, said: Floats) -> tuple[float, Floats]:
    """Find how often a row of a class ranks above a row of the others, and how far each row pulls at that.

    Parameters
    ----------
    came : bool array of shape (n_rows,)
        Whether a row has the class.
    said : float64 array of shape (n_rows,)
        Its probability.

    Returns
    -------
    area : float
        NaN where one side has no rows.
    pull : float64 array of shape (n_rows,)
        Of mean 0; the root of the sum of their squares, divided by the rows, is the standard error.

    Examples
    --------
    >>> area, pull = area_under_curve(np.array([False, True, True]), np.array([0.5, 0.5, 0.9]))
    >>> area, pull.tolist()
    (0.75, [0.0, -0.375, 0.375])
    """
    n, yes, no = len(came), int(came.sum()), int((~came).sum())
    pull = np.zeros(n)
    if not yes or not no:
        return float("nan"), pull
    rank = rankdata(said)
    above = (rank[came] - rankdata(said[came])) / no
    below = 1 - (rank[~came] - rankdata(said[~came])) / yes
    area = float(above.mean())
    pull[came], pull[~came] = (above - area) * n / yes, (below - area) * n / no
    return area, pull
