"""Predictions of leaves with slopes."""

from collections.abc import Callable
from typing import Any

from hornbeam._native import SlopedLeaves as PackedLeaves
from hornbeam.kernels.route import Router, Row, Values
from hornbeam.typing import Floats, Indices

__all__ = ["SlopedLeaves"]


class SlopedLeaves:
    """The terms of the leaves of a router, packed for speed; each row goes to one node.

    The terms are those of `hornbeam.tree.Slopes`; whatever could lead out of the arrays raises `ValueError`. In
    regression they are added to a mean, else to logarithms of probabilities. Rows are given as to `Router`. The
    interpreter's lock is released.
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
