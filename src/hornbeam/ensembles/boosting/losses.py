"""Losses: initial score, negative gradients and hessians, leaf values, and predictions from scores.

Scores are of shape (n_outputs, n_rows). The sum of the negative gradients of some rows over the sum of their hessians
is a Newton step.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_number
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.growing.leafwise import GrownTree
from hornbeam.kernels.elementary import exp, log
from hornbeam.kernels.leafwise import log_loss_gradients, softmax_gradients
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


@runtime_checkable
class Loss(Protocol):
    """A loss that boosting minimises; a subclass has gradients and losses of rows, the rest has defaults.

    Scores are sums over trees. The defaults are for one score per row that is the prediction itself; a loss with other
    scores, such as logarithms of a mean, has its own `predict` and `scores_of`.

    Examples
    --------
    Huber's loss, quadratic near 0 and linear far away:

    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_diabetes
    >>> from hornbeam import BoostedTreesRegressor
    >>> @dataclass(frozen=True)
    ... class Huber(Loss):
    ...     delta: float = 50.0
    ...
    ...     def negative_gradients(self, scores, target):
    ...         return np.clip(target - scores, -self.delta, self.delta), None
    ...
    ...     def row_losses(self, scores, target):
    ...         r = np.abs(target - scores[0])
    ...         return np.where(r < self.delta, r**2 / 2, self.delta * (r - self.delta / 2))
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = BoostedTreesRegressor(loss=Huber(), n_estimators=20).fit(X[::2], y[::2])
    >>> round(reg.score(X[1::2], y[1::2]), 2)
    0.38
    """

    __slots__ = ()
    max_score: ClassVar[float] = 1e150  #: largest absolute score that gradients can be computed from
    allows_monotone: ClassVar[bool] = True  #: whether leaf values keep to monotone constraints

    @property
    def n_outputs(self) -> int:
        """Scores per row, and trees per round."""
        return 1

    def initial_score(self, table: Table) -> Floats:
        """Compute the score of each output before the first round: that of the mean of the target."""
        score: Floats = self.scores_of(np.array([[_mean(table)]]))[:, 0]
        return score

    @abstractmethod
    def negative_gradients(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats | None]:
        """Compute negative gradient and hessian, of shape (n_outputs, n_rows) as `scores`; None for hessians of 1."""

    @abstractmethod
    def row_losses(self, scores: Floats, target: NDArray[Any]) -> Floats:
        """Compute the loss of each row, for early stopping."""

    def leaf_values(self, inputs: LeafInputs) -> Floats:
        """Compute the value of each node of a tree, before the learning rate: a Newton step."""
        return inputs.grown.newton(inputs.ridge)

    def predict(self, scores: Floats) -> Floats:
        """Turn scores into predictions of shape (n_rows, n_classes), or (n_rows, 1) for regression."""
        return scores.T

    def scores_of(self, predictions: Floats) -> Floats:
        """Turn predictions of another model into scores; the inverse of `predict`."""
        return np.ascontiguousarray(predictions.T)


@dataclass(frozen=True, slots=True)
class SquaredError(Loss):
    """Half the squared error: negative gradients are residuals, and a Newton step is their mean.

    Examples
    --------
    >>> SquaredError().negative_gradients(np.array([[1.0, 1.0]]), np.array([3.0, 0.5]))
    (array([[ 2. , -0.5]]), None)
    """

    def negative_gradients(self, scores: Floats, target: Floats) -> tuple[Floats, None]:
        """Compute the residuals."""
        return target - scores, None

    def row_losses(self, scores: Floats, target: Floats) -> Floats:
        """Compute half the squared residuals."""
        half: Floats = np.square(target - scores[0]) / 2
        return half


@dataclass(frozen=True, slots=True)
class Poisson(Loss):
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
    max_score: ClassVar[float] = 300.0  # the logarithm of a mean: its exponential is finite

    def __post_init__(self) -> None:
        check_number("least", self.least, 0, above=True)

    def initial_score(self, table: Table) -> Floats:
        """Compute the logarithm of the mean of the target."""
        assert table.numeric_target is not None
        if table.numeric_target.values.min(initial=0.0) < 0 or not _mean(table) > 0:
            raise DataError(
                "loss='poisson' needs y that is nowhere negative and somewhere positive; found "
                f"{table.numeric_target.values.min():g} to {table.numeric_target.values.max():g}. Pass another loss."
            )
        return Loss.initial_score(self, table)

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
class BinaryLogLoss(Loss):
    """Log loss of two classes; a score is the log-odds of the second."""

    def initial_score(self, table: Table) -> Floats:
        """Compute the log-odds of all rows."""
        logarithm = log(_class_shares(table))
        return logarithm[1:] - logarithm[:1]

    def negative_gradients(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats]:
        """Compute the class indicator minus the probability p, and p (1 - p)."""
        return log_loss_gradients(np.ascontiguousarray(scores), np.asarray(target, np.int32))

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
class SoftmaxLoss(Loss):
    """Log loss of several classes, with a score for each.

    The hessian is K / (K - 1) times p (1 - p), so that a leaf is (K - 1) / K times the sum of negative gradients over
    that of p (1 - p): Friedman, Greedy function approximation, 2001, equation 32.
    """

    n_classes: int

    @property
    def n_outputs(self) -> int:
        """A score for each class."""
        return self.n_classes

    def initial_score(self, table: Table) -> Floats:
        """Compute the logarithms of the class shares."""
        return log(_class_shares(table))

    def negative_gradients(self, scores: Floats, target: NDArray[Any]) -> tuple[Floats, Floats]:
        """Compute the class indicators minus the probabilities p, and K / (K - 1) times p (1 - p)."""
        factor = self.n_classes / max(1, self.n_classes - 1)
        return softmax_gradients(np.ascontiguousarray(scores), np.asarray(target, np.int32), factor)

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
