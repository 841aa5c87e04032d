"""Rows from the command line: how their file is read, and which of its columns a model wants."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

from hornbeam.cli.roles import no_such_column
from hornbeam.errors import DataError

__all__ = [
    "Rows",
    "data_argument",
    "labelled",
    "model_argument",
    "positive_option",
    "read_answering",
    "reading",
    "rows_for",
    "target_option",
]

model_argument = click.argument("model", type=click.Path())
data_argument = click.argument("data", type=click.Path(allow_dash=True))
positive_option = click.option(
    "--positive", metavar="LABEL", help="The class of interest: show its probability everywhere."
)
target_option = click.option(
    "-t",
    "--target",
    required=True,
    metavar="COL",
    help="The column of class labels, or of numbers to estimate.",
)


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of text files; the command gets them together, as `text`."""

    @wraps(command)
    def together(
        *args: Any,
        delimiter: str | None,
        decimal: str,
        missing: tuple[str, ...],
        encoding: str,
        **kwargs: Any,
    ) -> Any:
        text: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
        if missing:
            text["missing"] = missing
        return command(*args, text=text, **kwargs)

    for option in (
        click.option("--encoding", default="utf-8", show_default=True, help="Of a text file."),
        click.option(
            "--missing",
            multiple=True,
            metavar="TEXT",
            help="What stands for a missing value, instead of an empty cell, ?, NA, null and the like; repeatable.",
        ),
        click.option("--decimal", default=".", show_default=True, help="The decimal point."),
        click.option("--delimiter", metavar="CHAR", help="Between values; default: seen from the first row."),
    ):
        together = option(together)
    return together


def read_answering(path: str) -> Any:
    """Read a model that answers rows with its one tree."""
    from hornbeam.storage import read

    model = read(path)
    if model.estimator not in (None, "TreeClassifier", "TreeRegressor"):
        raise DataError(
            f"{path!r} holds a {model.estimator}; expected a TreeClassifier or a TreeRegressor, whose tree answers."
        )
    return model


class Rows(NamedTuple):
    """The rows of a file: the table, its features, and its labels if they were asked for."""

    table: Any
    X: Any
    y: Any = None


def rows_for(tree: Any, path: str, text: dict[str, Any], target: str | None = None) -> Rows:
    """Read the columns a tree was made with, as it knows them, and the labels."""
    from hornbeam.data.rows_file import read_rows, type_of
    from hornbeam.data.schema import Feature, Kind

    schema = tree.schema
    types = {feature.name: type_of(feature) for feature in schema.features}
    if target is not None:
        kind = Feature(target) if schema.is_measured else Feature(target, Kind.NOMINAL, schema.classes)
        types[target] = type_of(kind)
    table = read_rows(path, types=types, **text)
    for name in types:
        if name not in table.column_names:
            raise no_such_column(name, table.column_names, path)
    if target is not None:
        table = labelled(table, target)
    return Rows(table, table.select(list(schema.names)), None if target is None else table[target])


def labelled(table: Any, target: str) -> Any:
    """Leave out the rows without a label, and say so."""
    from hornbeam.cli.screen import warn

    column = table[target]
    if not column.null_count:
        return table
    if column.null_count == len(column):
        raise DataError(f"Column {target!r} has no values; expected a class label, or a number, in each row.")
    warn(f"{column.null_count:,} rows without a label in {target!r} are left out")
    return table.filter(column.is_valid())
