"""``hornbeam report``: one page of HTML about a model."""

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from hornbeam.cli.commands.compare import predict_all, probability_option
from hornbeam.cli.console import check_output, common_options, emit, message, write_output
from hornbeam.cli.roles import no_such_column
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    data_argument,
    engine_of,
    level_option,
    model_argument,
    reading,
    target_option,
)
from hornbeam.errors import DataError

_MOST_ROWS = (
    200_000  # of more rows in Parquet files a sample is compared: enough for three digits of the scores
)


def compared(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for comparisons in a report or a card."""
    for option in (
        click.option(
            "--comparison",
            "models",
            multiple=True,
            metavar="MODEL",
            type=FilePath(),
            help="Another model, of any kind, to compare with; repeatable.",
        ),
        probability_option,
        click.option("--today", metavar="COL", help="A column of DATA with the decisions in use today."),
        click.option("--earlier", metavar="MODEL", type=FilePath(), help="An earlier model to compare with."),
        click.option("--groups", metavar="COL", help="A column of DATA whose groups are compared."),
        click.option(
            "--positive", metavar="CLASS", help="The class of interest; default: the second of two."
        ),
    ):
        command = option(command)
    return command


class ReportInput(NamedTuple):
    """The arguments of `hornbeam.report`: a model, test rows, and what to compare."""

    model: Any
    X: Any
    y: Any
    compared: dict[str, Any]
    n_rows: int


def read_report_input(
    model: str,
    data: str,
    target: str,
    text: dict[str, Any],
    positive: str | None = None,
    groups: str | None = None,
    earlier: str | None = None,
    today: str | None = None,
    models: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
    **_: Any,
) -> ReportInput:
    """Read a model, test rows, and what to compare; many rows of Parquet files stay there, as a source.

    If they are compared by another column or with an earlier model, a sample of them is read.
    """
    from hornbeam import load
    from hornbeam.data.rows import is_source
    from hornbeam.tree.decision import parse_class
    from hornbeam.tree.unwrap import single_tree

    estimator = load(model)
    tree = single_tree(estimator)
    found: dict[str, Any] = {"engine": engine_of(-1)}
    if positive is not None:
        found["positive"] = parse_class(tree.schema.classes, positive)
    if models or columns:
        found["comparison"] = _comparison((model, *models), data, text, target, columns, positive, tree)
    if earlier is None and today is None and groups in (None, *tree.schema.names):
        X, y, _ = ModelFile(tree, data, text, target).open()
        found |= {} if groups is None else {"groups": groups}
        return ReportInput(estimator, X, y, found, X.n_rows if is_source(X) else X.num_rows)
    rows, n_all = ModelFile(tree, data, text, target, keep=None).sample(_MOST_ROWS)
    n_rows = rows.table.num_rows
    if n_all is not None:
        message(f"a sample of {n_rows:,} of {n_all:,} rows is scored")
    if groups is not None:
        if groups not in rows.table.column_names:
            raise DataError(
                f"no column {groups!r} to group by; expected one of {', '.join(rows.table.column_names)}."
            )
        found["groups"] = groups if groups in rows.features else rows.table[groups].to_numpy()
    if today is not None:
        if today not in rows.table.column_names:
            raise no_such_column(today, rows.table.column_names, data)
        spelled = {str(label): label for label in tree.schema.classes}
        found["today"] = [spelled.get(str(label), label) for label in rows.table[today].to_pylist()]
    if earlier is None:
        return ReportInput(estimator, rows.X, rows.y, found, n_rows)
    # The table has the columns of both models.
    return ReportInput(estimator, rows.table, rows.y, found | {"earlier": load(earlier)}, n_rows)


def _comparison(
    paths: tuple[str, ...],
    data: str,
    text: dict[str, Any],
    target: str,
    columns: tuple[str, ...],
    positive: str | None,
    tree: Any,
) -> Any:
    """Compare the model with others, and with columns of probabilities, on the test rows."""
    from hornbeam.evaluation import compare

    if data == "-":
        raise click.UsageError("DATA is read once for each model, so it cannot be -: name a file.")
    rows, predicted, classes, label = predict_all(paths, data, text, target, columns, positive)
    return compare(rows.y, predicted, positive=label, labels=classes, costs=tree.decision.costs)


@click.command(short_help="Write a page of HTML about a model.")
@model_argument
@data_argument
@target_option
@click.option("-o", "--output", required=True, type=FilePath(), help="The page, for example report.html.")
@click.option("--title", default="Report on a decision tree", show_default=True, help="Its heading.")
@level_option
@compared
@click.option(
    "--training",
    type=FilePath(),
    metavar="FILE",
    help="The rows of the fit: shows the splits that competed at each node. Parquet files need not fit memory.",
)
@click.option("--training-weight", metavar="COL", help="The column of row weights in the file of --training.")
@click.option(
    "--stability", is_flag=True, help="Fit again to halves of the rows of --training; shows what changes."
)
@reading
@common_options
def report(
    model: str,
    data: str,
    target: str,
    output: str,
    title: str,
    level: float,
    training: str | None,
    training_weight: str | None,
    stability: bool,
    text: dict[str, Any],
    **options: Any,
) -> None:
    """Write one self-contained page about MODEL, with its scores on the rows of DATA.

    Parquet files of any size are read a part at a time.

    \b
    hornbeam report income.hornbeam test.csv --target income -o report.html
    hornbeam report income.hornbeam test.csv --target income --training train.csv -o report.html
    """
    from hornbeam import report as build_report
    from hornbeam.tree.unwrap import single_tree

    if training_weight is not None and training is None:
        raise click.UsageError("--training-weight COL is a column of --training FILE: name both.")
    check_output(output)
    inputs = read_report_input(model, data, target, text, **options)
    if training is not None:
        file = ModelFile(single_tree(inputs.model), training, text, target, training_weight)
        inputs.compared["training"] = file.open(class_weight=True)
    page = build_report(
        inputs.model, inputs.X, inputs.y, title=title, level=level, stability=stability, **inputs.compared
    )
    write_output(page.text.encode(), output)
    emit({"model": model, "rows": inputs.n_rows, "output": output})
    message(f"{inputs.n_rows:,} rows, saved as {output}")
