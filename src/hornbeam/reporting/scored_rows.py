"""Test rows with their predictions, labels and end nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.explain import Drift, drift
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.tree.route import decide_rows, predict_rows
from hornbeam.typing import Bools, Floats, Indices

__all__ = ["ScoredRows"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows with labels and the predictions of a tree.

    Parameters
    ----------
    target : int32 or float64 array of shape (n_rows,)
        The class that observed, or the number.
    predicted : float64 array of shape (n_rows, n_classes)
        The tree's probabilities; of a numeric target its mean, of shape (n_rows, 1).
    decided : intp array of shape (n_rows,)
        The class the model decided for; of a numeric target empty.
    drift : Drift
        The rows, leaf by leaf.
    table : Table
        The rows themselves; the report writes only counts and ranges of them.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> reported = ReportedModel.of(TreeClassifier(smoothing=None).fit([[0], [1]], ["no", "yes"]))
    >>> scored = ScoredRows.of(reported, [[0], [1], [1]], ["no", "no", "yes"])
    >>> scored.predicted.tolist(), scored.confusion.tolist()
    ([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[1, 1], [0, 1]])
    """

    target: Indices | Floats
    predicted: Floats
    decided: NDArray[np.intp]
    drift: Drift
    table: Table

    @classmethod
    def of(cls, reported: ReportedModel, X: Any, y: Any) -> Self:
        """Predict rows with known labels."""
        if X is None or y is None:
            lacking = "y_test" if y is None else "X_test"
            raise DataError(f"{lacking} is None, expected both rows and labels to test with, or neither.")
        table = reported.read(X, y)
        predicted = predict_rows(reported.tree, table)
        if table.numeric_target is not None:
            return cls(
                table.numeric_target.values,
                predicted,
                np.empty(0, np.intp),
                drift(reported.tree, table),
                table,
            )
        assert table.target is not None
        return cls(
            table.target, predicted, decide_rows(reported.tree, table), drift(reported.tree, table), table
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    def observed(self, code: int) -> Bools:
        """Return whether each row has this class."""
        observed: Bools = self.target == code
        return observed

    @property
    def confusion(self) -> NDArray[np.intp]:
        """Rows by observed class and decided class."""
        k = self.predicted.shape[1]
        return np.bincount(self.target * k + self.decided, minlength=k * k).reshape(k, k)
