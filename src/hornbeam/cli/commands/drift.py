"""``hornbeam drift``: whether new rows are distributed like the training rows."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import (
    ModelFile,
    data_argument,
    engine_of,
    jobs_option,
    model_argument,
    reading,
    weight_option,
)

_MOST_LEAVES = 30


@click.command(short_help="Say whether new rows are like those of training.")
@model_argument
@data_argument
@click.option("-t", "--target", metavar="COL", help="The column of class labels, if they are known.")
@click.option(
    "--above", type=float, metavar="PSI", help="End with 1 if the stability index is above, 0.25 say."
)
@weight_option
@jobs_option
@reading
@common_options
def drift(
    model: str,
    data: str,
    target: str | None,
    above: float | None,
    weight: str | None,
    jobs: int,
    text: dict[str, Any],
    **_: Any,
) -> int:
    """Compare the rows of DATA in each leaf of MODEL, and their classes, with the training rows.

    Prints the stability index, then the leaves with the largest terms of it, 30 at most; --json has all leaves.
    Parquet files of any size are read a part at a time.

    \b
    hornbeam drift income.hornbeam july.csv --target income
    hornbeam drift income.hornbeam july.csv --above 0.25 || mail -s drift me
    hornbeam drift income.hornbeam s3://bucket/july --target income
    """
    from hornbeam.data.rows import open_rows
    from hornbeam.explain.drift import drift as drift_of
    from hornbeam.storage.file import read

    tree = read(model).tree
    X, y, sample_weight = ModelFile(tree, data, text, target, weight).open(jobs=jobs)
    found = drift_of(tree, open_rows(X, y, sample_weight, schema=tree.schema), engine_of(jobs))
    index = found.stability_index
    emit(
        {"stability_index": index, "p_value": found.psi_p_value, "leaves": found.to_dict()},
        found.head(_MOST_LEAVES) + ("; --json has all" if len(found) > _MOST_LEAVES else ""),
    )
    return int(above is not None and index > above)
