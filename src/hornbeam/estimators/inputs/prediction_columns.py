"""Predictions as named columns, for files: what `predict_to` and ``hornbeam predict`` write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hornbeam.checks import check_flags, check_whole
from hornbeam.data.files.parquet_writer import CodedColumn
from hornbeam.data.table import Table
from hornbeam.tree.route import decide_rows, predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats, Indices, Label

_MOST_REASONS = 1_000


class PredictionColumns(Protocol):
    """Protocol: a picklable function from a table to named columns of predictions."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What the columns depend on, as plain values: the digest of the model, and options."""
        ...

    def __call__(self, table: Table) -> Mapping[str, Any]:
        """Predict the rows of a table."""
        ...


def class_columns(classes: Sequence[Label], codes: Any, probability: Sequence[Floats]) -> dict[str, Any]:
    """Return the columns of class predictions: ``prediction``, and ``p_<class>`` of each class.

    Examples
    --------
    >>> found = class_columns(("no", "yes"), np.array([1]), [np.array([0.25]), np.array([0.75])])
    >>> {name: column.tolist() for name, column in found.items()}
    {'prediction': ['yes'], 'p_no': [0.25], 'p_yes': [0.75]}
    """
    columns: dict[str, Any] = {"prediction": CodedColumn(codes, classes)}
    return columns | {f"p_{label}": one for label, one in zip(classes, probability, strict=True)}


@dataclass(frozen=True, slots=True)
class TreeColumns:
    """Columns of the predictions of one tree; a picklable function of a table.

    Parameters
    ----------
    tree : Tree
    level : float, optional
        Add intervals of this level: ``low_<class>`` and ``high_<class>``; of a mean, ``low`` and ``high``.
    leaf : bool, default False
        Add ``leaf``, the number of the node where the row ends.
    reasons : int, default 0
        Add this number of columns, ``reason_1`` and so on: how far a feature moved the prediction, largest change
        first; missing values where there are fewer.
    quantiles : Tree, optional
        The tree with quantiles (`with_quantiles`): add a column for each, such as ``q10``.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0], [50.0]], ["no", "no", "yes", "yes"])
    >>> columns = TreeColumns(clf.tree_, leaf=True, reasons=1)
    >>> found = columns(Table.read([[36.0]], schema=clf.tree_.schema))
    >>> {name: column.tolist() for name, column in found.items()}
    {'prediction': ['yes'], 'p_no': [0.0], 'p_yes': [1.0], 'leaf': [2],
     'reason_1': ['x0 > 35 moved yes from 0.500 to 1.000']}
    """

    tree: Tree
    level: float | None = None
    leaf: bool = False
    reasons: int = 0
    quantiles: Tree | None = None

    def __post_init__(self) -> None:
        check_flags(leaf=self.leaf)
        check_whole("reasons", self.reasons, 0, _MOST_REASONS)

    @property
    def identity(self) -> dict[str, Any]:
        """The digest of the tree, and the options."""
        options = {"level": self.level, "leaf": self.leaf, "reasons": self.reasons}
        quantiles = {} if self.quantiles is None else {"quantiles": self.quantiles.digest}
        return {"model": self.tree.digest, **options, **quantiles}

    def __call__(self, table: Table) -> dict[str, Any]:
        """Predict the rows of a table."""
        tree, by_node = self.tree, self.tree.predicts_by_node
        nodes = route(tree.skeleton, table) if by_node or self.leaf else np.zeros(0, np.int32)
        if by_node:
            belief = [value.take(nodes) for value in np.ascontiguousarray(tree.belief.T)]
        else:
            belief = list(predict_rows(tree, table).T)
        if tree.is_regression:
            columns: dict[str, Any] = {"prediction": belief[0]}
        else:
            codes = tree.decision(tree.belief)[nodes] if by_node else decide_rows(tree, table)
            columns = class_columns(tree.schema.classes, codes, belief)
        if self.quantiles is not None:
            found = predict_rows(self.quantiles, table).T
            columns |= dict(zip(self.quantiles.schema.number_names[1:], found[1:], strict=True))
        if self.level is not None:
            columns |= self._intervals(table, self.level)
        if self.leaf:
            columns["leaf"] = nodes
        if self.reasons:
            columns |= self._reasons(table, nodes)
        return columns

    def _intervals(self, table: Table, level: float) -> dict[str, Floats]:
        from hornbeam.explain.intervals import predict_interval

        low, high = predict_interval(self.tree, table, level)
        names = [""] if self.tree.is_regression else [f"_{label}" for label in self.tree.schema.classes]
        return {
            f"{side}{name}": bounds[:, code]
            for code, name in enumerate(names)
            for side, bounds in (("low", low), ("high", high))
        }

    def _reasons(self, table: Table, nodes: Indices) -> dict[str, CodedColumn]:
        """Explain one row of those that have the same reasons, or each row if those of a node may differ."""
        from hornbeam.explain.explanation import explain

        rows, of_row = np.arange(table.n_rows), np.arange(table.n_rows)
        if self.tree.predicts_by_node:
            rows, of_row = _same_reasons(table, nodes)
        found = [row.reasons(n=self.reasons) for row in explain(self.tree, table.take(rows))]
        texts = [[*map(str, reasons), *[None] * self.reasons] for reasons in found]
        return {
            f"reason_{at + 1}": CodedColumn(of_row, [text[at] for text in texts])
            for at in range(self.reasons)
        }


def _same_reasons(table: Table, nodes: Indices) -> tuple[Any, Any]:
    """Group rows that end at the same node and miss the same values, which a reason mentions.

    Returns the first row of each group, and the group of each row.
    """
    key = nodes.astype(np.int64)
    for column in table.columns:
        absent = np.isnan(column).astype(np.int64) if column.dtype.kind == "f" else -np.minimum(column, 0)
        if absent.any() and not absent.all():
            _, key = np.unique(3 * key + absent, return_inverse=True)
    _, rows, of_row = np.unique(key, return_index=True, return_inverse=True)
    return rows, of_row
