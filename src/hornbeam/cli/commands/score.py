"""``hornbeam score``: scores of a model on rows with labels."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit, format_table
from hornbeam.cli.rows import (
    ModelFile,
    data_argument,
    model_argument,
    read_single_tree,
    reading,
    target_option,
)

_MEASURES = {
    "rmse": "RMSE",
    "log_loss": "log loss",
    "zero_one_loss": "0-1 loss",
    "calibration_error": "calibration error",
    "mean_cost": "mean cost",
}
_REGRESSION_MEASURES = {"rmse": "RMSE", "mae": "mean absolute error", "r2": "R²"}


@click.command(short_help="Score a model on labelled rows.")
@model_argument
@data_argument
@target_option
@reading
@common_options
def score(model: str, data: str, target: str, text: dict[str, Any], **_: Any) -> None:
    """Score MODEL on the rows of DATA, beside a prediction of the base rate of the classes.

    All scores are losses, less is better. RMSE is over rows and classes: the root of the Brier score divided by the
    number of classes. A regression model is scored beside the mean of its training rows.

    \b
    hornbeam score income.hornbeam test.csv --target income
    """
    from hornbeam.evaluation.tree_scores import scores_beside_base

    tree = read_single_tree(model).tree
    parts = ModelFile(tree, data, text, target).parts()
    scores = scores_beside_base(tree, (rows.read(schema=tree.schema) for rows in parts))
    emit(scores, format_scores(scores))


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
