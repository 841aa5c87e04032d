"""Numeric targets standardised to mean 1/2 and variance 1/4, so that smoothing of two classes applies to means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.kernels.elementary import log
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.several import roots
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import n_roots
from hornbeam.typing import Floats

_ROUNDING = 2.0**-26  # relative deviation whose square is lost beside the square of the mean
_LEAST = 1e-9  # of the mean of all rows: the least prediction that a deviance distinguishes
_MOST = 1e150  # a larger ratio of deviation and mean has no square
LOSSES = ("squared_error", "poisson", "gamma")


@dataclass(frozen=True, slots=True)
class StandardisedTarget:
    """Mean and standard deviation of a numeric target, and the conversion to two classes.

    A target y becomes ``u = 1/2 + (y - mean) / (2 deviation)``, with mean 1/2 and variance 1/4 as of a fair coin. A row
    counts as u rows of one class and 1 - u of the other. The frequency of the first class is then a standardised mean,
    the squared loss over both classes is a multiple of that of y, and equal probabilities are the mean of all rows. The
    deviation is 1 if all targets are equal, or more if their rounding errors are.
    """

    mean: float | Floats
    deviation: float | Floats

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """Compute mean and deviation of the rows of a tree; of several side by side, for the root of each node."""
        n = n_roots(tree.skeleton)
        each = [cls._of_sums(sums) for sums in tree.evidence[:n] * tree.unit]
        if n == 1:
            return cls(*each[0])
        mean, deviation = np.array(each).T
        root = roots(tree.skeleton)
        return cls(mean[root], deviation[root])

    @classmethod
    def of_all(cls, tree: Tree) -> Self:
        """Compute mean and deviation over the rows of several trees together, side by side."""
        return cls(*cls._of_sums((tree.evidence[: n_roots(tree.skeleton)] * tree.unit).sum(axis=0)))

    @staticmethod
    def _of_sums(sums: Floats) -> tuple[float, float]:
        if sums[0] == 0:
            return 0.0, 1.0
        mean = float(sums[1] / sums[0])
        deviation = float(np.sqrt(max(sums[2] / sums[0] - mean * mean, 0.0)))
        return mean, deviation or max(1.0, abs(mean) * _ROUNDING)

    def shares(self, weight: Floats, total: Floats) -> Floats:
        """Rows of both classes, from weights and weighted sums of y."""
        above = 0.5 * weight + (total - self.mean * weight) / (2 * self.deviation)
        return np.column_stack((weight - above, above))

    def of_tree(self, tree: Tree) -> Floats:
        """Evidence of every node as rows of both classes."""
        rows = tree.evidence * tree.unit
        return self.shares(rows[:, 0], rows[:, 1])

    def means(self, share: Floats) -> Floats:
        """Convert frequencies of the second class back to y."""
        y: Floats = (self.mean + (share.T - 0.5) * (2 * self.deviation)).T
        return y

    def seen(self, y: Floats) -> Floats:
        """Scale y so that squared differences are squared losses over both classes."""
        scaled: Floats = ((y.T - self.mean) / (np.sqrt(2) * self.deviation)).T
        return scaled

    def dispersion(self, loss: str) -> float | Floats:
        """Variance of the target divided by that of the distribution of a deviance with the same mean."""
        ratio = np.minimum(self.deviation / np.where(self.mean > 0, self.mean, 1.0), _MOST)
        found: Floats = ratio * (self.deviation if loss == "poisson" else ratio)
        return found

    def relative(self, y: Floats) -> Floats:
        """Divide means by the mean of all rows; none is 0, so that it has a logarithm."""
        return np.maximum(y / np.where(self.mean > 0, self.mean, 1.0), _LEAST)

    def expected_losses(self, y: Floats, loss: str) -> tuple[Floats, Floats, Floats, Floats]:
        """Return four numbers of each prediction y: x, a, b and c.

        A row of a node whose mean, in the same scale, is x has the expected loss ``a + b * x`` if another prediction
        with these a and b is made for it, and c if its own mean is predicted. Losses are half deviances divided by the
        dispersion of all rows: near the mean of all rows they are the squared losses of `seen`.
        """
        if loss == "squared_error":
            z = self.seen(y)
            return z, 1 + z * z, -2 * z, 1 - z * z
        x, ratio = self.relative(y), np.maximum(self.mean, 0.0) / self.deviation
        scale = ratio * ratio  # over the dispersion, in units of the mean
        if loss == "poisson":
            level, slope, own = x, -log(x), x - x * log(x)
        else:
            level, slope, own = log(x), 1 / x, 1 + log(x)
        return x, scale * level, scale * slope, scale * own

    def certainty(self, y: Floats, loss: str) -> Floats:
        """Return the weight of a row of each mean in least squares that lower a deviance: 1 at the mean of all rows."""
        x = self.relative(y)
        return 1 / x if loss == "poisson" else 1 / (x * x)


def impurities(tree: Tree, standard: StandardisedTarget) -> Floats:
    """Compute the variance of each node relative to that of all rows; 1 at the root."""
    impurity: Floats = variances(tree.evidence, tree.unit) / (standard.deviation * standard.deviation)
    return impurity


def loss_of(tree: Tree) -> str:
    """Return the loss that the growth of a regression tree lowered, from its history."""
    grown = [dict(step.parameters).get("criterion") for step in tree.history if step.name == "grow"]
    return next((loss for loss in LOSSES if loss in grown), LOSSES[0])


def expect_classes(tree: Tree, step: str) -> None:
    """Raise `ParameterError` for a regression tree, in a step that needs classes."""
    if tree.is_regression:
        raise ParameterError(
            f"{step} is about classes, and the target of this tree is numeric: expected a classification tree. "
            "Choose another step, or make classes of the target."
        )
