"""Read the rows of a file by the columns that a model needs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import Any, NamedTuple

import click

from hornbeam.cli.console import progress, warn
from hornbeam.cli.roles import no_such_column
from hornbeam.errors import DataError

__all__ = [
    "FilePath",
    "Rows",
    "data_argument",
    "labelled",
    "model_argument",
    "parts_for",
    "positive_option",
    "read_single_tree",
    "reading",
    "rows_for",
    "sample_for",
    "target_option",
    "tell_unlabelled",
    "training_rows",
]

_MANY_ROWS = 1 << 17  # more than one part


class FilePath(click.Path):
    """A path; the address of a store becomes a text without credentials, and ``file://`` a path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, checked as by click."""
        from hornbeam.data.files.addresses import Address, as_path, is_remote

        path = as_path(value)
        return super().convert(Address(path) if is_remote(path) else path, param, ctx)


model_argument = click.argument("model", type=FilePath())
data_argument = click.argument("data", type=FilePath(allow_dash=True))
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
    """Add the options for text files; the command gets them as one argument, `text`."""

    @wraps(command)
    def with_text_options(
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
        with_text_options = option(with_text_options)
    return with_text_options


def read_single_tree(path: str) -> Any:
    """Read a model with one tree that can predict."""
    from hornbeam.storage import read

    model = read(path)
    if model.estimator not in (None, "TreeClassifier", "TreeRegressor"):
        raise DataError(
            f"{path!r} holds a {model.estimator}; expected a TreeClassifier or a TreeRegressor, a model of one tree."
        )
    return model


class Rows(NamedTuple):
    """Rows of a file: the table, its features, and its labels if requested."""

    table: Any
    X: Any
    y: Any = None
    n_unlabelled: int = 0  # rows left out


def rows_for(
    tree: Any,
    path: str,
    text: dict[str, Any],
    target: str | None = None,
    keep: Sequence[str] | None = None,
) -> Rows:
    """Read the columns of the tree's schema, the labels, and the columns to `keep` (None for all)."""
    from hornbeam.data.files.tabular import read_table

    types = _types_for(tree, target)
    columns = None if keep is None else [*types, *keep]
    table = read_table(path, types=types, columns=columns, **text)
    rows = _rows_of(table, tree, path, target, columns or types)
    if target is not None:
        rows = _with_labels(rows, target)
        tell_unlabelled(rows.table.num_rows, rows.n_unlabelled, target)
    return rows


def training_rows(
    tree: Any,
    path: str,
    text: dict[str, Any],
    target: str | None,
    weight: str | None = None,
    *,
    class_weight: bool = True,
    jobs: int = -1,
) -> tuple[Any, Any, Any]:
    """Return X, y and weights of the rows in a file; many rows of Parquet files stay there, as a source.

    Without `class_weight` they have none, as held-out rows. `jobs` threads open the files.
    """
    from hornbeam.data.files.tabular import parquet_files, parquet_shape

    files = parquet_files(path)
    n_all, names = (0, []) if files is None else parquet_shape(files, (*tree.schema.names, target, weight))
    if n_all <= _MANY_ROWS:
        rows = rows_for(tree, path, text, target, keep=() if weight is None else (weight,))
        return rows.X, rows.y, None if weight is None else rows.table[weight].to_numpy()
    from hornbeam.data.engine import LocalEngine
    from hornbeam.data.rows import open_rows
    from hornbeam.estimators.parameters.threads import n_threads
    from hornbeam.explain.candidates.training_rows import class_weight_of

    for name in (*tree.schema.names, target, weight):
        if name is not None and name not in names:
            raise no_such_column(name, names, path)
    factors = class_weight_of(tree) if class_weight and target is not None else None
    source = open_rows(
        files,
        target,
        weight,
        schema=tree.schema,
        class_weight=factors,
        engine=LocalEngine(n_threads(jobs)),
        labelled=target is not None,
    )
    if target is None:
        return source, None, None
    if not source.partitions():
        raise DataError(
            f"No row has a label in the column {target!r}; expected at least one. Name another --target."
        )
    if weight is None and source.class_weight is None:  # no row is left out but those without a label
        tell_unlabelled(source.n_rows, n_all - source.n_rows, target)
    return source, None, None


def parts_for(
    tree: Any,
    path: str,
    text: dict[str, Any],
    target: str | None = None,
    keep: Sequence[str] | None = None,
) -> Iterator[Rows]:
    """Read the same rows part by part, with progress on a terminal if there are several parts."""
    from hornbeam.data.files.tabular import parquet_files, parquet_shape, read_parts

    types, files = _types_for(tree, target), parquet_files(path)
    columns = None if keep is None else [*types, *keep]
    n_all = 0 if files is None else parquet_shape(files)[0]
    n_rows = n_read = n_unlabelled = 0
    with progress("reading", n_all) if n_all > _MANY_ROWS else nullcontext() as listener:
        for table in read_parts(path, types=types, columns=columns, **text):
            rows = _rows_of(table, tree, path, target, columns or types)
            if target is not None:
                rows = _with_labels(rows, target)
            n_read, n_rows = n_read + table.num_rows, n_rows + rows.table.num_rows
            n_unlabelled += rows.n_unlabelled
            if rows.table.num_rows:
                yield rows
            if listener is not None:
                listener(n_read)
    if target is not None:
        tell_unlabelled(n_rows, n_unlabelled, target)
    if not n_rows:
        raise DataError(f"{path!r} has no rows. Expected one at least.")


def sample_for(
    tree: Any, path: str, text: dict[str, Any], target: str, most_rows: int
) -> tuple[Rows, int | None]:
    """Read all rows, or a sample of about `most_rows` rows of larger Parquet files, with the number of all rows."""
    from hornbeam.data.files.tabular import concat_tables, parquet_files, parquet_shape

    files = parquet_files(path)
    n_all = 0 if files is None else parquet_shape(files)[0]
    if n_all <= most_rows:
        return rows_for(tree, path, text, target), None
    from hornbeam.out_of_core.sample import draw_numbers

    bound, begin, drawn = int(most_rows / n_all * 2**64), 0, []
    for part in parts_for(tree, path, text, target):
        number = draw_numbers(begin, begin + part.table.num_rows)
        drawn.append(part.table.take((number < bound).nonzero()[0]))
        begin += part.table.num_rows
    table = concat_tables(drawn)
    return Rows(table, table.select(list(tree.schema.names)), table[target]), begin


def _types_for(tree: Any, target: str | None) -> dict[str, str]:
    """The columns of the tree's schema and its target, with their types."""
    from hornbeam.data.files.tabular import column_type
    from hornbeam.data.schema import Feature, Kind

    schema = tree.schema
    types = {feature.name: column_type(feature) for feature in schema.features}
    if target is not None:
        kind = Feature(target) if schema.is_regression else Feature(target, Kind.NOMINAL, schema.classes)
        types[target] = column_type(kind)
    return types


def _rows_of(table: Any, tree: Any, path: str, target: str | None, names: Iterable[str]) -> Rows:
    for name in names:
        if name not in table.column_names:
            from hornbeam.data.files.tabular import parquet_files, parquet_shape

            files = parquet_files(path)
            raise no_such_column(name, parquet_shape(files)[1] if files else table.column_names, path)
    return Rows(table, table.select(list(tree.schema.names)), None if target is None else table[target])


def _with_labels(rows: Rows, target: str) -> Rows:
    """The rows that have a label."""
    if not rows.y.null_count:
        return rows
    table = rows.table.filter(rows.y.is_valid())
    return Rows(table, table.select(rows.X.column_names), table[target], rows.y.null_count)


def labelled(table: Any, target: str) -> Any:
    """Leave out the rows without a label, with a message."""
    column = table[target]
    if not column.null_count:
        return table
    tell_unlabelled(len(column) - column.null_count, column.null_count, target)
    return table.filter(column.is_valid())


def tell_unlabelled(n_rows: int, n_unlabelled: int, target: str) -> None:
    """Report how many rows without a label were left out; raise if no row is left."""
    if n_unlabelled and not n_rows:
        raise DataError(f"Column {target!r} has no values; expected a class label, or a number, in each row.")
    if n_unlabelled:
        warn(f"{n_unlabelled:,} rows without a label in {target!r} are left out")
