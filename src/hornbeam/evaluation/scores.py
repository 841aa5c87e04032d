"""Scores of class probabilities, as sums that add up over folds.

Every score is a mean over rows, so a fold needs to keep its sums alone (`ScoreSums`), and the scores of all folds
pooled are those of the sum of their tallies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hornbeam.errors import DataError
from hornbeam.typing import Counts, Floats, Label

__all__ = ["ScoreSums", "brier_score", "calibration_error", "log_loss", "rmse", "zero_one_loss"]

LEAST_PROBABILITY = 1e-15  # in the log loss: what a class held impossible costs when it comes, 34.5 nats
N_BINS = 15  # of equal width, for the calibration error


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSums:
    """What the predictions for some rows add up to; tallies of further rows add up in turn.

    Parameters
    ----------
    n_classes : int
        Number of classes K.
    weight : float
        Rows, or their weight.
    squared_error : float
        Sum over rows and classes of the squared difference of the probability and 1 or 0.
    log_loss_sum : float
        Sum of minus the natural logarithm of the probability of the row's class, which is taken as at least
        1e-15.
    errors : float
        Rows whose most probable class, the first on a tie, is not theirs.
    bins : float64 array of shape (3, 15)
        Weight, sum of the largest probability, and weight of the rows where it was right, for largest
        probabilities in each fifteenth of [0, 1].

    Examples
    --------
    >>> tally = ScoreSums.of(["a", "b"], [[0.7, 0.3], [0.6, 0.4]])
    >>> tally.brier_score, tally.zero_one_loss
    (0.45, 0.5)
    >>> (tally + ScoreSums.of(["a"], [[1.0, 0.0]], labels=["a", "b"])).weight
    3.0
    """

    n_classes: int
    weight: float
    squared_error: float
    log_loss_sum: float
    errors: float
    bins: Floats

    @classmethod
    def of(
        cls, y: Any, probabilities: Any, *, labels: Sequence[Label] | None = None, sample_weight: Any = None
    ) -> Self:
        """Add up the predictions for some rows.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The classes that came.
        probabilities : array-like of shape (n_rows, n_classes)
            What was said of each, or for two classes of the second alone.
        labels : sequence, optional
            The class of each column; the sorted classes of `y` if not given.
        sample_weight : array-like of shape (n_rows,), optional
            What each row counts.

        Returns
        -------
        ScoreSums
        """
        p = _probabilities(probabilities)
        codes = _codes(y, labels, p.shape)
        weight = np.ones(len(p)) if sample_weight is None else np.asarray(sample_weight, float)
        rows = np.arange(len(p))
        said = p[rows, codes]
        # Over the classes: sum of p² - 2 p_y + 1, without an array of zeros and ones.
        squared = np.einsum("ij,ij->i", p, p) - 2.0 * said + 1.0
        best = p.argmax(axis=1)
        confidence = p[rows, best]
        hit = best == codes
        place = np.minimum((confidence * N_BINS).astype(np.intp), N_BINS - 1)
        parts = (weight, weight * confidence, weight * hit)
        return cls(
            n_classes=p.shape[1],
            weight=float(weight.sum()),
            squared_error=float(weight @ np.maximum(squared, 0.0)),
            log_loss_sum=float(weight @ -np.log(np.maximum(said, LEAST_PROBABILITY))),
            errors=float(weight @ ~hit),
            bins=np.array([np.bincount(place, part, N_BINS) for part in parts]),
        )

    def __add__(self, other: Self) -> Self:
        if self.n_classes != other.n_classes:
            raise DataError(
                f"Tallies of {self.n_classes} and {other.n_classes} classes do not add up; expected the same "
                "classes in every fold. Pass labels=."
            )
        return type(self)(
            self.n_classes,
            self.weight + other.weight,
            self.squared_error + other.squared_error,
            self.log_loss_sum + other.log_loss_sum,
            self.errors + other.errors,
            self.bins + other.bins,
        )

    @property
    def brier_score(self) -> float:
        """Mean over rows of the squared error summed over the classes, from 0 to 2."""
        return self.squared_error / self.weight

    @property
    def rmse(self) -> float:
        """Root of the mean squared error over rows and classes: the root of Brier / K."""
        return float(np.sqrt(self.brier_score / self.n_classes))

    @property
    def log_loss(self) -> float:
        """Mean of minus the natural logarithm of the probability of the class that came."""
        return self.log_loss_sum / self.weight

    @property
    def zero_one_loss(self) -> float:
        """Share of rows whose most probable class is not theirs."""
        return self.errors / self.weight

    @property
    def calibration_error(self) -> float:
        """Mean over rows of how far the bin's confidence is from its share of hits."""
        _, confidence, hits = self.bins
        return float(np.abs(confidence - hits).sum() / self.weight)


def rmse(y: Any, probabilities: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Root mean squared error over rows and classes: ``sqrt(mean over i of 1/K sum over k of (p_ik - [y_i = k])²)``.

    The measure of the HGS paper: the root of the Brier score divided by the number of classes.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The classes that came.
    probabilities : array-like of shape (n_rows, n_classes)
        What was said of each.
    labels : sequence, optional
        The class of each column; the sorted classes of `y` if not given.
    sample_weight : array-like of shape (n_rows,), optional
        What each row counts.

    Returns
    -------
    float

    Examples
    --------
    >>> round(rmse([1], [[0.7, 0.2, 0.1]], labels=[1, 2, 3]), 4)
    0.216
    """
    return ScoreSums.of(y, probabilities, labels=labels, sample_weight=sample_weight).rmse


def brier_score(y: Any, probabilities: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Mean squared error summed over the classes, from 0 to 2; parameters as of `rmse`.

    Examples
    --------
    >>> round(brier_score([1], [[0.7, 0.2, 0.1]], labels=[1, 2, 3]), 2)
    0.14
    """
    return ScoreSums.of(y, probabilities, labels=labels, sample_weight=sample_weight).brier_score


def log_loss(y: Any, probabilities: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Mean of minus the natural logarithm of the probability of the class that came, taken as at least 1e-15.

    Parameters as of `rmse`. Probabilities are not scaled to a sum of 1.

    Examples
    --------
    >>> round(log_loss(["no", "yes"], [[0.5, 0.5], [1.0, 0.0]]), 2)
    17.62
    """
    return ScoreSums.of(y, probabilities, labels=labels, sample_weight=sample_weight).log_loss


def zero_one_loss(y: Any, probabilities: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Share of rows whose most probable class, the first on a tie, is not theirs; parameters as of `rmse`.

    Examples
    --------
    >>> zero_one_loss(["no", "yes"], [[0.8, 0.2], [0.6, 0.4]])
    0.5
    """
    return ScoreSums.of(y, probabilities, labels=labels, sample_weight=sample_weight).zero_one_loss


def calibration_error(y: Any, probabilities: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Expected calibration error: how far the largest probability is from the share of rows where it is right.

    Rows are put into 15 bins of equal width by their largest probability; parameters as of `rmse`.

    Notes
    -----
    Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural networks", ICML 2017, equation 3. A score
    of few rows is too large by chance alone.

    Examples
    --------
    Two rows said to be 0.7 sure, one of them right:

    >>> round(calibration_error(["no", "yes"], [[0.7, 0.3], [0.7, 0.3]]), 2)
    0.2
    """
    return ScoreSums.of(y, probabilities, labels=labels, sample_weight=sample_weight).calibration_error


def _probabilities(values: Any) -> Floats:
    p = np.asarray(values, float)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    if p.ndim != 2 or not len(p):
        raise DataError(f"Probabilities of shape {p.shape}; expected rows by classes, and a row at least.")
    if not ((p >= 0.0) & (p <= 1.0 + 1e-9)).all():
        raise DataError(
            f"Probabilities from {p.min()} to {p.max()}; expected numbers from 0 to 1. Pass predict_proba."
        )
    return p


def _codes(y: Any, labels: Sequence[Label] | None, shape: tuple[int, ...]) -> Counts:
    """The column of each row's class."""
    y = np.asarray(y)
    if y.shape != shape[:1]:
        raise DataError(
            f"y of shape {y.shape} beside {shape[0]} rows of probabilities; expected one label a row."
        )
    classes = np.unique(y) if labels is None else np.asarray(labels)
    if len(classes) != shape[1]:
        raise DataError(
            f"{len(classes)} classes beside {shape[1]} columns of probabilities; expected one column a class. "
            "Pass labels=estimator.classes_."
        )
    order = np.argsort(classes, kind="stable")
    place = np.minimum(np.searchsorted(classes, y, sorter=order), len(classes) - 1)
    codes: Counts = order[place]
    if (classes[codes] != y).any():
        strange = y[classes[codes] != y][0]
        raise DataError(f"y has the class {strange!r}, which is not among the labels {classes.tolist()}.")
    return codes
