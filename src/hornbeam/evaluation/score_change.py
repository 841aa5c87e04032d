"""Scores of a tree before and after a change, on the same held-out rows, with standard errors.

Both trees predict the same rows, so the standard error of a difference is that of the mean difference of the rows. It
is smaller than what the errors of the two scores suggest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.fixed_point import unit_scaled
from hornbeam.data.table import Table
from hornbeam.errors import DataError, SchemaError
from hornbeam.evaluation.discrimination import mean_area
from hornbeam.evaluation.scores import losses
from hornbeam.tree.route import decide_rows, predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.typing import Counts, Floats


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score before and after a change."""

    name: str
    before: float
    after: float
    error: float
    in_units: bool = False

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    @property
    def texts(self) -> tuple[str, str, str]:
        """Before, after, and their difference with its standard error, if that is known."""
        digits = ".4g" if self.in_units else ".4f"
        change = f"{self.difference:+{digits}}"
        if not np.isnan(self.error):
            change += f" ± {self.error:{digits}}"
        return f"{self.before:{digits}}", f"{self.after:{digits}}", change

    def __repr__(self) -> str:
        before, after, change = self.texts
        return f"{self.name}: {before} before, {after} after, {change}"


class ScoreChanges(tuple[ScoreChange, ...]):
    """All scores before and after a change; prints a line for each.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> before, after = (TreeClassifier("cart", max_depth=d).fit(X, y).tree_ for d in (1, None))
    >>> score_changes(before, after, Table.read([[30], [60]], ["no", "yes"], schema=before.schema))
    log loss: 0.0000 before, 0.0000 after, +0.0000 ± 0.0000
    Brier score: 0.0000 before, 0.0000 after, +0.0000 ± 0.0000
    accuracy: 1.0000 before, 1.0000 after, +0.0000 ± 0.0000
    area under the curve: 1.0000 before, 1.0000 after, +0.0000
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def score_changes(before: Tree | HasTree, after: Tree | HasTree, table: Table) -> ScoreChanges:
    """Compare the scores of two trees on the same rows.

    Parameters
    ----------
    before, after : Tree, or fitted estimator of one tree
    table : Table
        Rows with targets, read with the schema of both trees; neither tree should be grown from them. If they have
        groups, the standard errors are those of independent groups.

    Returns
    -------
    ScoreChanges
        For classes, the scores of the report: log loss, Brier score, accuracy, area under the curve (for more than two
        classes the mean of one against the rest), and with costs the cost per row. Class weights change decisions, not
        the scores. For a numeric target: the mean squared error.

    Raises
    ------
    SchemaError
        If the rows or the trees differ in columns, categories or classes.
    DataError
        If there are no rows, or they have no target.

    Examples
    --------
    >>> from hornbeam import Table, TreeRegressor
    >>> X, y = [[1], [2], [3], [4]], [1.0, 2.0, 6.0, 7.0]
    >>> before, after = (TreeRegressor("cart", max_depth=depth).fit(X, y).tree_ for depth in (1, 2))
    >>> score_changes(before, after, Table.read([[1], [4]], [1.0, 7.0], schema=before.schema))
    mean squared error: 0.25 before, 0 after, -0.25 ± 0
    """
    if not isinstance(table, Table):
        raise DataError(
            f"the rows are a {type(table).__name__}; expected two trees and a Table with a target. Read rows X and "
            "targets y with Table.read(X, y, schema=tree.schema). For predictions use log_loss(y, p), say."
        )
    first, second = (PredictedRows.of(single_tree(model), table) for model in (before, after))
    return ScoreChanges(first.changes_to(second))


@dataclass(frozen=True, slots=True, eq=False)
class PredictedRows:
    """Rows with targets and the predictions of a tree, to compare several trees without predicting again."""

    tree: Tree
    table: Table
    predicted: Floats
    decided: NDArray[np.intp]

    @classmethod
    def of(cls, tree: Tree, table: Table) -> Self:
        """Predict the rows; the errors are those of `score_changes`."""
        if table.schema != tree.schema:
            raise SchemaError(
                "the trees and the rows differ in columns, categories or classes; expected the same. Read the rows "
                "with Table.read(X, y, schema=tree.schema)."
            )
        if not table.n_rows:
            raise DataError("there are no rows; expected some with a target.")
        if table.target is None and table.numeric_target is None:
            raise DataError("the rows have no target; expected one for each row.")
        decided = np.empty(0, np.intp) if tree.is_regression else decide_rows(tree, table)
        return cls(tree, table, predict_rows(tree, table), decided)

    def changes_to(self, other: PredictedRows) -> Iterator[ScoreChange]:
        """Compare the scores with those of another tree on the same rows, one after the other; the loss is first."""
        table, weight = self.table, self.table.row_weights
        if table.numeric_target is not None:
            y = table.numeric_target.values
            before, after = ((one.predicted[:, 0] - y) ** 2 for one in (self, other))
            yield _change("mean squared error", table, before, after, in_units=True)
            return
        target = table.target
        assert target is not None
        first, second = (losses(one.predicted, one.decided, target) for one in (self, other))
        for name in first:
            yield _change(name, table, first[name], second[name])
        rows_of_class: Counts = np.bincount(target, minlength=self.tree.n_classes)
        rows_of_class = rows_of_class[rows_of_class > 0]  # the area is the mean over the classes with rows
        if len(rows_of_class) > 1:
            (area, influence), (changed, pull) = (
                mean_area(target, one.predicted, weight) for one in (self, other)
            )
            moved = group_sums(pull - influence, table.group)
            error = np.sqrt((moved**2).sum()) / len(target) if rows_of_class.min() > 1 else np.nan
            yield ScoreChange("area under the curve", area, changed, float(error))
        if (costs := self.tree.decision.costs) is not None:
            yield _change(
                "cost per row", table, *(costs.matrix[target, one.decided] for one in (self, other))
            )


def _change(name: str, table: Table, before: Floats, after: Floats, *, in_units: bool = False) -> ScoreChange:
    """Compare weighted means of values of the same rows."""
    weight = table.row_weights
    _, error = mean_and_error(after - before, weight, table.group)
    (first, _), (second, _) = mean_and_error(before, weight), mean_and_error(after, weight)
    return ScoreChange(name, first, second, error, in_units)


def mean_and_error(values: Floats, weight: Floats, group: Counts | None = None) -> tuple[float, float]:
    """Return the weighted mean and its standard error; the error of fewer than two rows is NaN.

    A row of weight 2 counts twice in the mean; in the error it is one observation. Rows of a group are one observation
    together.
    """
    n, total = len(weight), weight.sum()
    # Sums rather than products of vectors: BLAS would start threads, which wait for each other on a busy machine.
    mean = (weight * values).sum() / total if n else np.nan
    deviation = group_sums(weight * (values - mean), group)
    n = len(deviation)
    if n < 2:
        return float(mean), np.nan
    deviation, scale = unit_scaled(deviation)
    error = np.sqrt((deviation**2).sum() * n / (n - 1)) * scale / total
    return float(mean), float(error)


def group_sums(values: Floats, group: Counts | None) -> Floats:
    """Sum values of rows over each group; without groups, return them as they are."""
    if group is None:
        return values
    return np.bincount(np.unique(group, return_inverse=True)[1], values)
