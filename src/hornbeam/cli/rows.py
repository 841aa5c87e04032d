"""Rows of a file by the columns of a model: options, and the one place of the command line that opens files."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click

from hornbeam.cli.console import progress, warn
from hornbeam.cli.roles import no_such_column
from hornbeam.errors import DataError

COPIES = "copies"  # the value of --groups that is no column

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
    "--positive", metavar="CLASS", help="The class of interest: show its probability everywhere."
)
target_option = click.option(
    "-t",
    "--target",
    required=True,
    metavar="COL",
    help="The column of class labels, or of numbers to estimate.",
)
weight_option = click.option("--weight", metavar="COL", help="The column of row weights.")
costs_option = click.option(
    "--costs",
    type=(str, str, float),
    multiple=True,
    metavar="TRUE PREDICTED COST",
    help="What it costs to predict one class where another is true; repeatable, others cost 1.",
)
jobs_option = click.option("--jobs", type=int, default=-1, metavar="N", help="Threads; default all cores.")
level_option = click.option(
    "--level",
    type=click.FloatRange(0, 1, True, True),
    default=0.9,
    show_default=True,
    metavar="SHARE",
    help="The share of intervals that hold the true value.",
)


def _levels(_context: Any, _option: Any, text: str | None) -> list[float] | None:
    """Read numbers between commas."""
    try:
        return None if text is None else [float(one) for one in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not numbers between commas, such as .1,.5,.9.") from None


quantiles_option = click.option(
    "--quantiles",
    callback=_levels,
    metavar="Q,Q,...",
    help="Add these quantiles, .1,.5,.9 say; of a model fitted with --distribution.",
)


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for text files; the command gets them as one argument, `text`."""

    @wraps(command)
    def with_text_options(
        *args: Any,
        delimiter: str | None,
        decimal: str,
        null_value: tuple[str, ...],
        encoding: str,
        **kwargs: Any,
    ) -> Any:
        text: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
        if null_value:
            text["missing"] = null_value
        return command(*args, text=text, **kwargs)

    for option in (
        click.option("--encoding", default="utf-8", show_default=True, help="Of a text file."),
        click.option(
            "--null-value",
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
    from hornbeam.storage.file import read

    model = read(path)
    if model.estimator not in (None, "TreeClassifier", "TreeRegressor"):
        raise DataError(
            f"{path!r} holds a {model.estimator}; expected a TreeClassifier or a TreeRegressor, a model of one tree."
        )
    return model


def read_with_quantiles(path: str, quantiles: list[float] | None) -> Any:
    """Read the tree of a model; its estimator if quantiles are asked for, which a tree alone does not have."""
    if quantiles is None:
        from hornbeam.storage.file import read

        return read(path).tree
    from hornbeam import load

    return load(path)


def saved_distribution(saved: Any) -> Any:
    """Return the distribution of a numeric target in a saved model; None if it has none."""
    from hornbeam.estimators.persistence.distribution import decode_distribution

    return decode_distribution(saved.learned.get("distribution"), saved.tree)


def costs_by_label(
    parameters: tuple[tuple[str, str, float], ...], classes: Sequence[Any]
) -> dict[Any, float] | None:
    """Return the costs by label; labels from the command line are strings."""
    label_of = {str(label): label for label in classes}
    pairs = {
        (label_of.get(true, true), label_of.get(predicted, predicted)): cost
        for true, predicted, cost in parameters
    }
    return pairs or None


def engine_of(jobs: int) -> Any:
    """Return the engine of the option --jobs."""
    from hornbeam.data.engine import LocalEngine
    from hornbeam.data.threads import n_threads

    return LocalEngine(n_threads(jobs))


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a file as an Arrow table, and the names of its columns."""

    table: Any
    features: Sequence[str]
    target: str | None = None
    weight: str | None = None
    groups: str | None = None

    @property
    def X(self) -> Any:  # noqa: N802 as in scikit-learn
        """The features."""
        return self.table.select(list(self.features))

    @property
    def y(self) -> Any:
        """The target; None without such a column."""
        return None if self.target is None else self.table[self.target]

    @property
    def columns(self) -> tuple[Any, Any, Any]:
        """The features, the target and the weights, as `fit` takes them."""
        return self.X, self.y, None if self.weight is None else self.table[self.weight].to_numpy()

    @property
    def group(self) -> Any:
        """The groups as `fit` takes them."""
        return self.groups if self.groups in (None, COPIES) else self.table[self.groups].to_numpy()

    def read(self, **options: Any) -> Any:
        """Read the rows as a `Table`; the options are those of `read_rows`."""
        from hornbeam.data.rows import read_rows

        return read_rows(*self.columns, groups=self.group, **options)

    def labelled(self) -> tuple["Rows", int]:
        """Return the rows that have a label, and the number of the others."""
        column = self.y
        if column is None or not column.null_count:
            return self, 0
        return replace(self, table=self.table.filter(column.is_valid())), column.null_count


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file with the columns of a model, its target, and the columns to `keep` (None for all)."""

    tree: Any
    path: str
    text: dict[str, Any]
    target: str | None = None
    weight: str | None = None
    groups: str | None = None
    keep: Sequence[str] | None = ()

    def read(self) -> Rows:
        """Read all rows that have a label, if there is a target."""
        from hornbeam.data.files.tabular import read_table

        table = read_table(self.path, types=self._types(), columns=self._columns(), **self.text)
        rows, n_unlabelled = self._rows(table).labelled()
        tell_unlabelled(rows.table.num_rows, n_unlabelled, self.target)
        return rows

    def parts(self) -> Iterator[Rows]:
        """Read the same rows part by part, with progress on a terminal if there are several parts."""
        from hornbeam.data.files.tabular import read_parts

        n_all, n_rows, n_read = self._shape()[0], 0, 0
        with progress("reading", n_all) if n_all > _MANY_ROWS else nullcontext() as listener:
            for table in read_parts(self.path, types=self._types(), columns=self._columns(), **self.text):
                rows = self._rows(table).labelled()[0]
                n_read, n_rows = n_read + table.num_rows, n_rows + rows.table.num_rows
                if rows.table.num_rows:
                    yield rows
                if listener is not None:
                    listener(n_read)
        tell_unlabelled(n_rows, n_read - n_rows, self.target)
        if not n_rows:
            raise DataError(f"{self.path!r} has no rows. Expected one at least.")

    def sample(self, most_rows: int) -> tuple[Rows, int | None]:
        """Read all rows, or a sample of about `most_rows` rows of larger Parquet files, with the number of all rows."""
        n_all = self._shape()[0]
        if n_all <= most_rows:
            return self.read(), None
        from hornbeam.data.files.tabular import concat_tables
        from hornbeam.out_of_core.sample import draw_numbers

        bound, begin, drawn = int(most_rows / n_all * 2**64), 0, []
        for part in self.parts():
            number = draw_numbers(begin, begin + part.table.num_rows)
            drawn.append(part.table.take((number < bound).nonzero()[0]))
            begin += part.table.num_rows
        return self._rows(concat_tables(drawn)), begin

    def open(self, *, class_weight: bool = False, jobs: int = -1) -> tuple[Any, Any, Any]:
        """Return X, y and weights; many rows of Parquet files stay there, as a source.

        With `class_weight` the source has that of the fit, as its training rows. `jobs` threads open the files.
        """
        from hornbeam.data.files.tabular import parquet_files
        from hornbeam.data.rows import open_rows

        target, weight, tree = self.target, self.weight, self.tree
        needed = [*tree.schema.names, *filter(None, (target, weight))]
        n_all, names = self._shape(needed)
        if n_all <= _MANY_ROWS:
            return self.read().columns
        from hornbeam.explain.candidates.training_rows import class_weight_of

        self._check(needed, names)
        source = open_rows(
            parquet_files(self.path),
            target,
            weight,
            schema=tree.schema,
            class_weight=class_weight_of(tree) if class_weight and target is not None else None,
            engine=engine_of(jobs),
            labelled=target is not None,
        )
        if target is not None and not source.partitions():
            raise DataError(
                f"No row has a label in the column {target!r}; expected at least one. Name another --target."
            )
        if weight is None and source.class_weight is None:  # no row is left out but those without a label
            tell_unlabelled(source.n_rows, n_all - source.n_rows, target)
        return source, None, None

    def _shape(self, needed: Collection[str] = ()) -> tuple[int, list[str]]:
        """The number of rows and the columns of Parquet files; none of other files."""
        from hornbeam.data.files.tabular import parquet_files, parquet_shape

        files = parquet_files(self.path)
        return (0, []) if files is None else parquet_shape(files, needed)

    def _types(self) -> dict[str, str]:
        """The columns of the schema and the target, with their types."""
        from hornbeam.data.files.tabular import column_type
        from hornbeam.data.schema import Feature, Kind

        schema, target = self.tree.schema, self.target
        features = list(schema.features)
        if target is not None:
            features.append(
                Feature(target) if schema.is_regression else Feature(target, Kind.NOMINAL, schema.classes)
            )
        return {feature.name: column_type(feature) for feature in features}

    def _columns(self) -> list[str] | None:
        """The columns to read; None for all."""
        if self.keep is None:
            return None
        return [*self._types(), *self.keep, *filter(None, (self.weight, self.groups))]

    def _rows(self, table: Any) -> Rows:
        self._check(self._columns() or self._types(), table.column_names)
        return Rows(table, self.tree.schema.names, self.target, self.weight, self.groups)

    def _check(self, needed: Collection[str], names: Sequence[str]) -> None:
        for name in needed:
            if name not in names:
                raise no_such_column(name, self._shape(needed)[1] or names, self.path)


def tell_unlabelled(n_rows: int, n_unlabelled: int, target: str | None) -> None:
    """Report how many rows without a label were left out; raise if no row is left."""
    if n_unlabelled and not n_rows:
        raise DataError(f"Column {target!r} has no values; expected a class label, or a number, in each row.")
    if n_unlabelled:
        warn(f"{n_unlabelled:,} rows without a label in {target!r} are left out")
