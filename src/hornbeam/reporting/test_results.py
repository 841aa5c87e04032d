"""The test rows, asked: what the tree said of each, what came, and where they stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.explain import Drift, drift
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.tree.route import predict_rows
from hornbeam.typing import Bools, Floats, Indices

__all__ = ["TestResults"]


@dataclass(frozen=True, slots=True, eq=False)
class TestResults:
    """Rows with labels that a tree was asked about.

    Parameters
    ----------
    target : int32 or float64 array of shape (n_rows,)
        The class that came, or the number.
    said : float64 array of shape (n_rows, n_classes)
        The tree's probabilities; of a numeric target its mean, of shape (n_rows, 1).
    named : intp array of shape (n_rows,)
        The class the model decided for; of a numeric target empty.
    drift : Drift
        The rows, leaf by leaf.
    table : Table
        The rows themselves; the report writes only counts and ranges of them.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> subject = ReportedModel.of(TreeClassifier(smoothing=None).fit([[0], [1]], ["no", "yes"]))
    >>> trial = TestResults.of(subject, [[0], [1], [1]], ["no", "no", "yes"])
    >>> trial.said.tolist(), trial.confusion.tolist()
    ([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[1, 1], [0, 1]])
    """

    target: Indices | Floats
    said: Floats
    named: NDArray[np.intp]
    drift: Drift
    table: Table

    @classmethod
    def of(cls, subject: ReportedModel, X: Any, y: Any) -> Self:
        """Ask the tree about rows whose labels are known."""
        if X is None or y is None:
            lacking = "y_test" if y is None else "X_test"
            raise DataError(f"{lacking} is None, expected both rows and labels to test with, or neither.")
        table = subject.read(X, y)
        said = predict_rows(subject.tree, table)
        if table.numeric_target is not None:
            return cls(
                table.numeric_target.values, said, np.empty(0, np.intp), drift(subject.tree, table), table
            )
        assert table.target is not None
        return cls(table.target, said, subject.tree.decision(said), drift(subject.tree, table), table)

    @property
    def n_rows(self) -> int:
        """How many rows were asked about."""
        return len(self.target)

    def came(self, code: int) -> Bools:
        """Return whether each row has this class."""
        came: Bools = self.target == code
        return came

    @property
    def confusion(self) -> NDArray[np.intp]:
        """Rows by the class that came and the class that was named."""
        k = self.said.shape[1]
        return np.bincount(self.target * k + self.named, minlength=k * k).reshape(k, k)
