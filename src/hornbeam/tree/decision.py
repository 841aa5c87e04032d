"""Costs and the decision rule: from class probabilities to one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError, shown
from hornbeam.tree.arrays import read_only
from hornbeam.typing import Floats, Label

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DecisionRule:
    """The class of least expected cost; without costs and class weights, the most probable class.

    Parameters
    ----------
    costs : Costs, optional
        Cost of each error. Default: every error costs 1.
    class_weight : float64 array of shape (n_classes,), optional
        Factor of the probability of each class. Default: 1 for all.

    Attributes
    ----------
    loss : Costs or None
        The costs times the class weights: ``class_weight[true] * costs[true][decided]``. None: the most probable class
        is decided.

    Notes
    -----
    The first of tied classes is decided. Expected costs that differ by less than 1e-12 of the largest cost are tied.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.7, 0.3], [0.4, 0.6]])
    >>> DecisionRule()(p), DecisionRule(Costs([[0, 1], [5, 0]]))(p)
    (array([0, 1]), array([1, 1]))
    >>> DecisionRule(class_weight=np.array([1.0, 5.0])).loss
    Costs([[0.0, 1.0], [5.0, 0.0]])
    """

    costs: Costs | None = None
    class_weight: Floats | None = None
    loss: Costs | None = field(init=False)

    def __post_init__(self) -> None:
        weight = self.class_weight
        if weight is not None:
            weight = np.asarray(weight, np.float64)
            if weight.ndim != 1 or not np.isfinite(weight).all() or (weight < 0).any():
                raise ParameterError(
                    f"class_weight is {weight.tolist()!r:.80}: expected a finite number for each class, 0 or more."
                )
            weight = None if (weight == weight[:1]).all() else read_only(weight)
        object.__setattr__(self, "class_weight", weight)
        object.__setattr__(self, "loss", _loss(self.costs, weight))

    @classmethod
    def of(cls, costs: Any, class_weight: Any, classes: Sequence[Label], n_rows: int | None = None) -> Self:
        """Read costs as `Costs.of` does, and class weights in the order of the classes.

        Examples
        --------
        >>> DecisionRule.of({("ill", "well"): 20}, None, ["ill", "well"])
        DecisionRule(costs=Costs([[0.0, 20.0], [1.0, 0.0]]))
        """
        return cls(None if costs is None else Costs.of(costs, classes, n_rows), class_weight)

    @property
    def is_default(self) -> bool:
        """Whether the most probable class is decided."""
        return self.loss is None

    def __call__(self, probabilities: Any) -> NDArray[np.intp]:
        """Return the code of the class decided for each row of probabilities."""
        probabilities = np.asarray(probabilities, np.float64)
        if self.loss is None:
            return np.argmax(probabilities, axis=1)
        return self.loss.cheapest(probabilities)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DecisionRule) and self.loss == other.loss

    def __hash__(self) -> int:
        return hash(self.loss)

    def __repr__(self) -> str:
        parts = [] if self.costs is None else [f"costs={self.costs!r}"]
        if self.class_weight is not None:
            parts.append(f"class_weight={self.class_weight.tolist()}")
        return f"DecisionRule({', '.join(parts)})"

    def __reduce__(self) -> tuple[type[Self], tuple[Costs | None, Floats | None]]:
        return type(self), (self.costs, self.class_weight)


def _loss(costs: Costs | None, weight: Floats | None) -> Costs | None:
    if weight is None:
        return costs
    matrix = 1.0 - np.eye(len(weight)) if costs is None else costs.matrix
    if matrix.shape[-1] != len(weight):
        raise ParameterError(
            f"class_weight has {len(weight)} numbers and costs {matrix.shape[-1]} classes: expected equal numbers."
        )
    return Costs(weight[:, None] * matrix)


def class_code(classes: Sequence[Label], positive: Label) -> int:
    """Return the code of the positive class; `ParameterError` if it is not one of the classes.

    `classes` is empty where the target is numeric.
    """
    known = list(classes)
    if not known:
        raise ParameterError(
            f"positive={positive!r}: the target is numeric and has no classes. Leave `positive` out."
        )
    if positive not in known:
        raise ParameterError(f"positive={positive!r}: expected one of the classes {known}.")
    return known.index(positive)


def class_number(classes: Sequence[Label], positive: Label | None) -> int:
    """Find the position of the class of interest; the last class if `positive` is None."""
    return len(classes) - 1 if positive is None else class_code(classes, positive)


def parse_class(classes: Sequence[Label], text: str) -> Label:
    """Find the label with this text, for command lines: ``"1"`` finds the class 1."""
    spelled = [str(label) for label in classes]
    return classes[class_code(spelled, text)]
