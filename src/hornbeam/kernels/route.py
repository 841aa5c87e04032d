"""Routing of rows to nodes, the predictions there, and slot maps in int8 where possible."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import _native
from hornbeam.typing import Counts, Floats, Indices

type Values = Floats | Sequence[Floats | Indices]
type Row = Floats | Sequence[float]
type Slots = NDArray[np.signedinteger[Any]]  # int8 or int32
_LARGEST = 126  # so that slot + 1 still fits 8 bits


class Router:
    """The arrays of a skeleton, checked once and packed for speed.

    Whatever could lead a walk out of the arrays raises `ValueError`. Values come as a float64 matrix (rows by features,
    any strides, numeric splits only) or as a list of columns: float64 for numeric and ordinal features (NaN is
    missing), int32 codes for nominal ones (-1 is missing, -2 a category the schema does not know). Columns that no
    split reads are ignored. The interpreter's lock is released, so threads may route slices of the rows at the same
    time.
    """

    __slots__ = ("_packed", "depth", "fractional", "n_features", "n_nodes")

    def __init__(
        self,
        first_child: Indices,
        n_children: Indices,
        feature: Indices,
        threshold: Floats,
        slot_start: Indices,
        slot_of: Indices,
        missing_slot: Indices,
        n_roots: int = 1,
    ) -> None:
        self._packed: Any = _native.Router(
            first_child, n_children, feature, threshold, slot_start, slot_of, missing_slot, n_roots
        )
        self.n_nodes: int = self._packed.n_nodes
        #: Minimum number of features of a row.
        self.n_features: int = self._packed.n_features
        #: Steps of the longest walk.
        self.depth: int = self._packed.depth
        #: Whether some split sends missing values to every child.
        self.fractional: bool = self._packed.fractional

    def nodes(self, X: Values, out: Indices | None = None) -> Indices:
        """Return the node where each row stops: a leaf, or an inner node whose split has no child for the row.

        A missing value that goes to every child stops at the node where it first does so.
        """
        stops = np.empty(_n_rows(X), np.int32) if out is None else out
        self._packed.fill_nodes(X, stops)
        return stops

    def ends(self, X: Values, rows: Counts, start: Indices, out: Indices | None = None) -> Indices:
        """Return the nodes where some rows stop: row ``rows[i]`` from the node ``start[i]`` on."""
        stops = np.empty(len(rows), np.int32) if out is None else out
        self._packed.fill_ends(X, _n_rows(X), rows, start, stops)
        return stops

    def predict(
        self, X: Values, belief: Floats, weight: Floats | None = None, out: Floats | None = None
    ) -> Floats:
        """Return for each row the prediction (belief) of the node where it stops.

        A `fractional` tree needs `weight`, the evidence of each node: a row with a missing value gets the mean of all
        children weighted by it (the node's own prediction if no child has any).
        """
        filled = np.empty((_n_rows(X), belief.shape[1])) if out is None else out
        self._packed.fill_predictions(X, belief, weight, filled)
        return filled

    def node_of_row(self, row: Row) -> int:
        """Return the node where one row stops; nominal values are codes, NaN is missing."""
        stop: int = self._packed.node_of_row(row)
        return stop

    def predict_row(self, row: Row, belief: Floats, weight: Floats | None = None) -> tuple[float, ...]:
        """Return the prediction of one row (see `answers`); nominal values are codes, NaN is missing."""
        prediction: tuple[float, ...] = self._packed.predict_row(row, belief, weight)
        return prediction


def _n_rows(X: Values) -> int:
    if isinstance(X, np.ndarray):
        return len(X)
    if not X:
        raise ValueError("an empty list of columns does not say how many rows there are: pass `out`")
    return len(X[0])


def narrow_slots(slots: Slots) -> Slots:
    """Return slots as int8 if all of them fit, else unchanged."""
    if slots.dtype == np.int8 or (len(slots) and int(slots.max()) > _LARGEST):
        return slots
    return slots.astype(np.int8)


class SlopedTree:
    """The terms of the nodes of a router, packed for speed; each row goes to one node.

    The terms are those of `hornbeam.tree.Slopes`; whatever could lead out of the arrays raises `ValueError`. In
    regression they are added to a mean, else to logarithms of probabilities. Rows are given as to `Router`. The
    interpreter's lock is released.
    """

    __slots__ = ("_packed",)

    def __init__(
        self,
        router: Router,
        parent: Indices,
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
        self._packed: Any = _native.SlopedTree(
            router._packed, parent, belief, node, feature, category, low, high, centre, slope, regression
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
