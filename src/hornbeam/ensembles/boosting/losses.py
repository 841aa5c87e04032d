"""Losses: where a model of one number starts, where rows pull it, and what its scores mean.

Scores are of shape (n_outputs, n_rows). A pull is minus the gradient of a row's loss; the sum of pulls over the sum of
hessians is a Newton step.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.kernels.elementary import exp, log
from hornbeam.typing import Floats

__all__ = ["BinaryLogLoss", "Loss", "Poisson", "SoftmaxLoss", "SquaredError"]

_RAREST = 1e-15  # the probability of a class without rows


class Loss(Protocol):
    """What boosting must know of a loss."""

    @property
    def n_outputs(self) -> int:
        """Trees grown in each round."""

    def start(self, table: Table) -> Floats:
        """Give the best constant score of each output."""

    def pulls(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats | None]:
        """Give the pull and the hessian of each row on each output; None for hessians of 1."""

    def of_rows(self, scores: Floats, target: NDArray[Any]) -> Floats:
        """Give the loss of each row."""

    def answer(self, scores: Floats) -> Floats:
        """Say what scores mean: of shape (n_rows, n_answers)."""


@dataclass(frozen=True, slots=True)
class SquaredError:
    """Half the squared error: pulls are residuals, and a Newton step is their mean.

    Examples
    --------
    >>> SquaredError().pulls(np.array([[1.0, 1.0]]), np.array([3.0, 0.5]))
    (array([[ 2. , -0.5]]), None)
    """

    n_outputs: ClassVar[int] = 1

    def start(self, table: Table) -> Floats:
        """Start with the mean."""
        return np.array([_mean(table)])

    def pulls(self, scores: Floats, target: Floats) -> tuple[Floats, None]:
        """Pull by the residual."""
        return target - scores, None

    def of_rows(self, scores: Floats, target: Floats) -> Floats:
        """Half the squared residual."""
        half: Floats = np.square(target - scores[0]) / 2
        return half

    def answer(self, scores: Floats) -> Floats:
        """Scores are answers."""
        return scores.T


@dataclass(frozen=True, slots=True)
class Poisson:
    """Poisson deviance of counts, or of anything that is not negative; scores are logarithms of the mean.

    Examples
    --------
    >>> Poisson().pulls(np.array([[0.0, 0.0]]), np.array([3.0, 0.0]))
    (array([[ 2., -1.]]), array([[1., 1.]]))
    """

    n_outputs: ClassVar[int] = 1

    def start(self, table: Table) -> Floats:
        """Start with the logarithm of the mean."""
        assert table.numeric_target is not None
        if table.numeric_target.values.min(initial=0.0) < 0 or not _mean(table) > 0:
            raise DataError(
                "loss='poisson' needs y that is nowhere negative and somewhere positive; found "
                f"{table.numeric_target.values.min():g} to {table.numeric_target.values.max():g}. Pass another loss."
            )
        return log([_mean(table)])

    def pulls(self, scores: Floats, target: Floats) -> tuple[Floats, Floats]:
        """Pull by the residual of the mean, whose hessian is the mean itself."""
        mean = exp(scores)
        return target - mean, mean

    def of_rows(self, scores: Floats, target: Floats) -> Floats:
        """Mean minus y times its logarithm; what only depends on y is left out."""
        loss: Floats = exp(scores[0]) - target * scores[0]
        return loss

    def answer(self, scores: Floats) -> Floats:
        """Answer with the mean."""
        return exp(scores.T)


@dataclass(frozen=True, slots=True)
class BinaryLogLoss:
    """Log loss of two classes; a score is the logarithm of the odds of the second.

    Examples
    --------
    >>> pull, hessian = BinaryLogLoss().pulls(np.log([[2.0, 2.0, 2.0]]), np.array([1, 1, 0]))
    >>> pull.round(3), hessian.round(3)
    (array([[ 0.333,  0.333, -0.667]]), array([[0.222, 0.222, 0.222]]))
    """

    n_outputs: ClassVar[int] = 1

    def start(self, table: Table) -> Floats:
        """Start with the odds of all rows."""
        logarithm = log(_shares(table))
        return logarithm[1:] - logarithm[:1]

    def pulls(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats]:
        """Pull by what probability is lacking."""
        probability = 1.0 / (1.0 + exp(-scores))
        return target - probability, probability * (1.0 - probability)

    def of_rows(self, scores: Floats, target: NDArray[Any]) -> Floats:
        """Minus the logarithm of the probability of the class."""
        against = np.where(target == 1, -scores[0], scores[0])
        loss: Floats = np.maximum(against, 0.0) + log(1.0 + exp(-np.abs(against)))
        return loss

    def answer(self, scores: Floats) -> Floats:
        """Answer with the probabilities of both classes."""
        probability = 1.0 / (1.0 + exp(-scores[0]))
        return np.column_stack([1.0 - probability, probability])


@dataclass(frozen=True, slots=True)
class SoftmaxLoss:
    """Log loss of several classes, with a score for each.

    Parameters
    ----------
    n_outputs : int
        Classes.

    Notes
    -----
    The hessian is K / (K - 1) times p (1 - p), so that a leaf is (K - 1) / K times the sum of pulls over that of
    p (1 - p): Friedman, Greedy function approximation, 2001, equation 32.

    Examples
    --------
    >>> pull, hessian = SoftmaxLoss(3).pulls(np.zeros((3, 1)), np.array([1]))
    >>> pull.round(3).ravel(), hessian.round(3).ravel()
    (array([-0.333,  0.667, -0.333]), array([0.333, 0.333, 0.333]))
    """

    n_outputs: int

    def start(self, table: Table) -> Floats:
        """Start with the logarithms of the shares of the classes."""
        return log(_shares(table))

    def pulls(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats]:
        """Pull by what probability is lacking."""
        probability = _softmax(scores)
        pull = -probability
        pull[target, np.arange(len(target))] += 1.0
        factor = self.n_outputs / max(1, self.n_outputs - 1)
        return pull, factor * probability * (1.0 - probability)

    def of_rows(self, scores: Floats, target: NDArray[Any]) -> Floats:
        """Minus the logarithm of the probability of the class."""
        least = scores - scores.max(axis=0)
        loss: Floats = log(_sum(exp(least))) - least[target, np.arange(len(target))]
        return loss

    def answer(self, scores: Floats) -> Floats:
        """Answer with the probabilities of all classes."""
        return _softmax(scores).T


def _softmax(scores: Floats) -> Floats:
    raised = exp(scores - scores.max(axis=0))
    return raised / _sum(raised)


def _sum(raised: Floats) -> Floats:
    """Add up the classes one after the other."""
    total: Floats = np.add.accumulate(raised)[-1]
    return total


def _shares(table: Table) -> Floats:
    """The share of each class among all rows, by weight; sums of integers, in any order the same."""
    assert table.target is not None
    counts = np.zeros(table.schema.n_classes, np.int64)
    np.add.at(counts, table.target, 1 if table.weight is None else table.weight)
    return np.maximum(counts / counts.sum(), _RAREST)


def _mean(table: Table) -> float:
    """The mean of a numeric target, by weight, from a sum of integers."""
    assert table.numeric_target is not None
    total = table.n_rows if table.weight is None else int(table.weight.sum()) * table.unit
    return float(
        int(table.numeric_target.numerators(table.weight, table.unit).sum())
        * table.numeric_target.unit
        / total
    )
