"""``hornbeam update``: new rows for the evidence of an approved tree."""

from typing import Any

import click

from hornbeam.cli.rows import data_argument, model_argument, reading, rows_for, target_option
from hornbeam.cli.saving import check_output
from hornbeam.cli.screen import give, manners, say

__all__ = ["update"]


@click.command(short_help="Count new rows on a tree whose tests stay.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=click.Path(), help="The new model file.")
@click.option(
    "--decay", default=1.0, show_default=True, help="What each row counted so far is worth from now on."
)
@reading
@manners
def update(
    model: str, data: str, target: str, output: str, decay: float, text: dict[str, Any], **_: Any
) -> None:
    """Add the rows of DATA to the evidence of MODEL, and save it; its tests stay as they are.

    \b
    hornbeam update income.hornbeam july.csv --target income -o july.hornbeam
    """
    from hornbeam import load, save

    estimator = load(model)
    check_output(output)
    rows = rows_for(estimator.tree_, data, text, target, keep=())
    estimator.update(rows.X, rows.y, decay=decay)
    save(estimator, output)
    give({"model": output, "digest": estimator.tree_.digest, "added": rows.X.num_rows})
    say(f"{rows.X.num_rows:,} rows counted, saved as {output}")
