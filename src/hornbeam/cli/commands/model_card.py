"""``hornbeam model-card``: a model card in Markdown."""

from typing import Any

import click

from hornbeam.cli.commands.report import compared, read_report_input
from hornbeam.cli.console import check_output, common_options, emit, message, write_output
from hornbeam.cli.rows import FilePath, data_argument, model_argument, reading, target_option


@click.command("model-card", short_help="Write a model card in Markdown.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=FilePath(), help="The card, for example CARD.md.")
@click.option("--title", default="Model card", show_default=True, help="Its heading.")
@compared
@reading
@common_options
def model_card(
    model: str,
    data: str,
    target: str,
    output: str,
    title: str,
    text: dict[str, Any],
    **options: Any,
) -> None:
    """Write a model card about MODEL, with its scores on the rows of DATA.

    \b
    hornbeam model-card income.hornbeam test.csv --target income -o CARD.md
    """
    from hornbeam import model_card as build_card

    check_output(output)
    inputs = read_report_input(model, data, target, text, **options)
    written = build_card(inputs.model, inputs.X, inputs.y, title=title, **inputs.compared)
    write_output(written.text.encode(), output)
    emit({"model": model, "rows": inputs.n_rows, "output": output})
    message(f"{inputs.n_rows:,} rows, saved as {output}")
