"""What a mistake costs, and the answer that is expected to cost least."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError, shown
from hornbeam.tree.arrays import read_only
from hornbeam.typing import Floats, Label

__all__ = ["Costs"]

_TOLERANCE = 1e-12  # of expected costs that are equal but for rounding, as a part of the largest cost
_MANNER = "costs[true][predicted], in the order of the classes"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Costs:
    """What it costs to predict one class where another is the true one.

    Parameters
    ----------
    matrix : array-like of shape (K, K) or (n_rows, K, K)
        ``matrix[true][predicted]``, for all rows alike or for each row its own. A negative cost is a benefit.

    See Also
    --------
    Costs.of : costs of pairs of labels.

    Examples
    --------
    To call the second class the first one is five times as bad as the reverse, so a probability of 0.3 is
    enough for the second:

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
        except Exception:  # noqa: BLE001 (whatever the code of a value raises)
            raise ParameterError(
                f"costs={shown(self.matrix)}: expected a matrix of numbers, {_MANNER}."
            ) from None
        if matrix.ndim not in (2, 3) or matrix.shape[-1] != matrix.shape[-2]:
            raise ParameterError(
                f"costs of shape {matrix.shape}: expected a square matrix, {_MANNER}, or one for each row."
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
            A matrix, or ``{(true label, predicted label): cost}``, where a pair that is not named costs 1, and
            nothing if its labels are the same. None: every mistake costs 1.
        classes : sequence of labels
        n_rows : int, optional
            So many rows may have a matrix each; by default there must be one for all.

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
            return cls(_named(costs or {}, list(classes)))
        read = costs if isinstance(costs, cls) else cls(costs)
        k, shape = len(classes), read.matrix.shape
        if shape not in ((k, k), (n_rows, k, k)):
            each = "one matrix for all rows" if n_rows is None else f"{(n_rows, k, k)} for a matrix a row"
            raise ParameterError(f"costs of shape {shape}: expected {(k, k)}, {_MANNER}; or {each}.")
        return read

    def expected(self, belief: Any) -> Floats:
        """Say what each answer is expected to cost, row by row.

        Parameters
        ----------
        belief : array-like of shape (n_rows, K)
            Class probabilities, of this tree or of any other model.

        Returns
        -------
        float64 array of shape (n_rows, K)
            The expected cost of predicting each class.

        Examples
        --------
        >>> Costs([[-2, 1], [5, 0]]).expected([[1, 0], [0.5, 0.5]])
        array([[-2. ,  1. ],
               [ 1.5,  0.5]])
        """
        belief = np.asarray(belief, np.float64)
        found: Floats = np.zeros_like(belief)
        for true in range(belief.shape[1]):  # in their order: the same bits for one row and for many
            found += belief[:, true, None] * self.matrix[..., true, :]
        return found

    def cheapest(self, belief: Any) -> NDArray[np.intp]:
        """Find the answer of least expected cost for each row, the first of equals.

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
        """By how much expected costs may differ and still be equal; of costs that are the same for all rows."""
        return float(_TOLERANCE * np.abs(self.matrix).max())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Costs) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.matrix.shape, (self.matrix + 0.0).tobytes()))  # adding 0 makes -0 the same as 0

    def __repr__(self) -> str:
        if self.matrix.ndim == 3:
            return f"Costs(of {len(self.matrix)} rows and {self.matrix.shape[1]} classes)"
        return f"Costs({self.matrix.tolist()})"

    def __reduce__(self) -> tuple[type[Self], tuple[Floats]]:
        return type(self), (self.matrix,)


def _named(costs: Mapping[Any, Any], classes: list[Label]) -> Floats:
    """The matrix of named pairs; any other mistake costs 1."""
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
        except Exception:  # noqa: BLE001 (whatever the code of a value raises)
            raise ParameterError(f"costs[{pair}] is {shown(cost)}: expected a number.") from None
    return matrix
