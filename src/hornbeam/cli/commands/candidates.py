"""``hornbeam candidates``: the candidate splits of a node."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import data_argument, model_argument, reading, rows_for, target_option

__all__ = ["candidates"]


@click.command(short_help="List the candidate splits of a node.")
@model_argument
@data_argument
@target_option
@click.option(
    "--node", default=0, show_default=True, metavar="N", help="The node; `hornbeam show` has the numbers."
)
@click.option("--feature", metavar="COL", help="All splits of one column; default: the best of each column.")
@click.option("--weight", metavar="COL", help="The column of row weights.")
@click.option(
    "--held-out",
    type=click.Path(),
    metavar="FILE",
    help="Other rows, to show the gain of each split on them.",
)
@reading
@common_options
def candidates(
    model: str,
    data: str,
    target: str,
    node: int,
    feature: str | None,
    weight: str | None,
    held_out: str | None,
    text: dict[str, Any],
    **_: Any,
) -> None:
    """List the splits that compete at a node of MODEL, from the rows of DATA that it was fitted to.

    \b
    hornbeam candidates income.hornbeam adult.csv --target income
    hornbeam candidates income.hornbeam adult.csv --target income --node 2 --feature age
    """
    from hornbeam import candidate_splits, load

    estimator = load(model)
    tree = getattr(estimator, "tree_", estimator)

    def read(path: str) -> tuple[Any, Any, Any]:
        rows = rows_for(tree, path, text, target, keep=() if weight is None else (weight,))
        return rows.X, rows.y, None if weight is None else rows.table[weight].to_numpy()

    X, y, sample_weight = read(data)
    found = candidate_splits(
        estimator,
        X,
        y,
        node,
        feature=feature,
        sample_weight=sample_weight,
        held_out=None if held_out is None else read(held_out),
    )
    emit(found.to_dict(), str(found))
