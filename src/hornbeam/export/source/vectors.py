"""Rows with their expected predictions, to ship with exported code as its test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.rows import read_rows
from hornbeam.data.table import Table
from hornbeam.tree.route import decide_rows, predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import plain_label
from hornbeam.typing import Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class TestVectors:
    """Rows with the node where each stops, its probabilities and its class.

    Parameters
    ----------
    table : Table
    nodes : int32 array of shape (n_rows,)
    probabilities : float64 array of shape (n_rows, n_classes)
    decided : intp array of shape (n_rows,)
        The code of the class that the tree's decision rule chooses; 0 for a numeric target.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> vectors = TestVectors.of(clf.tree_, [[0.1], [None]])
    >>> vectors.nodes.tolist(), vectors.probabilities.tolist(), vectors.values()
    ([1, 0], [[0.8, 0.2], [0.5, 0.5]], [[0.1], [None]])
    """

    __test__: ClassVar[bool] = False  # pytest would collect the class by its name

    table: Table
    nodes: Indices
    probabilities: Floats
    decided: NDArray[np.intp]

    @classmethod
    def of(cls, tree: Tree, X: Any) -> Self:
        """Predict every row."""
        table = read_rows(X, schema=tree.schema)
        predicted = predict_rows(tree, table)
        decided = np.zeros(len(predicted), np.intp) if tree.is_regression else decide_rows(tree, table)
        return cls(table, route(tree.skeleton, table), predicted, decided)

    def numbers(self) -> Floats:
        """Convert the rows to numbers: categories to their codes, missing values to NaN, unseen categories to -2."""
        columns = []
        for feature, column in zip(self.table.schema.features, self.table.columns, strict=True):
            missing = (column == -1) & (feature.is_nominal)
            columns.append(np.where(missing, np.nan, column.astype(np.float64)))
        return np.stack(columns, axis=1) if columns else np.empty((len(self.nodes), 0))

    def values(self) -> list[list[Any]]:
        """List the values of the rows: None where missing, a new text for an unseen category."""
        rows: list[list[Any]] = [[] for _ in self.nodes]
        for feature, column in zip(self.table.schema.features, self.numbers().T, strict=True):
            categories = [plain_label(category) for category in feature.categories]
            unknown = _new_text({str(category) for category in categories})
            for row, value in zip(rows, column.tolist(), strict=True):
                if np.isnan(value):
                    row.append(None)
                elif feature.is_numeric:
                    row.append(value)
                else:
                    row.append(categories[int(value)] if value >= 0 else unknown)
        return rows


def _new_text(known: set[str]) -> str:
    text = "?"
    while text in known:
        text += "?"
    return text
