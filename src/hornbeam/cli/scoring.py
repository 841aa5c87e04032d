"""Scores of a model beside those of the base rate."""

from collections.abc import Iterable
from typing import Any

from hornbeam.cli.console import format_table

__all__ = ["format_scores", "scores_of"]

_MEASURES = {
    "rmse": "RMSE",
    "log_loss": "log loss",
    "zero_one_loss": "0-1 loss",
    "calibration_error": "calibration error",
    "mean_cost": "mean cost",
}
_REGRESSION_MEASURES = {"rmse": "RMSE", "mae": "mean absolute error", "r2": "R²"}


def scores_of(model: Any, parts: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Score a model on parts of rows (X, y), beside a prediction of the class shares of training."""
    from hornbeam.data.table import Table

    tree, sums = model.tree, None
    score_sums = _regression_sums if tree.is_regression else _class_sums
    for X, y in parts:
        found = score_sums(model, Table.read(X, y, schema=tree.schema))
        sums = found if sums is None else {name: _added(sums[name], one) for name, one in found.items()}
    assert sums is not None  # there is at least one row
    return _regression_scores(sums) if tree.is_regression else _class_scores(sums)


def _added(one: Any, other: Any) -> Any:
    return [a + b for a, b in zip(one, other, strict=True)] if isinstance(one, list) else one + other


def _class_sums(model: Any, table: Any) -> dict[str, Any]:
    """Sums over rows, of the model and of the base rate: score sums, wrong decisions, costs."""
    import numpy as np

    from hornbeam.evaluation import ScoreSums
    from hornbeam.tree.route import predict_rows

    tree = model.tree
    classes, costs = tree.schema.classes, tree.decision.costs
    base = np.tile(tree.evidence[0] / tree.evidence[0].sum(), (table.n_rows, 1))
    sums: dict[str, Any] = {"rows": table.n_rows}
    for name, predicted in (("model", predict_rows(tree, table)), ("base_rate", base)):
        decided = tree.decision(predicted)
        wrong = float((decided != table.target).sum())
        sums[name] = [ScoreSums.of(table.target, predicted, labels=range(len(classes))), wrong]
        if costs is not None:
            sums[name].append(float(costs.matrix[table.target, decided].sum()))
    return sums


def _class_scores(sums: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"rows": sums["rows"]}
    for name in ("model", "base_rate"):
        score_sums, wrong, *costs = sums[name]
        result[name] = {measure: getattr(score_sums, measure) for measure in list(_MEASURES)[:4]}
        result[name]["zero_one_loss"] = wrong / sums["rows"]  # of decisions, which depend on costs
        for cost in costs:
            result[name]["mean_cost"] = cost / sums["rows"]
    return result


def _regression_sums(model: Any, table: Any) -> dict[str, Any]:
    """The sums of squared and absolute errors, of the model and of the training mean."""
    import numpy as np

    from hornbeam.tree.route import predict_rows
    from hornbeam.tree.tree import unsmoothed

    y, sums = table.numeric_target.values, {"rows": table.n_rows}
    for name, predicted in (
        ("model", predict_rows(model.tree, table)[:, 0]),
        ("mean", unsmoothed(model.tree).item(0)),
    ):
        off = y - predicted
        sums[name] = [float((off**2).sum()), float(np.abs(off).sum())]
    return sums


def _regression_scores(sums: dict[str, Any]) -> dict[str, Any]:
    n_rows, spread = sums["rows"], sums["mean"][0]
    result: dict[str, Any] = {"rows": n_rows}
    for name in ("model", "mean"):
        squares, absolute = sums[name]
        explained = 1 - squares / spread if spread else float("nan")
        result[name] = {"rmse": (squares / n_rows) ** 0.5, "mae": absolute / n_rows, "r2": explained}
    return result


def format_scores(scores: dict[str, Any]) -> str:
    """Format the scores as a table."""
    measures, base = (_REGRESSION_MEASURES, "mean") if "mean" in scores else (_MEASURES, "base_rate")
    digits = ".5g" if "mean" in scores else ".4f"
    rows = [
        [words, f"{scores['model'][name]:{digits}}", f"{scores[base][name]:{digits}}"]
        for name, words in measures.items()
        if name in scores["model"]
    ]
    return format_table([f"{scores['rows']:,} rows", "model", base.replace("_", " ")], rows)
