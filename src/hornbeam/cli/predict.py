"""``hornbeam predict``: a class, probabilities and intervals for every row of a file."""

from typing import Any

import click

from hornbeam.cli.roles import no_such_column
from hornbeam.cli.rows import data_argument, model_argument, read_answering, reading, rows_for
from hornbeam.cli.screen import deliver, give, manners, say

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
@manners
def predict(model: str, data: str, output: str, text: dict[str, Any], as_json: bool, **options: Any) -> None:
    """Answer every row of DATA with its class and the probability of every class, or with its mean.

    Columns are found by their names; others may be there too. The result has `prediction` and for each class
    p_<class>, with --interval also low_<class> and high_<class>; of a number, `prediction`, low and high.

    \b
    hornbeam predict income.hornbeam new.csv -o answers.csv
    hornbeam predict income.hornbeam new.parquet -o answers.parquet --interval .9 --keep id
    cat new.csv | hornbeam predict income.hornbeam - | head
    """
    from hornbeam.data.rows_file import encode_rows

    saved = read_answering(model)
    rows = rows_for(saved.tree, data, text)
    for name in options["keep"]:
        if name not in rows.table.column_names:
            raise no_such_column(name, rows.table.column_names, data)
    kept = {name: rows.table[name] for name in options["keep"]}
    columns = _answers(saved, rows.X, options["interval"], options["leaf"])
    clash = kept.keys() & columns.keys()
    if clash:
        raise click.UsageError(f"--keep {min(clash)}: the result has a column of this name. Rename yours.")
    columns = kept | columns
    n_rows = rows.table.num_rows
    if as_json and output == "-":
        lists = {name: column.to_pylist() for name, column in kept.items()}
        give(
            {"rows": n_rows, "columns": lists | {name: columns[name] for name in columns if name not in kept}}
        )
        return
    deliver(encode_rows(columns, as_parquet=output.endswith(".parquet")), output)
    give({"rows": n_rows, "output": output})
    say(f"{n_rows:,} rows answered" + ("" if output == "-" else f", saved as {output}"))


def _answers(model: Any, X: Any, level: float | None, leaf: bool) -> dict[str, Any]:
    """The columns of the result."""
    from hornbeam.data.table import Table
    from hornbeam.estimators.plain import decide
    from hornbeam.explain import predict_interval
    from hornbeam.tree.route import answer, route

    tree = model.tree
    table = Table.read(X, schema=tree.schema)
    belief = answer(tree, table)
    columns: dict[str, Any] = {"prediction": belief[:, 0] if tree.is_measured else decide(model, belief)}
    for code, label in enumerate(tree.schema.classes):
        columns[f"p_{label}"] = belief[:, code]
    if level is not None:
        low, high = predict_interval(tree, table, level)
        if tree.is_measured:
            columns["low"], columns["high"] = low[:, 0], high[:, 0]
        for code, label in enumerate(tree.schema.classes):
            columns[f"low_{label}"], columns[f"high_{label}"] = low[:, code], high[:, code]
    if leaf:
        columns["leaf"] = route(tree.skeleton, table)
    return columns
