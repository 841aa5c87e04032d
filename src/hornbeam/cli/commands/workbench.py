"""``hornbeam workbench``: edit a tree by hand, in the browser."""

from typing import Any, NamedTuple

import click

from hornbeam.cli.console import common_options, emit, message
from hornbeam.cli.holdout import n_held_out, split_holdout
from hornbeam.cli.rows import FilePath, data_argument, reading, rows_for, target_option
from hornbeam.cli.saving import check_output
from hornbeam.cli.training import ColumnOptions, read_training, training

__all__ = ["workbench"]

_SHARE = 0.2  # of the rows are held out
_MOST_HELD_OUT = 50_000  # enough for three digits of the scores, and quick to predict after each edit


class _Rows(NamedTuple):
    """Rows of the fit and held-out rows, as tables, and the names of their columns."""

    kept: Any
    held: Any
    features: list[str]
    target: str
    weight: str | None
    is_regression: bool = False

    def X(self, table: Any) -> Any:  # noqa: N802 as in scikit-learn
        return table.select(self.features)

    def y(self, table: Any) -> Any:
        return table[self.target]

    def weights(self, table: Any) -> Any:
        return None if self.weight is None else table[self.weight].to_numpy()


@click.command(short_help="Edit a tree by hand, in the browser.")
@data_argument
@target_option
@click.option(
    "--model", type=FilePath(), metavar="MODEL", help="The model to edit; default: a tree is fitted."
)
@click.option(
    "-o",
    "--output",
    default="workbench.hornbeam",
    show_default=True,
    type=FilePath(),
    help="The model file. The report, the approval log and the journal are written beside it.",
)
@click.option("--author", default="", metavar="NAME", help="Author of the edits, for the approval log.")
@click.option(
    "--kind",
    type=click.Choice(["classification", "regression"]),
    help="What the target is; default: a number if it has more than 30 different ones, else classes.",
)
@click.option("--max-leaves", type=int, metavar="N", help="Leaves at most, of a tree that is fitted.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Of the page; default: any free one.")
@click.option("--no-browser", is_flag=True, help="Print the address, and do not open it.")
@training
@reading
@common_options
def workbench(
    data: str,
    target: str,
    model: str | None,
    output: str,
    text: dict[str, Any],
    column_options: ColumnOptions,
    **options: Any,
) -> None:
    """Open a page to edit a tree of the rows of DATA, on this machine only.

    A fifth of the rows, at most 50,000, is held out, to show what an edit changes. MODEL must be fitted to the
    rows of DATA, or have been saved by this command. Unsaved edits are restored at the next start.

    \b
    hornbeam workbench adult.parquet --target income
    hornbeam workbench adult.csv --target income --model income.hornbeam -o approved.hornbeam
    """
    from hornbeam import workbench as start

    check_output(output)
    if model is None:
        rows = _training_rows(data, target, text, options["kind"], column_options)
        estimator = _fitted(rows, options["max_leaves"])
    else:
        estimator, rows = _rows_of_model(model, data, target, text, column_options.weight)
    held = rows.held
    running = start(
        estimator,
        rows.X(rows.kept),
        rows.y(rows.kept),
        rows.weights(rows.kept),
        held_out=None if held is None else (rows.X(held), rows.y(held), rows.weights(held)),
        output=output,
        author=options["author"],
        port=options["port"],
        show=not options["no_browser"],
    )
    if running.session.restored:
        message(f"restored  {running.session.restored} edits of the journal")
    url = running.url
    emit({"url": url, "output": output}, url)
    message("Ctrl-C stops it; edits that are not saved stay in the journal")
    del rows, held  # the editor has its own copy
    try:
        running.wait()
    except KeyboardInterrupt:
        running.stop()


def _training_rows(
    data: str, target: str, text: dict[str, Any], kind: str | None, column_options: ColumnOptions
) -> _Rows:
    found = read_training(data, target, text, column_options, kind=kind)
    kept, held = split_holdout(found.table, _n_held_out(found.table.num_rows))
    return _Rows(kept, held, found.features, target, found.weight, found.is_regression)


def _fitted(rows: _Rows, max_leaves: int | None) -> Any:
    from hornbeam import TreeClassifier, TreeRegressor

    maker = TreeRegressor if rows.is_regression else TreeClassifier
    estimator = maker(max_leaf_nodes=max_leaves, n_jobs=-1)
    return estimator.fit(rows.X(rows.kept), rows.y(rows.kept), sample_weight=rows.weights(rows.kept))


def _rows_of_model(
    path: str, data: str, target: str, text: dict[str, Any], weight: str | None
) -> tuple[Any, _Rows]:
    """Load a model and read its rows: all of the file, or those that this command would fit a tree to."""
    from hornbeam import load
    from hornbeam.tree.unwrap import single_tree

    estimator = load(path)
    tree = single_tree(estimator)
    table = rows_for(tree, data, text, target).table
    n = _n_held_out(table.num_rows)
    held_out = tree.rows[0] == table.num_rows - n
    kept, held = split_holdout(table, n) if held_out else (table, None)
    return estimator, _Rows(kept, held, list(tree.schema.names), target, weight)


def _n_held_out(n_rows: int) -> int:
    return min(n_held_out(n_rows, _SHARE), _MOST_HELD_OUT)
