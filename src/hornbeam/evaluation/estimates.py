"""Scores of predictions as estimates: a value and the influence of each row on it, from which intervals follow.

The influences on a difference are the differences of the influences, so paired intervals need no other formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, stdtrit

from hornbeam.data.fixed_point import unit_scaled
from hornbeam.evaluation.discrimination import area_under_curve
from hornbeam.evaluation.scores import LEAST_PROBABILITY
from hornbeam.typing import Bools, Counts, Floats

_ROUNDS, _SMALL_STEP = 50, 1e-12  # of Newton's method


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A score of some rows, and the influence of each row on it.

    The variance is the sum of the squared influences of independent rows, or of groups, and `unseen`: what rows that
    are not among these could add.

    Examples
    --------
    >>> found = mean_estimate(np.array([1.0, 2.0, 3.0, 6.0]), np.ones(4))
    >>> found.value, round(found.error(), 4)
    (3.0, 1.0801)
    """

    value: float
    influence: Floats
    unseen: float = 0.0

    def __sub__(self, other: Self) -> Self:
        if len(self.influence) != len(other.influence):  # one of them is not defined
            return type(self)(np.nan, np.zeros(0))
        return type(self)(self.value - other.value, self.influence - other.influence, self.unseen)

    def error(self, group: Counts | None = None) -> float:
        """Return the standard error, of independent rows or groups; NaN for fewer than two."""
        return self._error(*unit_scaled(group_sums(self.influence, group)))

    def _error(self, parts: Floats, scale: float) -> float:
        n = len(parts)
        if n < 2:
            return np.nan
        return float(np.hypot(np.sqrt((parts**2).sum() * n / (n - 1)) * scale, np.sqrt(self.unseen)))

    def bounds(
        self, level: float, group: Counts | None = None, span: tuple[float, float] | None = None
    ) -> tuple[float, float]:
        """Return the interval of Student's t; NaN if no row has an influence.

        With a `span`, the ends of what the score can be, it is that of the log odds between them.
        """
        if np.isnan(self.value):
            return np.nan, np.nan
        parts, scale = unit_scaled(group_sums(self.influence, group))
        freedom = self._freedom(parts)
        if np.isnan(freedom):
            return np.nan, np.nan
        half = float(stdtrit(freedom, (1 + level) / 2)) * self._error(parts, scale)
        if span is None:
            return self.value - half, self.value + half
        least, width = span[0], span[1] - span[0]
        share = (self.value - least) / width
        odds = logit(share) + np.array([-half, half]) / (width * share * (1 - share))
        low, high = least + width * expit(odds)
        return float(low), float(high)

    def _freedom(self, parts: Floats) -> float:
        """Return the degrees of freedom of the error, which are few if few rows or groups have most of the influence.

        They are those of a chi-squared variable that varies as much as the estimated variance (Satterthwaite), by the
        fourth moment; at most one less than the rows or groups.
        """
        n, second, fourth = len(parts), float((parts**2).mean()), float((parts**4).mean())
        if not second > 0:
            return float(n - 1) if self.unseen else np.nan
        spread = fourth - second**2
        return min(2 * n * second**2 / spread, n - 1.0) if spread > 0 else n - 1.0


NOTHING = Estimate(np.nan, np.zeros(0))


def group_sums(values: Floats, group: Counts | None) -> Floats:
    """Sum values of rows over each group; without groups, return them as they are."""
    return values if group is None else np.bincount(np.unique(group, return_inverse=True)[1], values)


def mean_estimate(values: Floats, weight: Floats, reach: Floats | None = None) -> Estimate:
    """Estimate a weighted mean. A row of weight 2 counts twice; for the error it is one observation.

    `reach` is by how much another decision could change the value of each row, where values depend on decisions. Two
    halves of an average row, decided one way and the other, are then added to the variance, because decisions may
    differ on rows that are not among these (Agresti and Min, 2005).
    """
    # Sums rather than products of vectors: BLAS would start threads, which wait for each other on a busy machine.
    total = weight.sum()
    mean = (weight * values).sum() / total
    unseen = 0.0 if reach is None else float(((weight * reach / total) ** 2).mean())
    return Estimate(float(mean), weight / total * (values - mean), unseen)


def area_estimate(observed: Bools, p: Floats, weight: Floats) -> Estimate:
    """Estimate the area under the ROC curve, with the influences of DeLong and others :cite:p:`delong1988`."""
    area, influence = area_under_curve(observed, p, weight)
    n = len(p)
    for side in (observed, ~observed):  # a mean on each side; `error` corrects for one mean over all rows
        own = np.count_nonzero(side)
        influence[side] *= np.sqrt(own / (own - 1) * (n - 1) / n) if own > 1 else np.nan
    return Estimate(area, influence / n)


def recalibration(observed: Bools, p: Floats, weight: Floats) -> tuple[Estimate, Estimate]:
    """Fit the outcomes by logistic regression to the log odds of the probabilities.

    The first estimate is the intercept for a slope of 1, the calibration in the large; the second is the slope with its
    own intercept. Right probabilities have 0 and 1. NaN where no finite number fits best.
    """
    odds = logit(np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    if observed.all() or not observed.any():
        return NOTHING, NOTHING

    def surplus(intercept: float) -> float:
        return float((weight * (observed - expit(odds + intercept))).sum())

    reach = float(np.abs(odds).max()) + 50
    intercept = brentq(surplus, -reach, reach)
    fitted = expit(odds + intercept)
    influence = weight * (observed - fitted) / (weight * fitted * (1 - fitted)).sum()
    return Estimate(float(intercept), influence), _slope(observed, odds, weight)


def _slope(observed: Bools, odds: Floats, weight: Floats) -> Estimate:
    """Fit a slope and an intercept by Newton's method."""
    yes, no = odds[observed], odds[~observed]
    if yes.min() >= no.max() or yes.max() <= no.min():  # the classes are apart, or all odds are equal
        return NOTHING
    columns = np.array([odds, np.ones_like(odds)])
    sign = np.where(observed, 1.0, -1.0)

    def loss(fit: Floats) -> float:
        return float((weight * np.logaddexp(0.0, -sign * (fit[0] * odds + fit[1]))).sum())

    fit = np.array([1.0, 0.0])
    for _ in range(_ROUNDS):
        p = expit(fit[0] * odds + fit[1])
        part = columns * (weight * (observed - p))
        curvature = (columns[:, None] * columns * (weight * p * (1 - p))).sum(axis=2)
        step = np.linalg.pinv(curvature) @ part.sum(axis=1)
        if np.abs(step).max() <= _SMALL_STEP * np.abs(fit).max():
            break
        while loss(fit + step) > loss(fit) and np.abs(step).max() > _SMALL_STEP:
            step /= 2
        fit = fit + step
    return Estimate(float(fit[0]), (np.linalg.pinv(curvature) @ part)[0])
