"""Smoothing of several trees by borrowing, and the loss of held-out rows as a function of the strengths."""

from typing import Any

from hornbeam import _native
from hornbeam.typing import Floats, Indices

__all__ = ["STRENGTH_NAMES", "StackedTrees"]

STRENGTH_NAMES = ("scale", "size", "depth", "impurity", "prior", "own")
"""Names of the strengths, in the order of the kernel."""


class StackedTrees:
    """Concatenated trees with their training rows and held-out rows.

    Parameters
    ----------
    parent : int32 array of shape (n,)
        -1 for the roots; every other parent comes before its children.
    evidence : float64 array of shape (n, K)
        Rows of each class.
    held : float64 array of shape (n, K), optional
        Held-out rows of each class that stop at each node.
    impurity : float64 array of shape (n,), optional
        Factor of the strength of that name; default: the entropy of the classes, 1 if all are equally frequent.

    Notes
    -----
    The arrays are copied. The interpreter's lock is released during the calls; threads that use the same object wait
    for each other.

    Examples
    --------
    >>> import numpy as np
    >>> parent = np.array([-1, 0, 0], np.int32)
    >>> trees = StackedTrees(parent, np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 2.0]]))
    >>> belief, borrowed = trees.predict(np.zeros(6))
    >>> belief[1].round(3).tolist(), borrowed.tolist()
    ([0.611, 0.389], [1.0, 2.0, 2.0])
    """

    __slots__ = ("_trees",)

    def __init__(
        self, parent: Indices, evidence: Floats, held: Floats | None = None, impurity: Floats | None = None
    ) -> None:
        self._trees: Any = _native.StackedTrees(parent, evidence, held, impurity)

    def predict(self, strengths: Floats) -> tuple[Floats, Floats]:
        """Return the class probabilities of every node, and the rows that it borrows.

        Examples
        --------
        >>> import numpy as np
        >>> StackedTrees(np.array([-1], np.int32), np.array([[3.0, 0.0]])).predict(np.zeros(6))
        (array([[0.875, 0.125]]), array([1.]))
        """
        belief, borrowed = self._trees.probabilities(strengths)
        return belief, borrowed

    def loss(self, strengths: Floats) -> tuple[float, Floats]:
        """Return the squared loss of the held-out rows, summed over rows and classes, and its derivatives.

        Examples
        --------
        >>> import numpy as np
        >>> trees = StackedTrees(np.array([-1], np.int32), np.array([[3.0, 0.0]]), np.array([[1.0, 1.0]]))
        >>> cost, slope = trees.loss(np.zeros(6))
        >>> cost, slope.round(4).tolist()
        (1.5625, [0.0, 0.0, 0.0, 0.0, -0.2812, 0.309])
        """
        cost, slope = self._trees.loss(strengths)
        return cost, slope
