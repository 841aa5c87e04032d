"""``hornbeam card``: a model card in Markdown."""

from typing import Any

import click

from hornbeam.cli.report import MOST_ROWS, compared, comparison
from hornbeam.cli.rows import data_argument, model_argument, reading, sample_for, target_option
from hornbeam.cli.screen import deliver, give, manners, say

__all__ = ["card"]


@click.command(short_help="Write a model card in Markdown.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=click.Path(), help="The card, for example CARD.md.")
@click.option("--title", default="Model card", show_default=True, help="Its heading.")
@compared
@reading
@manners
def card(
    model: str,
    data: str,
    target: str,
    output: str,
    title: str,
    positive: str | None,
    groups: str | None,
    earlier: str | None,
    text: dict[str, Any],
    **_: Any,
) -> None:
    """Write a model card about MODEL, with its scores on the rows of DATA.

    \b
    hornbeam card income.hornbeam test.csv --target income -o CARD.md
    """
    from hornbeam import load, model_card

    estimator = load(model)
    tree = getattr(estimator, "tree_", estimator)
    rows, n_all = sample_for(tree, data, text, target, MOST_ROWS)
    if n_all is not None:
        say(f"a sample of {rows.X.num_rows:,} of {n_all:,} rows is scored")
    X = rows.X if earlier is None else rows.table  # which has the columns of both models
    found = comparison(tree, rows, positive, groups, earlier)
    written = model_card(estimator, X, rows.y, title=title, **found)
    deliver(written.encode(), output)
    give({"model": model, "rows": rows.X.num_rows, "output": output})
    say(f"{rows.X.num_rows:,} rows, saved as {output}")
