"""Scores of class probabilities, stored as sums over rows.

Every score is a mean over rows. So the score of several folds together follows from the sum of their `ScoreSums`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.labels import read_labels
from hornbeam.data.reading.columns import as_data_error
from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.tree.decision import Costs
from hornbeam.typing import Counts, Floats, Label

LEAST_PROBABILITY = 1e-15  # lower bound in the log loss: a true class with probability 0 costs 34.5 nats
N_BINS = 15  # of equal width, for the calibration error


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSums:
    """Sums over rows from which all scores follow; the sums of further rows can be added.

    Parameters
    ----------
    n_classes : int
        Number of classes K.
    weight : float
        Number of rows, or their weight.
    squared_error : float
        Sum over rows and classes of the squared difference of the probability and 1 or 0.
    log_loss_sum : float
        Sum of the negative natural logarithms of the probability of the true class, or of 1e-15 if that is more.
    errors : float
        Number of rows whose most probable class, the first on a tie, is wrong.
    bins : float64 array of shape (3, 15)
        For 15 bins of the largest probability: weight, sum of the largest probability, and weight of the rows whose
        most probable class is right.

    Examples
    --------
    >>> sums = ScoreSums.of(["a", "b"], [[0.7, 0.3], [0.6, 0.4]])
    >>> sums.brier_score, sums.zero_one_loss
    (0.45, 0.5)
    >>> (sums + ScoreSums.of(["a"], [[1.0, 0.0]], labels=["a", "b"])).weight
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
        cls, y_true: Any, y_proba: Any, *, labels: Sequence[Label] | None = None, sample_weight: Any = None
    ) -> Self:
        """Compute the sums of some rows.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            The true classes.
        y_proba : array-like of shape (n_rows, n_classes)
            Predicted probabilities; for two classes those of the second class are enough.
        labels : sequence, optional
            Class of each column; default: the sorted classes of `y_true`.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.

        Returns
        -------
        ScoreSums
        """
        p = read_probabilities(y_proba)
        codes = _codes(y_true, labels, p.shape)
        weight = _weights(sample_weight, len(p))
        rows = np.arange(len(p))
        p_true = p[rows, codes]
        # The sum over classes is that of p², minus 2 p_y, plus 1: no one-hot array is needed.
        squared = np.einsum("ij,ij->i", p, p) - 2.0 * p_true + 1.0
        best = p.argmax(axis=1)
        confidence = p[rows, best]
        hit = best == codes
        bin_of_row = np.minimum((confidence * N_BINS).astype(np.intp), N_BINS - 1)
        parts = (weight, weight * confidence, weight * hit)
        return cls(
            n_classes=p.shape[1],
            weight=float(weight.sum()),
            squared_error=float(weight @ np.maximum(squared, 0.0)),
            log_loss_sum=float(weight @ -np.log(np.maximum(p_true, LEAST_PROBABILITY))),
            errors=float(weight @ ~hit),
            bins=np.array([np.bincount(bin_of_row, part, N_BINS) for part in parts]),
        )

    def __add__(self, other: Self) -> Self:
        if self.n_classes != other.n_classes:
            raise DataError(
                f"Scores of {self.n_classes} and {other.n_classes} classes cannot be added; expected the same "
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
        """Mean of the negative natural logarithm of the probability of the true class."""
        return self.log_loss_sum / self.weight

    @property
    def zero_one_loss(self) -> float:
        """Share of rows whose most probable class is wrong."""
        return self.errors / self.weight

    @property
    def calibration_error(self) -> float:
        """Mean over rows of the difference between the confidence of the bin and its accuracy."""
        _, confidence, hits = self.bins
        return float(np.abs(confidence - hits).sum() / self.weight)


def probability_rmse(y_true: Any, y_proba: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Compute the root mean squared error over rows and classes.

    ``sqrt(mean over i of 1/K sum over k of (p_ik - [y_i = k])²)``, as in the HGS paper: the root of the Brier score
    divided by the number of classes.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The true classes.
    y_proba : array-like of shape (n_rows, n_classes)
        Predicted probabilities.
    labels : sequence, optional
        Class of each column; default: the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row.

    Returns
    -------
    float

    Examples
    --------
    >>> round(probability_rmse([1], [[0.7, 0.2, 0.1]], labels=[1, 2, 3]), 4)
    0.216
    """
    return ScoreSums.of(y_true, y_proba, labels=labels, sample_weight=sample_weight).rmse


def brier_score(y_true: Any, y_proba: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Compute the squared error summed over the classes, from 0 to 2; parameters as in `probability_rmse`.

    Examples
    --------
    >>> round(brier_score([1], [[0.7, 0.2, 0.1]], labels=[1, 2, 3]), 2)
    0.14
    """
    return ScoreSums.of(y_true, y_proba, labels=labels, sample_weight=sample_weight).brier_score


def log_loss(y_true: Any, y_proba: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Compute the mean negative natural logarithm of the probability of the true class, which is at least 1e-15.

    Parameters as in `probability_rmse`. Probabilities are not scaled to a sum of 1.

    Examples
    --------
    >>> round(log_loss(["no", "yes"], [[0.5, 0.5], [1.0, 0.0]]), 2)
    17.62
    """
    return ScoreSums.of(y_true, y_proba, labels=labels, sample_weight=sample_weight).log_loss


def zero_one_loss(y_true: Any, y_proba: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Compute the share of rows whose most probable class, the first on a tie, is wrong.

    Parameters as in `probability_rmse`.

    Examples
    --------
    >>> zero_one_loss(["no", "yes"], [[0.8, 0.2], [0.6, 0.4]])
    0.5
    """
    return ScoreSums.of(y_true, y_proba, labels=labels, sample_weight=sample_weight).zero_one_loss


def calibration_error(y_true: Any, y_proba: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Compute the expected calibration error: the difference of confidence and accuracy, averaged over bins.

    Rows are put into 15 bins of equal width by their largest probability; parameters as in `probability_rmse`.

    Notes
    -----
    Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural networks", ICML 2017, equation 3. With
    few rows the score is too large by chance.

    Examples
    --------
    Two rows with confidence 0.7, one of them right:

    >>> round(calibration_error(["no", "yes"], [[0.7, 0.3], [0.7, 0.3]]), 2)
    0.2
    """
    return ScoreSums.of(y_true, y_proba, labels=labels, sample_weight=sample_weight).calibration_error


def mean_cost(
    y_true: Any, y_pred: Any, *, costs: Any, labels: Any = None, sample_weight: Any = None
) -> float:
    """Compute the mean cost of decisions.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The true classes.
    y_pred : array-like of shape (n_rows,)
        The decided classes: ``model.predict(X)``.
    costs : mapping or array-like
        Cost of each decision, as in `TreeClassifier`: ``{(true label, decided label): cost}``, where other errors cost
        1; or a matrix, with a row for each true class and a column for each decision.
    labels : sequence, optional
        The classes, in the order of a matrix; default: the sorted classes of `y_true` and `y_pred`.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row.

    Returns
    -------
    float

    Examples
    --------
    >>> mean_cost(["ill", "well", "well"], ["well", "well", "ill"], costs={("ill", "well"): 20})
    7.0
    """
    true, decided = (read_labels(y) for y in (y_true, y_pred))
    y, named = (one.classes[one.codes] for one in (true, decided))
    if y.shape != named.shape or not len(y):
        raise DataError(f"{len(y)} true classes beside {len(named)} decisions; expected one of each per row.")
    if labels is None:
        pairs = [*costs] if isinstance(costs, Mapping) else []
        named_in_costs = [label for pair in pairs if isinstance(pair, tuple) for label in pair]
        labels = np.unique([*true.classes.tolist(), *decided.classes.tolist(), *named_in_costs])
    labels = label_array(labels)
    matrix = Costs.of(costs, labels.tolist(), len(y)).matrix
    code, choice = (class_codes(part, labels) for part in (y, named))
    each = matrix[code, choice] if matrix.ndim == 2 else matrix[np.arange(len(y)), code, choice]
    return float(np.average(each, weights=_weights(sample_weight, len(y))))


def losses(predicted: Floats, named: NDArray[Any], target: NDArray[Any]) -> dict[str, Floats]:
    """Return the log loss, the Brier score and whether the decision is right, per row."""
    return {
        "log loss": -np.log(np.maximum(predicted[np.arange(len(predicted)), target], LEAST_PROBABILITY)),
        "Brier score": ((predicted - np.eye(predicted.shape[1])[target]) ** 2).sum(axis=1),
        "accuracy": 1.0 * (named == target),
    }


def _weights(sample_weight: Any, n_rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(n_rows)
    weight = read_sample_weight(sample_weight, n_rows)
    if not weight.any():
        raise DataError("sample_weight is 0 in all rows; expected a weight above 0 in some.")
    return weight


def read_probabilities(values: Any) -> Floats:
    """Read probabilities of all classes; those of one class alone are of the second of two."""
    with as_data_error("probabilities"):
        p = np.asarray(values, float)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    if p.ndim != 2 or not len(p):
        raise DataError(f"Probabilities of shape {p.shape}; expected rows by classes, with at least one row.")
    if not ((p >= 0.0) & (p <= 1.0 + 1e-9)).all():
        raise DataError(
            f"Probabilities from {p.min()} to {p.max()}; expected numbers from 0 to 1. Pass predict_proba."
        )
    return p


def _codes(y_true: Any, labels: Sequence[Label] | None, shape: tuple[int, ...]) -> Counts:
    """Return the column of each row's class."""
    y = np.asarray(y_true)
    if y.shape != shape[:1]:
        raise DataError(
            f"y_true of shape {y.shape} beside {shape[0]} rows of probabilities; expected one label per row."
        )
    classes = np.unique(y) if labels is None else label_array(labels)
    if len(classes) != shape[1]:
        raise DataError(
            f"{len(classes)} classes beside {shape[1]} columns of probabilities; expected one column per class. "
            "Pass labels=estimator.classes_."
        )
    return class_codes(y, classes)


def label_array(labels: Any) -> NDArray[Any]:
    """Return the classes that a caller names, in their order."""
    classes = np.asarray(labels)
    if classes.ndim != 1:
        raise ParameterError(f"labels={shown(labels)}: expected a sequence of classes.")
    return classes


def class_codes(y: NDArray[Any], classes: Sequence[Label] | NDArray[Any]) -> Counts:
    """Return the position of each label among the classes; `DataError` for another label."""
    classes = np.asarray(classes)
    order = np.argsort(classes, kind="stable")
    same_kind = (y.dtype.kind in "OUS") == (classes.dtype.kind in "OUS")
    place = np.searchsorted(classes, y, sorter=order) if same_kind else np.zeros(len(y), np.intp)
    codes: Counts = order[np.minimum(place, len(classes) - 1)]
    known = classes[codes] == y if same_kind else np.zeros(len(y), bool)
    if not known.all():
        raise DataError(
            f"y_true has the class {y[~known][:1].tolist()[0]!r}, which is not among the labels {classes.tolist()}."
        )
    return codes
