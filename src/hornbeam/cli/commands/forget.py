"""``hornbeam forget``: remove rows from the evidence of a tree."""

from typing import Any

import click

from hornbeam.cli.commands.update import read_update
from hornbeam.cli.console import common_options, emit, message
from hornbeam.cli.rows import FilePath, data_argument, model_argument, reading, target_option, weight_option


@click.command(short_help="Remove rows from the counts of a tree.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=FilePath(), help="The new model file.")
@weight_option
@reading
@common_options
def forget(
    model: str, data: str, target: str, output: str, weight: str | None, text: dict[str, Any], **_: Any
) -> None:
    """Remove the rows of DATA from the evidence of MODEL, and save it, as after a request to delete data.

    The counts are then those of the other rows; the splits, which the removed rows helped to choose, do not change.

    \b
    hornbeam forget income.hornbeam deleted.csv --target income -o income-2.hornbeam
    """
    from hornbeam import save

    estimator, (X, y, sample_weight) = read_update(model, data, target, output, weight, text)
    estimator.forget(X, y, sample_weight=sample_weight)
    save(estimator, output)
    emit({"model": output, "digest": estimator.tree_.digest, "removed": X.num_rows})
    message(f"{X.num_rows:,} rows removed, saved as {output}")
