"""``hornbeam drift``: whether new rows are distributed like the training rows."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import data_argument, model_argument, reading, rows_for

__all__ = ["drift"]


@click.command(short_help="Say whether new rows are like those of training.")
@model_argument
@data_argument
@click.option("-t", "--target", metavar="COL", help="The column of class labels, if they are known.")
@click.option(
    "--above", type=float, metavar="PSI", help="End with 1 if the stability index is above, 0.25 say."
)
@reading
@common_options
def drift(
    model: str, data: str, target: str | None, above: float | None, text: dict[str, Any], **_: Any
) -> int:
    """Compare the rows of DATA in each leaf of MODEL, and their classes, with the training rows.

    \b
    hornbeam drift income.hornbeam july.csv --target income
    hornbeam drift income.hornbeam july.csv --above 0.25 || mail -s drift me
    """
    from hornbeam.data.table import Table
    from hornbeam.explain import drift as drift_of
    from hornbeam.storage import read

    tree = read(model).tree
    rows = rows_for(tree, data, text, target, keep=())
    found = drift_of(tree, Table.read(rows.X, rows.y, schema=tree.schema))
    index = found.stability_index
    emit(
        {"stability_index": index, "p_value": found.psi_p_value, "leaves": found.to_dict()},
        repr(found),
    )
    return int(above is not None and index > above)
