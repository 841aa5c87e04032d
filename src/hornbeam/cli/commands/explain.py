"""``hornbeam explain``: how the probabilities of a row came about."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import ModelFile, data_argument, level_option, model_argument, reading
from hornbeam.errors import DataError


@click.command(short_help="Say why a row gets its probabilities.")
@model_argument
@data_argument
@click.option(
    "--row",
    "numbers",
    multiple=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Which row, counted from 1 below the names; repeatable. Default: the first.",
)
@level_option
@reading
@common_options
def explain(
    model: str, data: str, numbers: tuple[int, ...], level: float, text: dict[str, Any], **_: Any
) -> None:
    """Explain the probabilities of rows of DATA: their paths through the tree, and the evidence behind them.

    \b
    hornbeam explain income.hornbeam new.csv --row 3
    """
    from hornbeam import load
    from hornbeam.data.table import Table
    from hornbeam.explain.explanation import explain as explanations_of
    from hornbeam.tree.unwrap import single_tree

    estimator = load(model)
    tree = single_tree(estimator)
    X = ModelFile(tree, data, text).read().X
    numbers = numbers or (1,)
    for number in numbers:
        if number > X.num_rows:
            raise DataError(f"There is no row {number} in {data!r}; it has {X.num_rows:,}.")
    asked = Table.read(X.take([number - 1 for number in numbers]), schema=tree.schema)
    reasons = explanations_of(tree, asked, level, getattr(estimator, "_distribution", None))
    explanations = [{"row": number, **why.to_dict()} for number, why in zip(numbers, reasons, strict=True)]
    texts = [f"row {number}\n{why}" for number, why in zip(numbers, reasons, strict=True)]
    emit({"explanations": explanations}, "\n\n".join(texts))
