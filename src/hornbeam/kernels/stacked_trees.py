"""What a few strengths of borrowing make of a forest, and of the rows held out of it."""

from typing import Any

from hornbeam import _native
from hornbeam.typing import Floats, Indices

__all__ = ["N_STRENGTHS", "StackedTrees"]

N_STRENGTHS = ("scale", "size", "depth", "impurity", "prior", "own")
"""What the strengths are called, in the order the kernel takes them."""


class StackedTrees:
    """Trees one behind the other, with the rows they were grown from and those held out of them.

    Parameters
    ----------
    parent : int32 array of shape (n,)
        -1 for the roots; every other parent comes before its children.
    evidence : float64 array of shape (n, K)
        Rows of each class.
    held : float64 array of shape (n, K), optional
        Held-out rows of each class that stop at each node.
    impurity : float64 array of shape (n,), optional
        What the strength of that name multiplies; default: the entropy of the classes, 1 if all are alike.

    Notes
    -----
    The arrays are copied. The interpreter's lock is released during the sweeps; threads that share an object wait for
    each other.

    Examples
    --------
    >>> import numpy as np
    >>> parent = np.array([-1, 0, 0], np.int32)
    >>> forest = StackedTrees(parent, np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 2.0]]))
    >>> belief, borrowed = forest.believe(np.zeros(6))
    >>> belief[1].round(3).tolist(), borrowed.tolist()
    ([0.611, 0.389], [1.0, 2.0, 2.0])
    """

    __slots__ = ("_forest",)

    def __init__(
        self, parent: Indices, evidence: Floats, held: Floats | None = None, impurity: Floats | None = None
    ) -> None:
        self._forest: Any = _native.Forest(parent, evidence, held, impurity)

    def believe(self, strengths: Floats) -> tuple[Floats, Floats]:
        """Class probabilities of every node, and the rows it borrows for them.

        Examples
        --------
        >>> import numpy as np
        >>> StackedTrees(np.array([-1], np.int32), np.array([[3.0, 0.0]])).believe(np.zeros(6))
        (array([[0.875, 0.125]]), array([1.]))
        """
        belief, borrowed = self._forest.believe(strengths)
        return belief, borrowed

    def loss(self, strengths: Floats) -> tuple[float, Floats]:
        """Squared loss of the held-out rows, summed over rows and classes, and its derivatives.

        Examples
        --------
        >>> import numpy as np
        >>> forest = StackedTrees(np.array([-1], np.int32), np.array([[3.0, 0.0]]), np.array([[1.0, 1.0]]))
        >>> cost, slope = forest.loss(np.zeros(6))
        >>> cost, slope.round(4).tolist()
        (1.5625, [0.0, 0.0, 0.0, 0.0, -0.2812, 0.309])
        """
        cost, slope = self._forest.loss(strengths)
        return cost, slope
