"""Scores of a tree on the rows of a source.

Rows that end at the same node have the same prediction, unless its leaves have slopes. So the scores follow from the
class counts of the nodes, which are integers and do not depend on the engine or the grouping of rows.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add, itemgetter
from typing import Any

import numpy as np

from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.rows import open_rows
from hornbeam.data.sources import Partition, Source
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation.calibration import ReliabilityCurve, reliability_curve
from hornbeam.evaluation.scores import ScoreSums
from hornbeam.tree.evidence.count import count_at_nodes
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree, unsmoothed
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Counts, Floats, Label


def score_tree(tree: Tree | HasTree, source: Any, engine: Engine | None = None) -> ScoreSums:
    """Score the predictions of a tree for all rows of a source.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
    source : Source or Table
        Rows of the tree's schema, with their target.
    engine : Engine, optional
        Counts the rows; default: this thread. The scores do not depend on it.

    Returns
    -------
    ScoreSums
        With `log_loss`, `brier_score`, `rmse`, `zero_one_loss` and `calibration_error`; `bins` is the calibration
        table of the most probable class.

    Notes
    -----
    If the tree sends missing values to every child, the prediction for a row is a mixture of leaves; if leaves have
    slopes, it depends on the values of the row. Then every row is predicted, and the sums of the partitions are added
    in their order.

    Examples
    --------
    >>> from hornbeam.data import MemorySource, Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> score_tree(PRESETS["cart"].fit(table), MemorySource(table)).brier_score
    0.0
    """
    tree, source = _tree_and_rows(tree, source)
    engine = LocalEngine() if engine is None else engine
    if not tree.predicts_by_node:
        [partition_sums] = engine.reduce(_score_partitions, source.partitions(), (tree, source))
        if not partition_sums:
            raise _no_rows_error()
        return reduce(add, (sums for _, sums in sorted(partition_sums, key=itemgetter(0))))  # type: ignore[no-any-return]
    weight, _ = _rows_per_node(tree, source, engine)
    node, code = np.nonzero(weight)
    return ScoreSums.of(
        code, tree.belief[node], labels=range(tree.n_classes), sample_weight=weight[node, code]
    )


def tree_reliability(
    tree: Tree | HasTree,
    source: Any,
    label: Label,
    engine: Engine | None = None,
    *,
    n_bins: int = 10,
    level: float = 0.95,
) -> ReliabilityCurve:
    """Compare the predicted probability of one class with its frequency in the rows of a source.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
    source : Source or Table
        Rows of the tree's schema, with their target.
    label : label
        The class.
    engine : Engine, optional
        Counts the rows; default: this thread. The curve does not depend on it.
    n_bins, level
        As in `reliability_curve`.

    Returns
    -------
    ReliabilityCurve
        With weights, all rows of a node are assumed to have the same weight.

    Examples
    --------
    >>> from hornbeam.data import MemorySource, Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> curve = tree_reliability(PRESETS["cart"].fit(table), MemorySource(table), "b")
    >>> curve.predicted.tolist(), curve.observed.tolist()
    ([0.0, 1.0], [0.0, 1.0])
    """
    tree, source = _tree_and_rows(tree, source)
    if label not in tree.schema.classes:
        raise ParameterError(f"label={label!r}: expected one of the classes, {list(tree.schema.classes)}.")
    if tree.skeleton.is_fractional:
        raise ParameterError(
            "the tree sends missing values to every child, so rows of a node may have different predictions; "
            "expected a tree grown with missing='own' or 'learned'. Pass reliability_curve its predictions."
        )
    if len(tree.slopes):
        raise ParameterError(
            "leaves of the tree have slopes, so rows of a node may have different predictions; expected a tree "
            "without slopes. Pass reliability_curve its predictions."
        )
    weight, rows = _rows_per_node(tree, source, LocalEngine() if engine is None else engine)
    code = tree.schema.classes.index(label)
    total = weight.sum(axis=1)
    class_and_rest = np.stack([weight[:, code], total - weight[:, code]])
    n_rows = np.divide(rows * class_and_rest, total, out=np.zeros(class_and_rest.shape), where=total > 0)
    occurs = class_and_rest > 0
    predicted = np.broadcast_to(tree.belief[:, code], class_and_rest.shape)
    has_class = np.broadcast_to([[True], [False]], class_and_rest.shape)
    return reliability_curve(
        has_class[occurs],
        predicted[occurs],
        n_bins=n_bins,
        level=level,
        sample_weight=class_and_rest[occurs],
        n_rows=n_rows[occurs],
    )


def _tree_and_rows(model: Any, rows: Any) -> tuple[Tree, Source]:
    """Return the tree of a model of classes, and rows with classes as a source."""
    tree = single_tree(model)
    if tree.is_regression:
        raise ParameterError("the target of the tree is numeric; expected a tree of classes.")
    return tree, open_rows(rows, schema=tree.schema, target=tree.schema.target)


def _rows_per_node(tree: Tree, source: Source, engine: Engine) -> tuple[Floats, Counts]:
    """Return the weight of each class, and the number of rows, that end at each node."""
    [(evidence, rows, unit)] = count_at_nodes([tree.skeleton], source, engine)
    if not rows[0]:
        raise _no_rows_error()
    weight = np.multiply(evidence_stopping(tree.skeleton, evidence), unit)
    return weight, evidence_stopping(tree.skeleton, rows)


def _no_rows_error() -> DataError:
    return DataError("the source has no rows; expected at least one to score")


def _score_partitions(
    partitions: Sequence[Partition], shared: tuple[Tree, Source]
) -> list[list[tuple[int, ScoreSums]]]:
    """Compute the sums of each partition, with its first row for the order: a task of the engine."""
    tree, source = shared
    results = []
    for partition in partitions:
        table = source.read(partition)
        assert table.target is not None
        weight = None if table.weight is None else table.weight * table.unit
        sums = ScoreSums.of(
            table.target, predict_rows(tree, table), labels=range(tree.n_classes), sample_weight=weight
        )
        results.append((partition.begin, sums))
    return [results]


def scores_beside_base(tree: Tree, tables: Iterable[Table]) -> dict[str, Any]:
    """Score a tree on rows beside the class shares of its training rows, or beside their mean.

    The result has ``rows``, and the scores of ``model`` and ``base_rate``, or ``model`` and ``mean``. The 0-1 loss and
    the mean cost are those of the decisions.
    """
    parts = [(table.n_rows, *_sums_beside_base(tree, table)) for table in tables]
    n_rows, own, base = (reduce(_added, column) for column in zip(*parts, strict=True))
    if tree.is_regression:
        return {
            "rows": n_rows,
            **{
                name: {
                    "rmse": (squares / n_rows) ** 0.5,
                    "mae": absolute / n_rows,
                    "r2": 1 - squares / base[0] if base[0] else float("nan"),
                }
                for name, (squares, absolute) in (("model", own), ("mean", base))
            },
        }
    measures = ("rmse", "log_loss", "zero_one_loss", "calibration_error")
    result: dict[str, Any] = {"rows": n_rows}
    for name, (sums, wrong, *costs) in (("model", own), ("base_rate", base)):
        result[name] = {measure: getattr(sums, measure) for measure in measures}
        result[name]["zero_one_loss"] = wrong / n_rows
        for cost in costs:
            result[name]["mean_cost"] = cost / n_rows
    return result


def _added(one: Any, other: Any) -> Any:
    return [a + b for a, b in zip(one, other, strict=True)] if isinstance(one, list) else one + other


def _sums_beside_base(tree: Tree, table: Table) -> tuple[list[Any], list[Any]]:
    """Sum losses of rows, of the tree and of the base."""
    predicted = predict_rows(tree, table)
    if table.numeric_target is not None:
        y = table.numeric_target.values
        errors = (y - predicted[:, 0], y - unsmoothed(tree).item(0))
        own, base = ([float((error**2).sum()), float(np.abs(error).sum())] for error in errors)
        return own, base
    rates = np.tile(tree.evidence[0] / tree.evidence[0].sum(), (table.n_rows, 1))
    return _class_sums(tree, table, predicted), _class_sums(tree, table, rates)


def _class_sums(tree: Tree, table: Table, predicted: Floats) -> list[Any]:
    """Sum the scores, wrong decisions and costs of rows."""
    decided, costs = tree.decision(predicted), tree.decision.costs
    sums: list[Any] = [
        ScoreSums.of(table.target, predicted, labels=range(tree.n_classes)),
        float((decided != table.target).sum()),
    ]
    if costs is not None:
        sums.append(float(costs.matrix[table.target, decided].sum()))
    return sums
