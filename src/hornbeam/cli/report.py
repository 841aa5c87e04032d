"""``hornbeam report``: one page of HTML about a model."""

from collections.abc import Callable
from typing import Any

import click

from hornbeam.cli.rows import Rows, data_argument, model_argument, reading, sample_for, target_option
from hornbeam.cli.screen import give, manners, say
from hornbeam.errors import DataError

__all__ = ["MOST_ROWS", "compared", "comparison", "report"]

MOST_ROWS = 200_000  # of Parquet files with more, so many are drawn: scores have three digits then


def compared(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of what is compared in a report or a card."""
    for option in (
        click.option(
            "--earlier", metavar="MODEL", type=click.Path(), help="An earlier model to compare with."
        ),
        click.option("--groups", metavar="COL", help="A column of DATA whose groups are compared."),
        click.option(
            "--positive", metavar="CLASS", help="The class of interest; default: the second of two."
        ),
    ):
        command = option(command)
    return command


def comparison(
    tree: Any, rows: Rows, positive: str | None, groups: str | None, earlier: str | None
) -> dict[str, Any]:
    """Read what is compared, as `hornbeam.report` takes it."""
    from hornbeam import load
    from hornbeam.tree.positive import spelled_class

    found: dict[str, Any] = {}
    if positive is not None:
        found["positive"] = spelled_class(tree.schema.classes, positive)
    if groups is not None:
        if groups not in rows.table.column_names:
            raise DataError(
                f"no column {groups!r} to group by; expected one of {', '.join(rows.table.column_names)}."
            )
        found["groups"] = groups if groups in rows.X.column_names else rows.table[groups].to_numpy()
    if earlier is not None:
        found["earlier"] = load(earlier)
    return found


@click.command(short_help="Write a page of HTML about a model.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=click.Path(), help="The page, for example report.html.")
@compared
@reading
@manners
def report(
    model: str,
    data: str,
    target: str,
    output: str,
    positive: str | None,
    groups: str | None,
    earlier: str | None,
    text: dict[str, Any],
    **_: Any,
) -> None:
    """Write one self-contained page about MODEL, with its scores on the rows of DATA.

    \b
    hornbeam report income.hornbeam test.csv --target income -o report.html
    """
    from hornbeam import load
    from hornbeam import report as write_report

    estimator = load(model)
    tree = getattr(estimator, "tree_", estimator)
    rows, n_all = sample_for(tree, data, text, target, MOST_ROWS)
    if n_all is not None:
        say(f"a sample of {rows.X.num_rows:,} of {n_all:,} rows is scored")
    X = rows.X if earlier is None else rows.table  # which has the columns of both models
    write_report(estimator, X, rows.y, output, **comparison(tree, rows, positive, groups, earlier))
    give({"model": model, "rows": rows.X.num_rows, "output": output})
    say(f"{rows.X.num_rows:,} rows, saved as {output}")
