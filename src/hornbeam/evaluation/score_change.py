"""Scores of a model before and after a change, on the same held-out rows, with standard errors.

Both models predict the same rows, so the standard error of a difference is that of the mean difference of the rows. It
is smaller than what the errors of the two scores suggest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import SchemaError
from hornbeam.evaluation.discrimination import mean_area
from hornbeam.evaluation.estimates import group_sums, mean_estimate
from hornbeam.evaluation.model_scores import Predictor, Rows
from hornbeam.evaluation.scores import losses
from hornbeam.grid import Result
from hornbeam.tree.decision import Costs
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

_COST = "cost per row"


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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {name: getattr(self, name) for name in ScoreChanges._COLUMNS}

    def __repr__(self) -> str:
        before, after, change = self.texts
        return f"{self.name}: {before} before, {after} after, {change}"


@dataclass(frozen=True, slots=True, repr=False)
class ScoreChanges(Result[ScoreChange]):
    """All scores before and after a change; printed, a line for each.

    Parameters
    ----------
    scores : tuple of ScoreChange
        Each has a `name`, the score `before` and `after`, their `difference`, and its standard `error`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.evaluation import score_changes
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> before, after = (TreeClassifier("cart", max_depth=d).fit(X, y) for d in (1, None))
    >>> score_changes(before, after, [[30], [60]], ["no", "yes"])
    log loss: 0.0000 before, 0.0000 after, +0.0000 ± 0.0000
    Brier score: 0.0000 before, 0.0000 after, +0.0000 ± 0.0000
    accuracy: 1.0000 before, 1.0000 after, +0.0000 ± 0.0000
    area under the curve: 1.0000 before, 1.0000 after, +0.0000
    """

    _COLUMNS: ClassVar = ("name", "before", "after", "difference", "error")
    _ENTRIES: ClassVar = "scores"

    scores: tuple[ScoreChange, ...]

    @property
    def _effect(self) -> str:
        """The change of the loss in words; with costs after that of the cost per row."""
        return "; ".join(f"{one.name} {one.texts[2]}" for one in self._main)

    @property
    def _main(self) -> list[ScoreChange]:
        """The cost per row, if there are costs, and the loss, which is the first score."""
        return [*(one for one in self if one.name == _COST), self[0]]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def score_changes(
    before: Any, after: Any, X: Any, y: Any = None, *, sample_weight: Any = None, groups: Any = None
) -> ScoreChanges:
    """Compare the scores of two models on the same rows.

    Parameters
    ----------
    before, after : fitted classifiers or regressors, or Trees
        Two models of any kind that predict the same classes, or numbers, as in `scores`.
    X : array-like, data frame, path, paths, Source or collection
        Rows that neither model was fitted to.
    y : array-like or str
        The true classes or numbers; of files, the name of their column. None for a Source, which has its own.
    sample_weight : array-like or str, optional
        Weight of each row; of files, the name of the column.
    groups : array-like or str, optional
        The group of each row, such as a patient with several visits: the standard errors are then those of independent
        groups.

    Returns
    -------
    ScoreChanges
        For classes, the scores of the report: log loss, Brier score, accuracy, area under the curve (for more than two
        classes the mean of one against the rest), and with costs of `before` the cost per row. Class weights change
        decisions, not the scores. For a numeric target: the mean squared error.

    Raises
    ------
    SchemaError
        If the models have different classes, or the rows other columns than a model.
    DataError
        If there are no rows, or they have no target.

    See Also
    --------
    compare : Models of any kind, from their probabilities, with intervals.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> X, y = [[1], [2], [3], [4]], [1.0, 2.0, 6.0, 7.0]
    >>> before, after = (TreeRegressor("cart", max_depth=depth).fit(X, y) for depth in (1, 2))
    >>> score_changes(before, after, [[1], [4]], [1.0, 7.0])
    mean squared error: 0.25 before, 0 after, -0.25 ± 0
    """
    models = Predictor.of(before), Predictor.of(after)
    if models[0].classes != models[1].classes:
        known = [list(model.classes) or "a number" for model in models]
        raise SchemaError(f"the models predict {known[0]} and {known[1]}; expected the same classes.")
    rows = {"sample_weight": sample_weight, "groups": groups}
    first, second = (PredictedRows.of_model(model, X, y, **rows) for model in models)
    return ScoreChanges(tuple(first.changes_to(second)))._from_rows(X, y)


@dataclass(frozen=True, slots=True, eq=False)
class PredictedRows:
    """Rows with targets and the predictions of a model, to compare several models without predicting again.

    `decided` has the codes of classes; None if the target is numeric, then `predicted` has one column.
    """

    target: NDArray[Any]
    weight: Floats
    group: NDArray[Any] | None
    predicted: Floats
    decided: NDArray[Any] | None
    costs: Costs | None = None

    @classmethod
    def of(cls, tree: Tree, table: Table) -> Self:
        """Predict the rows of a table."""
        return cls.of_model(Predictor.of(tree), table, None)

    @classmethod
    def of_model(cls, model: Predictor, X: Any, y: Any, **rows: Any) -> Self:
        """Predict rows in any form; those without a weight are left out."""
        parts = model.map(
            partial(_predicted, model), X, y, rows.get("sample_weight"), groups=rows.get("groups")
        )
        target, weight, predicted, decided = (
            np.concatenate(column) for column in zip(*(part[:4] for part in parts), strict=True)
        )
        group = None if parts[0][4] is None else np.concatenate([part[4] for part in parts])
        predicted = predicted.reshape(len(target), -1)
        return cls(target, weight, group, predicted, decided if model.classes else None, model.costs)

    def changes_to(self, other: PredictedRows) -> Iterator[ScoreChange]:
        """Compare the scores with those of another model on the same rows, one after the other; the loss is first."""
        target, weight = self.target, self.weight
        if self.decided is None or other.decided is None:
            before, after = ((one.predicted[:, 0] - target) ** 2 for one in (self, other))
            yield self._change("mean squared error", before, after, in_units=True)
            return
        first = losses(self.predicted, self.decided, target)
        second = losses(other.predicted, other.decided, target)
        for name in first:
            yield self._change(name, first[name], second[name])
        rows_of_class: Counts = np.bincount(target, minlength=self.predicted.shape[1])
        rows_of_class = rows_of_class[rows_of_class > 0]  # the area is the mean over the classes with rows
        if len(rows_of_class) > 1:
            (area, influence), (changed, pull) = (
                mean_area(target, one.predicted, weight) for one in (self, other)
            )
            moved = group_sums(pull - influence, self.group)
            error = np.sqrt((moved**2).sum()) / len(target) if rows_of_class.min() > 1 else np.nan
            yield ScoreChange("area under the curve", area, changed, float(error))
        if self.costs is not None:
            paid = self.costs.matrix
            yield self._change(_COST, paid[target, self.decided], paid[target, other.decided])

    def _change(self, name: str, before: Floats, after: Floats, *, in_units: bool = False) -> ScoreChange:
        """Compare weighted means of values of the same rows."""
        first, second = (mean_estimate(values, self.weight).value for values in (before, after))
        error = mean_estimate(after - before, self.weight).error(self.group)
        return ScoreChange(name, first, second, error, in_units)


def _predicted(model: Predictor, rows: Rows) -> tuple[Any, ...]:
    """Return target, weight, predictions, decisions and groups of the rows that have a weight."""
    decided, predicted = model.predict(rows)
    kept = rows.weight > 0
    group = None if rows.group is None else rows.group[kept]
    return rows.target[kept], rows.weight[kept], predicted[kept], decided[kept], group
