"""A numeric target on the scale of a coin, so that what is known of two classes holds for means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["StandardisedTarget", "expect_classes", "impurities"]


@dataclass(frozen=True, slots=True)
class StandardisedTarget:
    """Mean and standard deviation of all rows, and numbers seen from there.

    A number y becomes ``u = 1/2 + (y - mean) / (2 deviation)``: mean 1/2 and variance 1/4, as of a fair coin. A row
    is then a part u of one class and 1 - u of another; frequencies are means, and the squared loss over both classes
    is that of y, times a constant. Both classes alike is the mean of all rows: where nothing is known.

    Parameters
    ----------
    mean, deviation : float
        Of all rows; the deviation is 1 where they are all alike.

    Examples
    --------
    >>> standard = StandardisedTarget(mean=10.0, deviation=2.0)
    >>> standard.shares(np.array([3.0]), np.array([36.0])).tolist()
    [[0.0, 3.0]]
    >>> standard.means(np.array([0.5, 1.0])).tolist()
    [10.0, 12.0]
    """

    mean: float
    deviation: float

    @classmethod
    def of(cls, *trees: Tree) -> Self:
        """Take the rows of some trees together.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> StandardisedTarget.of(TreeRegressor("cart").fit([[0], [1]], [2.0, 6.0]).tree_)
        StandardisedTarget(mean=4.0, deviation=2.0)
        """
        roots = np.sum([tree.evidence[0] * tree.unit for tree in trees], axis=0)
        if roots[0] == 0:
            return cls(0.0, 1.0)
        mean = float(roots[1] / roots[0])
        deviation = float(np.sqrt(max(roots[2] / roots[0] - mean * mean, 0.0)))
        return cls(mean, deviation or 1.0)

    def shares(self, weight: Floats, total: Floats) -> Floats:
        """Rows of both classes, given weights and weighted sums of y."""
        above = 0.5 * weight + (total - self.mean * weight) / (2 * self.deviation)
        return np.column_stack((weight - above, above))

    def of_tree(self, tree: Tree) -> Floats:
        """Evidence of every node as rows of both classes."""
        rows = tree.evidence * tree.unit
        return self.shares(rows[:, 0], rows[:, 1])

    def means(self, share: Floats) -> Floats:
        """Return y for shares of the second class."""
        y: Floats = self.mean + (share - 0.5) * (2 * self.deviation)
        return y

    def seen(self, y: Floats) -> Floats:
        """Return y in units in which squared distances are squared losses over both classes."""
        seen: Floats = (y - self.mean) / (np.sqrt(2) * self.deviation)
        return seen


def impurities(tree: Tree, standard: StandardisedTarget) -> Floats:
    """Variance of every node's rows as a part of that of all rows; 1 at the root.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> tree = TreeRegressor("cart").fit([[0], [1], [2]], [2.0, 6.0, 10.0]).tree_
    >>> impurities(tree, StandardisedTarget.of(tree)).round(3).tolist()
    [1.0, 0.0, 0.375, 0.0, 0.0]
    """
    spread: Floats = variances(tree.evidence, tree.unit) / (standard.deviation * standard.deviation)
    return spread


def expect_classes(tree: Tree, who: str) -> None:
    """Refuse a tree of a numeric target where only classes make sense.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> expect_classes(TreeRegressor("cart").fit([[0], [1]], [2.0, 6.0]).tree_, "Laplace's estimate")
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: Laplace's estimate is about classes, and the target of this tree is numeric:
    expected a tree of classes. Choose another step, or make classes of the target.
    """
    if tree.is_regression:
        raise ParameterError(
            f"{who} is about classes, and the target of this tree is numeric: expected a tree of classes. "
            "Choose another step, or make classes of the target."
        )
