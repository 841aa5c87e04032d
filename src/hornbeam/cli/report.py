"""``hornbeam report``: one page of HTML about a model, to hand on."""

from typing import Any

import click

from hornbeam.cli.rows import data_argument, model_argument, reading, sample_for, target_option
from hornbeam.cli.screen import give, manners, say

__all__ = ["report"]

_MOST_ROWS = 200_000  # of Parquet files with more, so many are drawn: scores have three digits then


@click.command(short_help="Write a page of HTML about a model.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=click.Path(), help="The page, report.html say.")
@reading
@manners
def report(model: str, data: str, target: str, output: str, text: dict[str, Any], **_: Any) -> None:
    """Write one self-contained page about MODEL, with its scores on the rows of DATA.

    \b
    hornbeam report income.hornbeam test.csv --target income -o report.html
    """
    from hornbeam import load
    from hornbeam import report as write_report

    estimator = load(model)
    rows, n_all = sample_for(getattr(estimator, "tree_", estimator), data, text, target, _MOST_ROWS)
    if n_all is not None:
        say(f"a sample of {rows.X.num_rows:,} of {n_all:,} rows is scored")
    write_report(estimator, rows.X, rows.y, output)
    give({"model": model, "rows": rows.X.num_rows, "output": output})
    say(f"{rows.X.num_rows:,} rows, saved as {output}")
