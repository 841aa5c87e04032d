"""``hornbeam workbench``: edit a tree by hand, in the browser."""

from pathlib import Path
from typing import Any

import click

from hornbeam.cli.console import check_output, common_options, emit, message
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    Rows,
    costs_by_label,
    costs_option,
    data_argument,
    positive_option,
    reading,
    target_option,
)
from hornbeam.cli.training import (
    ColumnOptions,
    Training,
    monotonic_option,
    n_held_out,
    preset_option,
    read_training,
    split_rows,
    training,
)

_SHARE = 0.2  # of the rows are held out
_SETTINGS = ("preset", "max_leaf_nodes", "monotonic_cst", "costs")  # of a tree that is fitted
_MOST_HELD_OUT = 50_000  # enough for three digits of the scores, and quick to predict after each edit


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
@preset_option
@click.option("--max-leaf-nodes", type=int, metavar="N", help="Leaves at most, of a tree that is fitted.")
@monotonic_option
@costs_option
@positive_option
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
    positive: str | None,
    text: dict[str, Any],
    column_options: ColumnOptions,
    **options: Any,
) -> None:
    """Open a page to edit a tree of the rows of DATA, on this machine only.

    A fifth of the rows, at most 50,000, is held out, to show what an edit changes. MODEL must be fitted to the
    rows of DATA, or have been saved by this command. Unsaved edits are restored at the next start.

    \b
    hornbeam workbench adult.parquet --target income
    hornbeam workbench loans.csv --target state --costs bad good 5 --monotonic-cst income -1 --positive bad
    hornbeam workbench adult.csv --target income --model income.hornbeam -o approved.hornbeam
    """
    from hornbeam import workbench as start
    from hornbeam.tree.decision import parse_class

    check_output(output, model=True)
    settings = {name: value for name in _SETTINGS if (value := options[name])}
    if model is None:
        found = read_training(data, target, text, column_options, kind=options["kind"])
        estimator, kept, held = _fitted(found, settings)
        del found
    elif settings:
        name = next(iter(settings)).replace("_", "-")
        raise click.UsageError(f"--{name} is for a tree that is fitted; expected it without --model.")
    else:
        estimator, kept, held = _rows_of_model(model, data, target, text, column_options.weight)
    X, y, sample_weight = kept.columns
    running = start(
        estimator,
        X,
        y,
        sample_weight=sample_weight,
        held_out=None if held is None else held.columns,
        path=output,
        author=options["author"],
        data=f"{Path(data).name}, target {target}",
        positive=None if positive is None else parse_class(estimator.tree_.schema.classes, positive),
        port=options["port"],
        show=not options["no_browser"],
    )
    if running.session.restored:
        message(f"restored  {running.session.restored} edits of the journal")
    url = running.url
    emit({"url": url, "output": output}, url)
    message("Ctrl-C stops it; edits that are not saved stay in the journal")
    del kept, held  # the editor has its own copy
    try:
        running.wait()
    except KeyboardInterrupt:
        running.stop()


def _fitted(found: Training, settings: dict[str, Any]) -> tuple[Any, Rows, Rows | None]:
    """Hold rows out, and fit a tree to the others."""
    from hornbeam import TreeClassifier, TreeRegressor

    if found.is_regression and "costs" in settings:
        raise click.UsageError("--costs is for classes, and the target is a number: --kind says which.")
    kept, held = split_rows(found.rows, _n_held_out(found.rows))
    X, y, weight = kept.columns
    maker = TreeRegressor if found.is_regression else TreeClassifier
    if "costs" in settings:
        settings = settings | {"costs": costs_by_label(settings["costs"], y.unique().to_pylist())}
    return maker(**settings, n_jobs=-1).fit(X, y, sample_weight=weight), kept, held


def _rows_of_model(
    path: str, data: str, target: str, text: dict[str, Any], weight: str | None
) -> tuple[Any, Rows, Rows | None]:
    """Load a model and read its rows: all of the file, or those that this command would fit a tree to."""
    from hornbeam import load
    from hornbeam.tree.unwrap import single_tree

    estimator = load(path)
    tree = single_tree(estimator)
    rows = ModelFile(tree, data, text, target, weight).read()
    n = _n_held_out(rows)
    if tree.rows[0] == rows.table.num_rows - n:
        return estimator, *split_rows(rows, n)
    return estimator, rows, None


def _n_held_out(rows: Rows) -> int:
    return min(n_held_out(rows.table.num_rows, _SHARE), _MOST_HELD_OUT)
