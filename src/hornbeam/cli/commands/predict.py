"""``hornbeam predict``: a class, probabilities and intervals for every row of a file."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from hornbeam.cli.console import common_options, emit, message
from hornbeam.cli.rows import Rows, data_argument, model_argument, parts_for, read_single_tree, reading
from hornbeam.cli.saving import check_output

__all__ = ["predict"]


@click.command(short_help="Answer every row of a file.")
@model_argument
@data_argument
@click.option(
    "-o",
    "--output",
    default="-",
    type=click.Path(allow_dash=True),
    help="A .csv or .parquet file; default: CSV on stdout.",
)
@click.option(
    "--interval", type=click.FloatRange(0, 1, True, True), metavar="LEVEL", help="Add intervals, of .9 say."
)
@click.option("--keep", multiple=True, metavar="COL", help="A column of DATA to carry over; repeatable.")
@click.option("--leaf", is_flag=True, help="Add the node of the tree that answers.")
@reading
@common_options
def predict(model: str, data: str, output: str, text: dict[str, Any], as_json: bool, **options: Any) -> None:
    """Predict the class and the probability of every class, or the mean, for every row of DATA.

    Columns are found by their names; other columns are ignored. The result has `prediction` and for each class
    p_<class>, with --interval also low_<class> and high_<class>; in regression, `prediction`, low and high.

    \b
    hornbeam predict income.hornbeam new.csv -o predictions.csv
    hornbeam predict income.hornbeam new.parquet -o predictions.parquet --interval .9 --keep id
    cat new.csv | hornbeam predict income.hornbeam - | head
    """
    saved, keep = read_single_tree(model), options["keep"]
    check_output(output)
    parts = (
        _columns(saved, rows, keep, options["interval"], options["leaf"])
        for rows in parts_for(saved.tree, data, text, keep=keep)
    )
    if as_json and output == "-":
        _give_json(parts)
        return
    n_rows = _written(parts, output)
    emit({"rows": n_rows, "output": output})
    message(f"{n_rows:,} rows answered" + ("" if output == "-" else f", saved as {output}"))


def _written(parts: Iterator[dict[str, Any]], output: str) -> int:
    """Write the result part by part; an existing file is replaced when the new one is complete."""
    from hornbeam.data.files.atomic_write import open_atomic
    from hornbeam.data.files.tabular import write_parts

    as_parquet = output.endswith(".parquet")
    if output == "-":
        return write_parts(parts, sys.stdout.buffer, as_parquet=False)
    with open_atomic(output) as file:
        return write_parts(parts, file, as_parquet=as_parquet)


def _give_json(parts: Iterator[dict[str, Any]]) -> None:
    lists: dict[str, list[Any]] = {}
    for part in parts:
        for name, column in part.items():
            lists.setdefault(name, []).extend(column if isinstance(column, list) else column.tolist())
    emit({"rows": len(next(iter(lists.values()))), "columns": lists})


def _columns(model: Any, rows: Rows, keep: Sequence[str], level: float | None, leaf: bool) -> dict[str, Any]:
    """The columns of the result for some rows, after the columns to keep."""
    columns = _predictions(model, rows.X, level, leaf)
    clash = set(keep) & columns.keys()
    if clash:
        raise click.UsageError(f"--keep {min(clash)}: the result has a column of this name. Rename yours.")
    return {name: rows.table[name] for name in keep} | columns


def _predictions(model: Any, X: Any, level: float | None, leaf: bool) -> dict[str, Any]:
    """The predictions as columns."""
    from hornbeam.data.table import Table
    from hornbeam.estimators.headless import decide
    from hornbeam.explain import predict_interval
    from hornbeam.tree.route import predict_rows, route

    tree = model.tree
    table = Table.read(X, schema=tree.schema)
    belief = predict_rows(tree, table)
    labels = belief[:, 0] if tree.is_regression else decide(model, belief, table)
    columns: dict[str, Any] = {"prediction": labels}
    for code, label in enumerate(tree.schema.classes):
        columns[f"p_{label}"] = belief[:, code]
    if level is not None:
        low, high = predict_interval(tree, table, level)
        if tree.is_regression:
            columns["low"], columns["high"] = low[:, 0], high[:, 0]
        for code, label in enumerate(tree.schema.classes):
            columns[f"low_{label}"], columns[f"high_{label}"] = low[:, code], high[:, code]
    if leaf:
        columns["leaf"] = route(tree.skeleton, table)
    return columns
