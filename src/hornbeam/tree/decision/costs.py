"""Misclassification costs, and the class of least expected cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError, shown
from hornbeam.tree.arrays import read_only
from hornbeam.typing import Floats, Label

__all__ = ["Costs"]

_TOLERANCE = 1e-12  # relative to the largest cost; smaller differences of expected costs are rounding
_EXPECTED = "costs[true][predicted], in the order of the classes"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Costs:
    """Cost matrix: the cost of predicting one class when another is true.

    Parameters
    ----------
    matrix : array-like of shape (K, K) or (n_rows, K, K)
        ``matrix[true][predicted]``, for all rows or for each row. A negative cost is a benefit.

    See Also
    --------
    Costs.of : costs of pairs of labels.

    Examples
    --------
    Predicting the first class when the second is true costs five times as much as the reverse, so the second class is
    decided at a probability of 0.3:

    >>> costs = Costs([[0, 1], [5, 0]])
    >>> costs.expected([[0.7, 0.3]])
    array([[1.5, 0.7]])
    >>> costs.cheapest([[0.7, 0.3]])
    array([1])
    """

    matrix: Floats

    def __post_init__(self) -> None:
        try:
            matrix = np.array(self.matrix, np.float64)
        except Exception:  # noqa: BLE001 (conversion may raise anything)
            raise ParameterError(
                f"costs={shown(self.matrix)}: expected a matrix of numbers, {_EXPECTED}."
            ) from None
        if matrix.ndim not in (2, 3) or matrix.shape[-1] != matrix.shape[-2]:
            raise ParameterError(
                f"costs of shape {matrix.shape}: expected a square matrix, {_EXPECTED}, or one for each row."
            )
        wrong = np.argwhere(~np.isfinite(matrix))
        if len(wrong):
            at = tuple(wrong[0].tolist())
            raise ParameterError(
                f"costs{''.join(f'[{i}]' for i in at)} is {matrix[at]}: expected finite numbers, below 0 for a "
                "benefit. Give what must never happen a cost far above all others."
            )
        object.__setattr__(self, "matrix", read_only(matrix))

    @classmethod
    def of(cls, costs: Any, classes: Sequence[Label] | NDArray[Any], n_rows: int | None = None) -> Self:
        """Read costs for these classes.

        Parameters
        ----------
        costs : array-like, mapping, Costs or None
            A matrix, or ``{(true label, predicted label): cost}``, where other pairs cost 1, or 0 if the labels are
            equal. None: every error costs 1.
        classes : sequence of labels
        n_rows : int, optional
            Number of rows, if each row may have its own matrix; by default there is one for all rows.

        Raises
        ------
        ParameterError
            If a label is not among the classes, or the shape is not theirs.

        Examples
        --------
        >>> Costs.of({("ill", "well"): 20}, ["ill", "well"])
        Costs([[0.0, 20.0], [1.0, 0.0]])
        """
        if costs is None or isinstance(costs, Mapping):
            return cls(_matrix_of_pairs(costs or {}, list(classes)))
        read = costs if isinstance(costs, cls) else cls(costs)
        k, shape = len(classes), read.matrix.shape
        if shape not in ((k, k), (n_rows, k, k)):
            each = "one matrix for all rows" if n_rows is None else f"{(n_rows, k, k)} for one matrix per row"
            raise ParameterError(f"costs of shape {shape}: expected {(k, k)}, {_EXPECTED}; or {each}.")
        return read

    def expected(self, belief: Any) -> Floats:
        """Compute the expected cost of predicting each class, for each row.

        Parameters
        ----------
        belief : array-like of shape (n_rows, K)
            Class probabilities, of this tree or of any other model.

        Returns
        -------
        float64 array of shape (n_rows, K)

        Examples
        --------
        >>> Costs([[-2, 1], [5, 0]]).expected([[1, 0], [0.5, 0.5]])
        array([[-2. ,  1. ],
               [ 1.5,  0.5]])
        """
        belief = np.asarray(belief, np.float64)
        found: Floats = np.zeros_like(belief)
        for true in range(belief.shape[1]):  # class by class: the same bits for one row and for many
            found += belief[:, true, None] * self.matrix[..., true, :]
        return found

    def cheapest(self, belief: Any) -> NDArray[np.intp]:
        """Find the class of least expected cost for each row; the first of ties.

        Examples
        --------
        >>> Costs([[0, 1], [1, 0]]).cheapest([[0.2, 0.8], [0.5, 0.5]])
        array([1, 0])
        """
        expected = self.expected(belief)
        slack = _TOLERANCE * np.abs(self.matrix).max(axis=(-2, -1))[..., None]
        near = expected <= expected.min(axis=1, keepdims=True) + slack
        return near.argmax(axis=1)

    @property
    def slack(self) -> float:
        """Largest difference of expected costs that counts as a tie, for one matrix."""
        return float(_TOLERANCE * np.abs(self.matrix).max())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Costs) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.matrix.shape, (self.matrix + 0.0).tobytes()))  # + 0.0 turns -0.0 into 0.0

    def __repr__(self) -> str:
        if self.matrix.ndim == 3:
            return f"Costs(of {len(self.matrix)} rows and {self.matrix.shape[1]} classes)"
        return f"Costs({self.matrix.tolist()})"

    def __reduce__(self) -> tuple[type[Self], tuple[Floats]]:
        return type(self), (self.matrix,)


def _matrix_of_pairs(costs: Mapping[Any, Any], classes: list[Label]) -> Floats:
    """Make the matrix of a mapping; other errors cost 1."""
    place = {label: code for code, label in enumerate(classes)}
    matrix = 1.0 - np.eye(len(classes))
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ParameterError(
                f"costs has the key {pair!r}: expected pairs of labels, (true, predicted). "
                f"Write {{{(classes[0], classes[-1])}: 5}}, say."
            )
        for label in pair:
            if label not in place:
                raise ParameterError(
                    f"costs names the label {label!r} in {pair}: expected labels of y, which are {classes}."
                )
        try:
            matrix[place[pair[0]], place[pair[1]]] = cost
        except Exception:  # noqa: BLE001 (conversion may raise anything)
            raise ParameterError(f"costs[{pair}] is {shown(cost)}: expected a number.") from None
    return matrix
