"""Predictions of leaves with slopes."""

from collections.abc import Callable
from typing import Any

from hornbeam._native import SlopedLeaves as PackedLeaves
from hornbeam.kernels.route import Router, Row, Values
from hornbeam.typing import Floats, Indices

__all__ = ["SlopedLeaves"]


class SlopedLeaves:
    """The terms of the leaves of a router, packed for speed.

    Parameters
    ----------
    router : Router
        Of a tree that sends each row to one node.
    belief : float64 array of shape (n_nodes, n_outputs)
    node, feature, category : int32 arrays of shape (m,)
    low, high, centre : float64 arrays of shape (m,)
    slope : float64 array of shape (m, n_outputs)
        The terms (`hornbeam.tree.Slopes`). Whatever could lead out of the arrays raises `ValueError`.
    regression : bool
        Whether the terms are added to a mean, not to logarithms of probabilities.

    Notes
    -----
    Rows are given as to `Router`. The interpreter's lock is released.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Skeleton
    >>> one, zero = np.ones(1), np.zeros(1, np.int32)
    >>> terms = zero, zero, zero - 1, -one, one, 0 * one, np.array([[2.0]])
    >>> leaves = SlopedLeaves(Skeleton.leaf().router, np.array([[5.0]]), *terms, regression=True)
    >>> leaves.predict_row((0.5,)), leaves.predict_row((7.0,))
    ((6.0,), (7.0,))
    """

    __slots__ = ("_packed",)

    def __init__(
        self,
        router: Router,
        belief: Floats,
        node: Indices,
        feature: Indices,
        category: Indices,
        low: Floats,
        high: Floats,
        centre: Floats,
        slope: Floats,
        *,
        regression: bool,
    ) -> None:
        self._packed: Any = PackedLeaves(
            router._packed, belief, node, feature, category, low, high, centre, slope, regression
        )

    def predict(self, X: Values, out: Floats) -> None:
        """Write the prediction of each row to `out`, of shape (n_rows, n_outputs)."""
        self._packed.fill_predictions(X, out)

    def terms(self, X: Values, out: Floats) -> None:
        """Write the sum of the terms of each row to `out`, of shape (n_rows, n_outputs)."""
        self._packed.fill_terms(X, out)

    def classes(self, X: Values, out: Indices) -> None:
        """Write the first class of the largest score of each row to `out`, an int32 array of shape (n_rows,)."""
        self._packed.fill_classes(X, out)

    @property
    def predict_row(self) -> Callable[[Row], tuple[float, ...]]:
        """A function from one row to its prediction; nominal values are codes, NaN is missing."""
        predict: Callable[[Row], tuple[float, ...]] = self._packed.predict_row
        return predict
