"""Training rows: the role of each column, from the options or from its values."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple

import click

from hornbeam.cli.console import message, warn
from hornbeam.cli.large_files import LargeFiles, judge_columns, large_files
from hornbeam.cli.roles import Roles, doubt, no_such_column
from hornbeam.cli.rows import labelled, tell_unlabelled

__all__ = ["ColumnOptions", "Training", "doubtful_columns", "read_training", "training", "with_doubts"]

_COPIES = "copies"  # the value of --groups that is no column
_MOST_CLASSES = 30  # a column of more distinct numbers is a numeric target, unless --kind says otherwise


class ColumnOptions(NamedTuple):
    """The options for the roles of columns."""

    nominal: tuple[str, ...]
    numeric: tuple[str, ...]
    drop: tuple[str, ...]
    weight: str | None
    groups: str | None
    missing_columns: str


def training(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the roles of columns; the command gets them as one argument, `column_options`."""

    @wraps(command)
    def with_roles(*args: Any, **kwargs: Any) -> Any:
        column_options = ColumnOptions(**{name: kwargs.pop(name) for name in ColumnOptions._fields})
        return command(*args, column_options=column_options, **kwargs)

    for option in (
        click.option(
            "--missing-columns",
            type=click.Choice(["error", "null"]),
            default="error",
            show_default=True,
            help="For a column that some Parquet files lack: null reads it as missing values there.",
        ),
        click.option(
            "--groups",
            metavar="COL",
            help="The column of what rows belong to, a patient say: they are held out together; or copies.",
        ),
        click.option("--weight", metavar="COL", help="The column of row weights."),
        click.option("--drop", multiple=True, metavar="COL", help="A column to leave out; repeatable."),
        click.option("--numeric", multiple=True, metavar="COL", help="A column of numbers; repeatable."),
        click.option(
            "--nominal",
            multiple=True,
            metavar="COL",
            help="A column of categories, even of numbers; repeatable.",
        ),
    ):
        with_roles = option(with_roles)
    return with_roles


class Training(NamedTuple):
    """Rows with labels, the roles of their columns, and whether the target is numeric.

    `table` has all rows; it is None for rows that stay in the files of `large`.
    """

    table: Any
    target: str
    weight: str | None
    roles: Roles
    names: list[str]
    is_regression: bool = False
    large: LargeFiles | None = None
    groups: str | None = None

    @property
    def features(self) -> list[str]:
        """The features in the order of the file."""
        chosen = {*self.roles.numeric, *self.roles.nominal}
        return [name for name in self.names if name in chosen]

    def group_numbers(self) -> Any:
        """Number the groups of all rows; None without groups."""
        from hornbeam.data.groups import read_groups
        from hornbeam.data.schema import Kind
        from hornbeam.data.table import Table

        groups = self.groups_of(self.table)
        if groups is None or self.groups != _COPIES:
            return None if groups is None else read_groups(groups, len(groups))
        kind = Kind.NUMERIC if self.is_regression else Kind.NOMINAL
        X, y = self.table.select(self.features), self.table[self.target]
        return read_groups(Table.read(X, y, groups=groups, target=kind).group, self.table.num_rows)

    def groups_of(self, table: Any) -> Any:
        """Return the groups of some of the rows, as `fit` takes them."""
        return self.groups if self.groups in (None, _COPIES) else table[self.groups].to_numpy()


def read_training(
    data: str,
    target: str,
    text: dict[str, Any],
    column_options: ColumnOptions,
    *,
    kind: str | None = "classification",
    large: LargeFiles | None = None,
    memory: int = 0,
) -> Training:
    """Read the rows with a label, and report the roles of the columns, and the kind of target if `kind` is None.

    Of `large` files the columns are read one by one, and the rows stay in the files.
    """
    nominal, numeric, drop, weight, groups, missing_columns = column_options
    column = None if groups == _COPIES else groups
    named = (target, *numeric, *nominal, *drop, *filter(None, [weight, column]))
    types = dict.fromkeys(nominal, "text") | dict.fromkeys(numeric, "number")
    optional = None if missing_columns == "null" else drop
    if large is None:
        needed = [target, *filter(None, [weight, column])]
        table, profiles, labels = _read_all(data, needed, text, named, types, optional)
        names, n_rows = table.column_names, table.num_rows
    else:
        profiles, labels = judge_columns(large, data, named, target, memory, optional)
        table, names, n_rows = None, large.names, large.n_rows - labels.null_count
        tell_unlabelled(len(labels) - labels.null_count, labels.null_count, target)
        labels = labels.drop_null()
    [profile] = [one for one in profiles if one.name == target]
    is_regression = kind == "regression" or (kind is None and _looks_numeric(profile))
    why = None if large is None else _why_at_once(profiles, nominal, numeric)
    if why is not None:
        large_files(data, memory, why)
        return read_training(data, target, text, column_options, kind=kind)
    roles = Roles.of(profiles, target=target, others=(weight, column), forced=types, dropped=drop)
    message(f"data      {data}: {n_rows:,} rows, {len(names)} columns")
    message(f"target    {target}: {_numbers(labels) if is_regression else _classes(labels)}")
    if is_regression and kind is None:
        message(
            f"          {profile.n_distinct:,} values: taken for a number; --kind classification makes them classes"
        )
    _tell_features(roles, profiles, drop)
    return Training(table, target, weight, roles, names, is_regression, large, groups)


def _read_all(
    data: str,
    needed: Sequence[str],
    text: dict[str, Any],
    named: Sequence[str],
    types: dict[str, str],
    optional: Sequence[str] | None,
) -> tuple[Any, list[Any], Any]:
    """The rows with a label, the profiles of their columns, and the labels; `needed` begins with the target."""
    from hornbeam.data.files.profile import Profile
    from hornbeam.data.files.tabular import check_columns, parquet_files, read_table

    table = read_table(data, types=types, optional=optional, **text)
    columns = set(table.column_names)
    for name in named:
        if name not in columns:
            raise no_such_column(name, table.column_names, data)
    if optional is None and (files := parquet_files(data)) is not None:
        check_columns(files, needed)
    table = labelled(table, needed[0])
    return table, [Profile.of(name, table[name]) for name in table.column_names], table[needed[0]]


def _why_at_once(profiles: list[Any], nominal: Sequence[str], numeric: Sequence[str]) -> str | None:
    """The reason why all rows are needed in memory, as text; None if there is no reason."""
    holds = {profile.name: profile.holds for profile in profiles}
    changed = [f"--nominal {name}" for name in nominal if holds[name] == "number"]
    changed += [f"--numeric {name}" for name in numeric if holds[name] != "number"]
    return changed[0] if changed else None


def _tell_features(roles: Roles, profiles: list[Any], drop: Sequence[str]) -> None:
    message(f"features  {len(roles.numeric)} numeric, {len(roles.nominal)} nominal")
    used = {*roles.numeric, *roles.nominal}
    gaps = [f"{one.name} {one.n_missing:,}" for one in profiles if one.n_missing and one.name in used]
    if gaps:
        message(f"missing   {_joined(gaps)}")
    unasked = {name: why for name, why in roles.left_out.items() if name not in drop}
    for name, why in unasked.items():
        warn(f"{name!r} {why}: left out")
    if unasked:
        message(
            "          --nominal COL or --numeric COL keeps a column, --drop COL leaves it out without a word"
        )


def with_doubts(roles: Roles, findings: Any, forced: Iterable[str]) -> Roles:
    """Add the features of some findings to the doubtful ones, and warn about all."""
    kept = set(forced)
    doubts = [doubt(found) for found in findings if found.column not in kept]
    roles = replace(roles, doubts=(*roles.doubts, *doubts))
    for words in roles.doubts:
        warn(words)
    return roles


def doubtful_columns(rows: Training) -> Any:
    """The features that look like copies of the target or like groups of rows, of rows in memory."""
    from hornbeam.data.column_checks import group_columns, target_copies
    from hornbeam.data.schema import Kind
    from hornbeam.data.table import Table

    kind = Kind.NUMERIC if rows.is_regression else Kind.NOMINAL
    X, y = rows.table.select(rows.features), rows.table[rows.target]
    table = Table.read(X, y, groups=rows.groups_of(rows.table), target=kind)
    return (*target_copies(table), *group_columns(table))


def _looks_numeric(column: Any) -> bool:
    """Whether a column looks like a numeric target rather than classes."""
    return bool(column.holds == "number" and column.n_distinct > _MOST_CLASSES)


def _numbers(column: Any) -> str:
    """The mean and the range of a numeric target."""
    from hornbeam.data.files.profile import Profile
    from hornbeam.errors import DataError
    from hornbeam.export.wording import mean_text

    if Profile.of("", column).holds != "number":
        raise DataError("--kind regression: the target holds no numbers; expected numbers.")
    values = column.to_numpy()
    middle, low, high = (mean_text(float(value), 2) for value in (values.mean(), values.min(), values.max()))
    return f"a number, mean {middle}, from {low} to {high}"


def _classes(labels: Any) -> str:
    """The classes and their shares, most frequent first."""
    counts = sorted(labels.value_counts().to_pylist(), key=lambda pair: -pair["counts"])
    return _joined([f"{one['values']} {100 * one['counts'] / len(labels):.1f} %" for one in counts])


def _joined(words: list[str]) -> str:
    return ", ".join(words[:8]) + (f", … {len(words) - 8} more" if len(words) > 8 else "")
