"""Losses: initial score, negative gradients and hessians, leaf values, and predictions from scores.

Scores are of shape (n_outputs, n_rows). The sum of the negative gradients of some rows over the sum of their hessians
is a Newton step.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing.leafwise import GrownTree
from hornbeam.kernels.elementary import exp, log
from hornbeam.typing import Bools, Floats

_RAREST = 1e-15  # the probability of a class without rows
_LEAST = 0.01  # least probability from another model: nearer to 0, a wrong one makes Newton steps diverge


class LeafInputs(NamedTuple):
    """A tree grown on gradients, and the rows that its leaf values are computed from.

    `scores` are those of the tree's output before the tree. `sampled` is the mask of the rows that the tree was grown
    on; None for all.
    """

    grown: GrownTree
    ridge: float
    scores: Floats
    target: NDArray[Any]
    weight: Floats | None
    sampled: Bools | None


class Loss(Protocol):
    """Interface of the losses that boosting minimises."""

    @property
    def n_outputs(self) -> int:
        """Trees per round."""

    @property
    def max_score(self) -> float:
        """Largest absolute score that the gradients can be computed from."""

    @property
    def allows_monotone(self) -> bool:
        """Whether leaf values keep to monotone constraints."""

    def initial_score(self, table: Table) -> Floats:
        """Compute the best constant score of each output."""

    def negative_gradients(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats | None]:
        """Compute the negative gradient and the hessian per output and row; None for hessians of 1."""

    def leaf_values(self, inputs: LeafInputs) -> Floats:
        """Compute the value of each node of a tree, before the learning rate."""

    def row_losses(self, scores: Floats, target: NDArray[Any]) -> Floats:
        """Compute the loss of each row."""

    def predict(self, scores: Floats) -> Floats:
        """Turn scores into predictions of shape (n_rows, n_classes), or (n_rows, 1) for regression."""

    def scores_of(self, predictions: Floats) -> Floats:
        """Turn predictions of another model into scores; the inverse of `predict`."""


class NewtonLeaves:
    """Defaults of most losses: leaf values are Newton steps, which keep to monotone constraints."""

    __slots__ = ()
    max_score: ClassVar[float] = 1e150  # its square is finite
    allows_monotone: ClassVar[bool] = True

    def leaf_values(self, inputs: LeafInputs) -> Floats:
        """Compute the Newton step of each node."""
        return inputs.grown.newton(inputs.ridge)

    def scores_of(self, predictions: Floats) -> Floats:
        """Return the predictions: they are the scores."""
        return np.ascontiguousarray(predictions.T)


@dataclass(frozen=True, slots=True)
class SquaredError(NewtonLeaves):
    """Half the squared error: negative gradients are residuals, and a Newton step is their mean.

    Examples
    --------
    >>> SquaredError().negative_gradients(np.array([[1.0, 1.0]]), np.array([3.0, 0.5]))
    (array([[ 2. , -0.5]]), None)
    """

    n_outputs: ClassVar[int] = 1

    def initial_score(self, table: Table) -> Floats:
        """Compute the mean of the target."""
        return np.array([_mean(table)])

    def negative_gradients(self, scores: Floats, target: Floats) -> tuple[Floats, None]:
        """Compute the residuals."""
        return target - scores, None

    def row_losses(self, scores: Floats, target: Floats) -> Floats:
        """Compute half the squared residuals."""
        half: Floats = np.square(target - scores[0]) / 2
        return half

    def predict(self, scores: Floats) -> Floats:
        """Return the scores: they are the predictions."""
        return scores.T


@dataclass(frozen=True, slots=True)
class Poisson(NewtonLeaves):
    """Poisson deviance of a target that is not negative; scores are logarithms of the mean.

    Parameters
    ----------
    least : float, default 1e-15
        Least mean from another model.

    Examples
    --------
    >>> Poisson().negative_gradients(np.array([[0.0, 0.0]]), np.array([3.0, 0.0]))
    (array([[ 2., -1.]]), array([[1., 1.]]))
    """

    least: float = _RAREST
    n_outputs: ClassVar[int] = 1
    max_score: ClassVar[float] = 300.0  # the logarithm of a mean: its exponential is finite

    def initial_score(self, table: Table) -> Floats:
        """Compute the logarithm of the mean of the target."""
        assert table.numeric_target is not None
        if table.numeric_target.values.min(initial=0.0) < 0 or not _mean(table) > 0:
            raise DataError(
                "loss='poisson' needs y that is nowhere negative and somewhere positive; found "
                f"{table.numeric_target.values.min():g} to {table.numeric_target.values.max():g}. Pass another loss."
            )
        return log([_mean(table)])

    def negative_gradients(self, scores: Floats, target: Floats) -> tuple[Floats, Floats]:
        """Compute the residuals of the mean; the hessian is the mean itself."""
        mean = exp(scores)
        return target - mean, mean

    def row_losses(self, scores: Floats, target: Floats) -> Floats:
        """Compute the mean minus y times its logarithm; terms in y alone are left out."""
        loss: Floats = exp(scores[0]) - target * scores[0]
        return loss

    def predict(self, scores: Floats) -> Floats:
        """Compute the mean."""
        return exp(scores.T)

    def scores_of(self, predictions: Floats) -> Floats:
        """Compute the logarithms of the means; a mean below `least` counts as `least`."""
        return log(np.maximum(predictions.T, self.least))


@dataclass(frozen=True, slots=True)
class BinaryLogLoss(NewtonLeaves):
    """Log loss of two classes; a score is the log-odds of the second.

    Examples
    --------
    >>> gradient, hessian = BinaryLogLoss().negative_gradients(np.log([[2.0, 2.0, 2.0]]), np.array([1, 1, 0]))
    >>> gradient.round(3), hessian.round(3)
    (array([[ 0.333,  0.333, -0.667]]), array([[0.222, 0.222, 0.222]]))
    """

    n_outputs: ClassVar[int] = 1

    def initial_score(self, table: Table) -> Floats:
        """Compute the log-odds of all rows."""
        logarithm = log(_class_shares(table))
        return logarithm[1:] - logarithm[:1]

    def negative_gradients(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats]:
        """Compute the class indicator minus the probability p, and p (1 - p)."""
        probability = 1.0 / (1.0 + exp(-scores))
        return target - probability, probability * (1.0 - probability)

    def row_losses(self, scores: Floats, target: NDArray[Any]) -> Floats:
        """Compute minus the logarithm of the probability of the row's class."""
        against = np.where(target == 1, -scores[0], scores[0])
        loss: Floats = np.maximum(against, 0.0) + log(1.0 + exp(-np.abs(against)))
        return loss

    def predict(self, scores: Floats) -> Floats:
        """Compute the probabilities of both classes."""
        probability = 1.0 / (1.0 + exp(-scores[0]))
        return np.column_stack([1.0 - probability, probability])

    def scores_of(self, predictions: Floats) -> Floats:
        """Compute the log-odds; a probability below 0.01 counts as 0.01."""
        logarithm = log(np.maximum(predictions.T, _LEAST))
        return logarithm[1:] - logarithm[:1]


@dataclass(frozen=True, slots=True)
class SoftmaxLoss(NewtonLeaves):
    """Log loss of several classes, with a score for each.

    Parameters
    ----------
    n_outputs : int
        Number of classes.

    Notes
    -----
    The hessian is K / (K - 1) times p (1 - p), so that a leaf is (K - 1) / K times the sum of negative gradients over
    that of p (1 - p): Friedman, Greedy function approximation, 2001, equation 32.

    Examples
    --------
    >>> gradient, hessian = SoftmaxLoss(3).negative_gradients(np.zeros((3, 1)), np.array([1]))
    >>> gradient.round(3).ravel(), hessian.round(3).ravel()
    (array([-0.333,  0.667, -0.333]), array([0.333, 0.333, 0.333]))
    """

    n_outputs: int

    def initial_score(self, table: Table) -> Floats:
        """Compute the logarithms of the class shares."""
        return log(_class_shares(table))

    def negative_gradients(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats]:
        """Compute the class indicators minus the probabilities p, and K / (K - 1) times p (1 - p)."""
        probability = _softmax(scores)
        gradient = -probability
        gradient[target, np.arange(len(target))] += 1.0
        factor = self.n_outputs / max(1, self.n_outputs - 1)
        return gradient, factor * probability * (1.0 - probability)

    def row_losses(self, scores: Floats, target: NDArray[Any]) -> Floats:
        """Compute minus the logarithm of the probability of the row's class."""
        shifted = scores - scores.max(axis=0)
        loss: Floats = log(_sum(exp(shifted))) - shifted[target, np.arange(len(target))]
        return loss

    def predict(self, scores: Floats) -> Floats:
        """Compute the probabilities of all classes."""
        return _softmax(scores).T

    def scores_of(self, predictions: Floats) -> Floats:
        """Compute the logarithms of the probabilities; one below 0.01 counts as 0.01."""
        return log(np.maximum(predictions.T, _LEAST))


def class_loss(n_classes: int) -> Loss:
    """Return the log loss for a number of classes."""
    return BinaryLogLoss() if n_classes == 2 else SoftmaxLoss(n_classes)


def _softmax(scores: Floats) -> Floats:
    raised = exp(scores - scores.max(axis=0))
    return raised / _sum(raised)


def _sum(raised: Floats) -> Floats:
    """Add up the classes in order, so that the rounding does not depend on the machine."""
    total: Floats = np.add.accumulate(raised)[-1]
    return total


def _class_shares(table: Table) -> Floats:
    """Compute the share of each class by weight; sums of integers do not depend on the order of rows."""
    assert table.target is not None
    counts = np.zeros(table.schema.n_classes, np.int64)
    np.add.at(counts, table.target, 1 if table.weight is None else table.weight)
    return np.maximum(counts / counts.sum(), _RAREST)


def _mean(table: Table) -> float:
    """Compute the weighted mean of a numeric target from integer sums."""
    assert table.numeric_target is not None
    total = table.n_rows if table.weight is None else int(table.weight.sum()) * table.unit
    return float(
        int(table.numeric_target.numerators(table.weight, table.unit).sum())
        * table.numeric_target.unit
        / total
    )
