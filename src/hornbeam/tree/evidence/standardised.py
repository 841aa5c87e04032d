"""Numeric targets standardised to mean 1/2 and variance 1/4, so that smoothing of two classes applies to means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.several import roots
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import n_roots
from hornbeam.typing import Floats

_ROUNDING = 2.0**-26  # relative deviation whose square is lost beside the square of the mean


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


def impurities(tree: Tree, standard: StandardisedTarget) -> Floats:
    """Compute the variance of each node relative to that of all rows; 1 at the root."""
    impurity: Floats = variances(tree.evidence, tree.unit) / (standard.deviation * standard.deviation)
    return impurity


def expect_classes(tree: Tree, step: str) -> None:
    """Raise `ParameterError` for a regression tree, in a step that needs classes."""
    if tree.is_regression:
        raise ParameterError(
            f"{step} is about classes, and the target of this tree is numeric: expected a classification tree. "
            "Choose another step, or make classes of the target."
        )
