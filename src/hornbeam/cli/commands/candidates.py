"""``hornbeam candidates``: the candidate splits of a node."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    data_argument,
    engine_of,
    jobs_option,
    model_argument,
    reading,
    target_option,
    weight_option,
)


@click.command(short_help="List the candidate splits of a node.")
@model_argument
@data_argument
@target_option
@click.option(
    "--node", default=0, show_default=True, metavar="N", help="The node; `hornbeam show` has the numbers."
)
@click.option("--feature", metavar="COL", help="All splits of one column; default: the best of each column.")
@weight_option
@click.option(
    "--held-out",
    type=FilePath(),
    metavar="FILE",
    help="Other rows, to show the gain of each split on them.",
)
@jobs_option
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
    jobs: int,
    text: dict[str, Any],
    **_: Any,
) -> None:
    """List the splits that compete at a node of MODEL, from the rows of DATA that it was fitted to.

    Parquet files, or a folder of them, need not fit memory.

    \b
    hornbeam candidates income.hornbeam adult.csv --target income
    hornbeam candidates income.hornbeam adult.csv --target income --node 2 --feature age
    hornbeam candidates income.hornbeam rows/ --target income --node 2
    """
    from hornbeam import load
    from hornbeam.explain.candidates.list_splits import candidate_splits
    from hornbeam.tree.unwrap import single_tree

    estimator = load(model)
    tree = single_tree(estimator)
    X, y, sample_weight = ModelFile(tree, data, text, target, weight).open(class_weight=True, jobs=jobs)
    found = candidate_splits(
        estimator,
        X,
        y,
        node,
        feature=feature,
        sample_weight=sample_weight,
        held_out=None
        if held_out is None
        else ModelFile(tree, held_out, text, target, weight).open(jobs=jobs),
        engine=engine_of(jobs),
    )
    emit(found.to_dict(), str(found))
