"""``hornbeam score``: scores of a model on rows with labels."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import (
    data_argument,
    model_argument,
    parts_for,
    read_single_tree,
    reading,
    target_option,
)

__all__ = ["score"]


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
    from hornbeam.cli.scoring import format_scores, scores_of

    saved = read_single_tree(model)
    parts = parts_for(saved.tree, data, text, target, keep=())
    scores = scores_of(saved, ((rows.X, rows.y) for rows in parts))
    emit(scores, format_scores(scores))
