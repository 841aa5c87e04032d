"""Smoothing of several trees by borrowing, and the loss of held-out rows as a function of the strengths."""

from typing import Any

from hornbeam import _native
from hornbeam.typing import Floats, Indices

__all__ = ["STRENGTH_NAMES", "StackedTrees"]

STRENGTH_NAMES = ("scale", "size", "depth", "impurity", "prior", "own")
"""Names of the strengths, in the order of the kernel."""


class StackedTrees:
    """Concatenated trees with their training rows and held-out rows, by class; the arrays are copied.

    `parent` is -1 for the roots; every other parent comes before its children. `held` are the held-out rows that stop
    at each node. `impurity` is the factor of the strength of that name; default: the entropy of the classes, 1 if all
    are equally frequent. The interpreter's lock is released during the calls; threads that use the same object wait for
    each other.
    """

    __slots__ = ("_trees",)

    def __init__(
        self, parent: Indices, evidence: Floats, held: Floats | None = None, impurity: Floats | None = None
    ) -> None:
        self._trees: Any = _native.StackedTrees(parent, evidence, held, impurity)

    def predict(self, strengths: Floats) -> tuple[Floats, Floats]:
        """Return the class probabilities of every node, and the rows that it borrows."""
        belief, borrowed = self._trees.probabilities(strengths)
        return belief, borrowed

    def loss(self, strengths: Floats) -> tuple[float, Floats]:
        """Return the squared loss of the held-out rows, summed over rows and classes, and its derivatives."""
        cost, slope = self._trees.loss(strengths)
        return cost, slope
