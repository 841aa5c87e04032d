"""``hornbeam scorecard``: a model of two classes as points."""

from pathlib import Path
from typing import Any

import click

from hornbeam.cli.console import common_options, json_text, message, write_output
from hornbeam.cli.rows import FilePath, model_argument, positive_option, read_single_tree

_ENDS = {".md": "markdown", ".html": "html", ".json": "json", ".sql": "sql", ".csv": "csv"}


@click.command(short_help="Write a model of two classes as points.")
@model_argument
@click.option(
    "--to",
    type=click.Choice(list(_ENDS.values())),
    help="The form; default: as the output's name ends, else markdown. sql: a query for the points of rows.",
)
@click.option("-o", "--output", default="-", type=FilePath(allow_dash=True), help="Default: stdout.")
@positive_option
@click.option("--base-points", type=float, default=600, show_default=True, help="Points at the base odds.")
@click.option(
    "--base-odds",
    type=float,
    default=50,
    show_default=True,
    help="Probability of --positive divided by that of the other class.",
)
@click.option(
    "--points-to-double", type=float, default=20, show_default=True, help="Points that double the odds."
)
@click.option("--bins", is_flag=True, help="Points of bins of a number instead of points per step.")
@click.option(
    "--dialect", metavar="NAME", help="sql: duckdb (default), sqlite, postgres, snowflake, spark, ..."
)
@click.option("--table", metavar="NAME", help="sql: the table to read; default rows.")
@click.option(
    "--reasons", type=click.IntRange(0, 50), metavar="N", help="sql: columns with up to N reasons for a row."
)
@common_options
def scorecard(
    model: str,
    to: str | None,
    output: str,
    positive: str | None,
    dialect: str | None,
    table: str | None,
    reasons: int | None,
    bins: bool,
    as_json: bool,
    quiet: bool,
    **points: float,
) -> None:
    """Write the tree of MODEL as a scorecard: base points of each leaf, and points of each term.

    \b
    hornbeam scorecard loans.hornbeam --positive good
    hornbeam scorecard loans.hornbeam --positive good --base-points 500 --points-to-double 50 -o card.html
    hornbeam scorecard loans.hornbeam --bins -o card.csv
    hornbeam scorecard loans.hornbeam --to sql --dialect sqlite --table loans --reasons 4
    """
    from hornbeam.explain.scorecard import scorecard as scorecard_of
    from hornbeam.tree.decision import parse_class

    del quiet
    form = "json" if as_json else to or _ENDS.get(Path(output).suffix.lower(), "markdown")
    settings: dict[str, Any] = {"dialect": dialect, "table": table, "reasons": reasons}
    given = {name: value for name, value in settings.items() if value is not None}
    if given and form != "sql":
        raise click.UsageError(f"--{min(given)} has no effect with --to {form}.")
    tree = read_single_tree(model).tree
    label = None if positive is None else parse_class(tree.schema.classes, positive)
    card = scorecard_of(tree, positive=label, bins=bins, **points)
    match form:
        case "json":
            numbers = {name: getattr(card, name) for name in ("positive", "offset", "factor")}
            written = json_text({**numbers, "segments": [segment.to_dict() for segment in card]})
        case "sql":
            written = card.to_sql(**given)
        case "html":
            written = card.to_html()
        case "csv":
            written = card.to_csv().removesuffix("\n")
        case _:
            written = card.to_markdown()
    write_output(f"{written}\n".encode(), output)
    if output != "-":
        message(f"{len(card):,} segments, saved as {output}")
