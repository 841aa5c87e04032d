"""Scores and the reliability curve of a model of any kind, on rows in memory, in files or in a collection.

Rows in files are predicted partition by partition, and the sums of the partitions are added in their order. So the
scores do not depend on the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.engine import Engine, resolve_engine
from hornbeam.data.labels import read_labels
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.data.rows import is_collection, is_source_like, open_rows
from hornbeam.data.sources import Partition, Source, read_features
from hornbeam.data.table import Table
from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation.refits import is_fitted
from hornbeam.evaluation.scores import ScoreSums, class_codes
from hornbeam.grid import Grid, Result
from hornbeam.tree.decision import Costs, class_number
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import unwrap
from hornbeam.typing import Bools, Floats, Label

_TITLES = {
    "log_loss": "log loss",
    "brier_score": "Brier score",
    "probability_rmse": "RMSE of probabilities",
    "zero_one_loss": "0-1 loss",
    "calibration_error": "calibration error",
    "mean_cost": "mean cost",
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "r2": "R²",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Result[dict[str, Any]]):
    """Scores of a model beside those of a prediction without features; printed, a line per score.

    Parameters
    ----------
    n_rows : int
        Number of rows that were scored.
    model : dict of str to float
        The scores of the model, by name.
    baseline : dict of str to float
        The scores of always predicting the class shares of these rows, or their mean.

    Examples
    --------
    >>> from hornbeam import TreeRegressor
    >>> from hornbeam.evaluation import scores
    >>> X, y = [[1], [2], [3], [4]], [1.0, 2.0, 6.0, 7.0]
    >>> found = scores(TreeRegressor("cart", max_depth=1).fit(X, y), X, y)
    >>> found
    4 rows                 model  baseline
    RMSE                     0.5    2.5495
    mean absolute error      0.5       2.5
    R²                   0.96154         0
    >>> found.model["rmse"]
    0.5
    """

    _COLUMNS: ClassVar = ("score", "model", "baseline")

    n_rows: int
    model: dict[str, float]
    baseline: dict[str, float]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the names of the scores, and the scores of the model and of the baseline."""
        return {
            "score": [*self.model],
            "model": [*self.model.values()],
            "baseline": [self.baseline[name] for name in self.model],
        }

    def _grid(self) -> Grid:
        """Return the table to read: a line per score."""
        digits = ".5g" if "r2" in self.model else ".4f"
        rows = [
            [_TITLES[name], f"{value:{digits}}", f"{self.baseline[name]:{digits}}"]
            for name, value in self.model.items()
        ]
        return Grid("Scores", [f"{self.n_rows:,} rows", "model", "baseline"], rows)


def scores(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, engine: Engine | None = None
) -> Scores:
    """Score the predictions of a model, beside those of a prediction without features.

    Parameters
    ----------
    model : fitted classifier or regressor, or Tree
        Any model of Hornbeam that predicts classes or numbers, or another one with scikit-learn's interface; a search
        and a pipeline too.
    X : array-like, data frame, path, paths, Source or collection
        Rows that are not in the training data. Files, sources and collections need a model of Hornbeam.
    y : array-like or str
        The true classes or numbers; of files, the name of their column. None for a Source, which has its own.
    sample_weight : array-like or str, optional
        Weight of each row; of files, the name of the column.
    engine : Engine, optional
        Reads and predicts rows in files; default: this thread. The scores do not depend on it.

    Returns
    -------
    Scores
        Of classes: ``log_loss``, ``brier_score``, ``probability_rmse`` and ``calibration_error`` of the probabilities,
        as the functions of these names compute them; ``zero_one_loss`` of the decisions of `predict`, and, first of
        all, ``mean_cost`` of these if the model has costs. Less is better. Of a numeric target: ``rmse``, ``mae`` (mean
        absolute error) and ``r2``, as `sklearn.metrics.r2_score`.

    Notes
    -----
    The baseline predicts the class shares of these rows, or their mean, for every row, and decides for the most
    frequent class, or by costs for the cheapest one. It is the same for all models, so scores of several models on the
    same rows can be compared.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = TreeClassifier().fit(X[::2], y[::2])
    >>> scores(clf, X[1::2], y[1::2])
    284 rows                model  baseline
    log loss               0.3328    0.6675
    Brier score            0.1576    0.4746
    RMSE of probabilities  0.2807    0.4871
    0-1 loss               0.0845    0.3873
    calibration error      0.0603    0.0000
    """
    predictor = Predictor.of(model)
    if not predictor.classes:
        return _regression_scores(predictor, X, y, sample_weight, engine)._from_rows(X, y)
    parts = predictor.map(partial(_class_sums, predictor), X, y, sample_weight, engine)
    n_rows = sum(part[0] for part in parts)
    total, confusion = (_added([part[at] for part in parts]) for at in (1, 2))
    shares = confusion.sum(axis=1) / confusion.sum()
    always = shares.argmax() if predictor.costs is None else predictor.costs.cheapest(shares[None])[0]
    base = ScoreSums.of(
        np.arange(len(shares)),
        np.tile(shares, (len(shares), 1)),
        labels=range(len(shares)),
        sample_weight=confusion.sum(axis=1),
    )
    blind = np.zeros_like(confusion)
    blind[:, always] = confusion.sum(axis=1)
    return Scores(
        n_rows,
        *(
            _class_scores(sums, matrix, predictor.costs)
            for sums, matrix in ((total, confusion), (base, blind))
        ),
    )._from_rows(X, y)


class Entries(NamedTuple):
    """Predicted probabilities of one class, each with the outcome, the weight and the squared weights of its rows."""

    p: Floats
    observed: Bools
    weight: Floats
    squares: Floats


def predicted_entries(
    model: Any,
    X: Any,
    y: Any,
    *,
    positive: Label | None = None,
    sample_weight: Any = None,
    engine: Engine | None = None,
) -> tuple[Label, Entries]:
    """Return the class, the last by default, and its predictions; in each part, equal ones are one entry."""
    predictor = Predictor.of(model)
    if not predictor.classes:
        raise ParameterError("This model predicts numbers; expected a classifier.")
    code = class_number(predictor.classes, positive)
    parts = predictor.map(partial(_entries, predictor, code), X, y, sample_weight, engine)
    return predictor.classes[code], Entries(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Rows(NamedTuple):
    """Rows that a model predicts, with the code of their class or their number, their weight and their group."""

    X: Any
    target: NDArray[Any]
    weight: Floats
    group: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """A model that predicts rows; `classes` is empty if the target is numeric."""

    model: Any
    classes: tuple[Label, ...]
    costs: Costs | None = None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Find out what a model predicts; `ParameterError` if it is neither classes nor numbers."""
        inner = unwrap(model).model
        if isinstance(inner, Tree):
            return cls(inner, tuple(inner.schema.classes), inner.decision.costs)
        expected = "expected a fitted classifier or regressor, or a Tree"
        name = type(inner).__name__
        if not hasattr(inner, "predict"):
            raise ParameterError(f"This is a {name} without predict; {expected}.")
        if not is_fitted(inner):
            raise ParameterError(f"This {name} is not fitted; {expected}: call fit first.")
        if hasattr(model, "classes_"):
            if not hasattr(model, "predict_proba"):
                raise ParameterError(
                    f"This is a {name} without predict_proba; {expected}. CalibratedClassifierCV of scikit-learn adds "
                    "probabilities."
                )
            classes = tuple(np.asarray(model.classes_).tolist())
            if hasattr(inner, "tree_") and isinstance(inner.tree_, Tree):
                return cls(model, classes, inner.tree_.decision.costs)
            costs = getattr(inner, "costs", None)
            return cls(model, classes, None if costs is None else Costs.of(costs, classes))
        tags = getattr(inner, "__sklearn_tags__", None)
        if tags is not None and tags().estimator_type != "regressor":
            raise ParameterError(
                f"This is a {name}, which predicts neither classes nor numbers; {expected}. Score a ranker with "
                "hornbeam.evaluation.ndcg."
            )
        return cls(model, ())

    def map(
        self,
        measure: Callable[[Rows], Any],
        X: Any,
        y: Any,
        sample_weight: Any,
        engine: Engine | None = None,
        groups: Any = None,
    ) -> list[Any]:
        """Apply a function to the rows: all of them in memory, else partition by partition, in order."""
        if not (isinstance(X, Table) or is_source_like(X) or is_collection(X)):
            return [measure(self._in_memory(X, y, sample_weight, groups))]
        source, used = self._open(X, y, sample_weight, engine, groups)
        return _over(source, engine, partial(_measure_table, measure, self._schema(), used))

    def predict(self, rows: Rows) -> tuple[NDArray[Any], Floats]:
        """Return the codes of the decided classes and the probabilities, or the predicted numbers twice."""
        decided, predicted = self._predict(rows.X)
        if len(decided) != len(rows.target):
            raise DataError(f"X has {len(decided)} rows and y has {len(rows.target)}; expected as many.")
        return decided, predicted

    def _predict(self, X: Any) -> tuple[NDArray[Any], Floats]:
        if isinstance(self.model, Tree):
            table = X if isinstance(X, Table) else Table.read(X, schema=self.model.schema)
            p = predict_rows(self.model, table)
            return (self.model.decision(p), p) if self.classes else (p[:, 0], p[:, 0])
        decided = np.asarray(self.model.predict(X))
        if not self.classes:
            return decided, np.asarray(decided, np.float64)
        p = np.asarray(self.model.predict_proba(X), np.float64)
        return class_codes(decided, self.classes), p

    def _in_memory(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Rows:
        if y is None:
            raise DataError("y is None; expected the true class or number of each row.")
        target: NDArray[Any]
        if self.classes:
            labels = read_labels(y)
            target = class_codes(labels.classes[labels.codes], self.classes)
        else:
            target = read_numeric_target(y)
        weight = (
            np.ones(len(target)) if sample_weight is None else read_sample_weight(sample_weight, len(target))
        )
        if not weight.any():
            raise DataError("there are no rows with a weight; expected at least one to score.")
        group = None if groups is None else read_labels(groups).codes
        if group is not None and len(group) != len(target):
            raise DataError(f"groups has {len(group)} values; expected {len(target)}, one for each row.")
        return Rows(X, target, weight, group)

    def _open(
        self, X: Any, y: Any, sample_weight: Any, engine: Engine | None, groups: Any = None
    ) -> tuple[Source, Sequence[str]]:
        found = unwrap(self.model)
        if found.before is not None:
            raise ParameterError(f"This is {found.pipeline_error}.")
        inner, schema = found.model, self._schema()
        used = schema.names if isinstance(inner, Tree) else sorted(inner._used_features())
        source = open_rows(
            X,
            y,
            sample_weight,
            groups=groups,
            schema=schema,
            needed=used,
            target_kind=schema.target_kind,
            engine=engine,
        )
        if not source.partitions():
            raise DataError("the source has no rows; expected at least one to score.")
        return source, used

    def _schema(self) -> Any:
        inner = unwrap(self.model).model
        if isinstance(inner, Tree):
            return inner.schema
        if not hasattr(inner, "_open_rows"):
            raise ParameterError(
                f"The rows are not in memory, and this is a {type(inner).__name__}; expected a model of Hornbeam that "
                "reads files. Pass arrays or data frames."
            )
        return inner._schema


def _over(source: Source, engine: Engine | None, measure: Callable[[Source, Partition], Any]) -> list[Any]:
    """Apply a function to each partition, and return the results in the order of the rows."""
    [found] = resolve_engine(engine).reduce(_task, source.partitions(), (measure, source))
    return [result for _, result in sorted(found, key=itemgetter(0))]


def _task(partitions: Sequence[Partition], shared: tuple[Callable[..., Any], Source]) -> list[Any]:
    """Apply a function to each partition of a group: a task of the engine."""
    measure, source = shared
    return [[(partition.begin, measure(source, partition)) for partition in partitions]]


def _measure_table(
    measure: Callable[[Rows], Any], schema: Any, used: Sequence[str], source: Source, partition: Partition
) -> Any:
    table = read_features(source, partition, schema, used)
    return measure(Rows(table, *_targets(table), table.group))


def _targets(table: Table) -> tuple[NDArray[Any], Floats]:
    """Return the codes or numbers, and the weights, of the rows of a table."""
    target = table.target if table.numeric_target is None else table.numeric_target.values
    assert target is not None
    weight = np.ones(len(target)) if table.weight is None else np.multiply(table.weight, table.unit)
    return target, weight


def _class_sums(predictor: Predictor, rows: Rows) -> tuple[int, ScoreSums, Floats]:
    """Return the number of rows, the sums of scores, and the weight by true and decided class."""
    k = len(predictor.classes)
    decided, p = predictor.predict(rows)
    sums = ScoreSums.of(rows.target, p, labels=range(k), sample_weight=rows.weight)
    confusion = np.bincount(rows.target * k + decided, rows.weight, k * k).reshape(k, k)
    return int(np.count_nonzero(rows.weight)), sums, confusion


def _class_scores(sums: ScoreSums, confusion: Floats, costs: Costs | None) -> dict[str, float]:
    total = confusion.sum()
    paid = {} if costs is None else {"mean_cost": float((costs.matrix * confusion).sum() / total)}
    return paid | {
        "log_loss": sums.log_loss,
        "brier_score": sums.brier_score,
        "probability_rmse": sums.rmse,
        "zero_one_loss": float((total - np.trace(confusion)) / total),
        "calibration_error": sums.calibration_error,
    }


def _regression_scores(predictor: Predictor, X: Any, y: Any, weight: Any, engine: Engine | None) -> Scores:
    parts = predictor.map(partial(_error_sums, predictor), X, y, weight, engine)
    n_rows, total, squares, absolute, sum_of_y = (_added(column) for column in zip(*parts, strict=True))
    spread = partial(_spread_sums, sum_of_y / total)
    if isinstance(X, Table) or is_source_like(X) or is_collection(X):
        source, _ = predictor._open(X, y, weight, engine)
        around = _over(source, engine, partial(_measure_target, spread))
    else:
        around = [spread(predictor._in_memory(X, y, weight))]
    base_squares, base_absolute = (_added(column) for column in zip(*around, strict=True))
    return Scores(
        int(n_rows),
        *(
            {
                "rmse": float(np.sqrt(square / total)),
                "mae": float(size / total),
                "r2": float(1.0 - square / base_squares) if base_squares else float("nan"),
            }
            for square, size in ((squares, absolute), (base_squares, base_absolute))
        ),
    )


def _error_sums(predictor: Predictor, rows: Rows) -> tuple[int, float, float, float, float]:
    """Return the number of rows, their weight, and the sums of squared and absolute errors and of the target."""
    weight, error = rows.weight, rows.target - predictor.predict(rows)[1]
    values = (weight, weight * error**2, weight * np.abs(error), weight * rows.target)
    return (int(np.count_nonzero(weight)), *(float(value.sum()) for value in values))  # type: ignore[return-value]


def _spread_sums(mean: float, rows: Rows) -> tuple[float, float]:
    """Return the sums of squared and absolute distances from the mean."""
    distance = rows.target - mean
    return float((rows.weight * distance**2).sum()), float((rows.weight * np.abs(distance)).sum())


def _measure_target(measure: Callable[[Rows], Any], source: Source, partition: Partition) -> Any:
    return measure(Rows(None, *_targets(source.read(partition, []))))


def _entries(predictor: Predictor, code: int, rows: Rows) -> Entries:
    """Add up rows with the same prediction and outcome."""
    values, place = np.unique(predictor.predict(rows)[1][:, code], return_inverse=True)
    cell, n = 2 * place + (rows.target == code), 2 * len(values)
    total, squares = (np.bincount(cell, part, n) for part in (rows.weight, rows.weight**2))
    occurs = total > 0
    observed = np.tile([False, True], len(values))
    return Entries(np.repeat(values, 2)[occurs], observed[occurs], total[occurs], squares[occurs])


def _added(parts: Sequence[Any]) -> Any:
    """Add up in order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
