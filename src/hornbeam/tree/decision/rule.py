"""The decision rule: from class probabilities to one class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError
from hornbeam.tree.arrays import read_only
from hornbeam.tree.decision.costs import Costs
from hornbeam.typing import Floats, Label

__all__ = ["DecisionRule"]


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
