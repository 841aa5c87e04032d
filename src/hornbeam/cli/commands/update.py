"""``hornbeam update``: add new rows to the evidence of a tree."""

from typing import Any

import click

from hornbeam.cli.console import check_output, common_options, emit, message
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    data_argument,
    model_argument,
    reading,
    target_option,
    weight_option,
)
from hornbeam.errors import DataError


@click.command(short_help="Count new rows on a tree whose tests stay.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=FilePath(), help="The new model file.")
@click.option(
    "--decay", default=1.0, show_default=True, help="What each row counted so far is worth from now on."
)
@weight_option
@reading
@common_options
def update(
    model: str,
    data: str,
    target: str,
    output: str,
    decay: float,
    weight: str | None,
    text: dict[str, Any],
    **_: Any,
) -> None:
    """Add the rows of DATA to the evidence of MODEL, and save it; its splits do not change.

    \b
    hornbeam update income.hornbeam july.csv --target income -o july.hornbeam
    """
    from hornbeam import save

    estimator, (X, y, sample_weight) = read_update(model, data, target, output, weight, text)
    estimator.update(X, y, sample_weight=sample_weight, decay=decay)
    save(estimator, output)
    emit({"model": output, "digest": estimator.tree_.digest, "added": X.num_rows})
    message(f"{X.num_rows:,} rows counted, saved as {output}")


def read_update(
    model: str, data: str, target: str, output: str, weight: str | None, text: dict[str, Any]
) -> tuple[Any, tuple[Any, Any, Any]]:
    """Read a model whose counts are to change, and the rows as `update` takes them."""
    from hornbeam import load
    from hornbeam.tree.unwrap import single_tree

    estimator = load(model)
    if not hasattr(estimator, "update"):
        raise DataError(
            f"{model!r} holds a {type(estimator).__name__}; expected a TreeClassifier or a TreeRegressor: save one."
        )
    check_output(output, model=True)
    return estimator, ModelFile(single_tree(estimator), data, text, target, weight).read().columns
