"""Rows to fit to: the role of each column, rows that stay in their Parquet files, and rows that are held out."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple

import click

from hornbeam.cli.console import message, progress, warn
from hornbeam.cli.roles import Roles, doubt, no_such_column
from hornbeam.cli.rows import COPIES, Rows, engine_of, tell_unlabelled, weight_option
from hornbeam.errors import DataError
from hornbeam.logger import bytes_text

_MOST_CLASSES = 30  # a column of more distinct numbers is a numeric target, unless --kind says otherwise
_SMALL_PART = 8  # rows that take less than this part of the memory are read at once
_SAMPLE_ROWS = 100_000  # rows of files searched for copies of the target
_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


class ColumnOptions(NamedTuple):
    """The options for the roles of columns."""

    nominal: tuple[str, ...]
    numeric: tuple[str, ...]
    drop: tuple[str, ...]
    weight: str | None
    groups: str | None
    missing_columns: str


def _signs(_context: Any, _option: Any, given: tuple[tuple[str, str], ...]) -> dict[str, int] | None:
    return {name: int(sign) for name, sign in given} or None


preset_option = click.option(
    "--preset",
    type=click.Choice(["default", "readable", "cart", "c4.5", "c4.4", "id3"]),
    help="The recipe to start from: default unless you name another.",
)
monotonic_option = click.option(
    "--monotonic-cst",
    type=(str, click.Choice(["1", "-1"])),
    multiple=True,
    callback=_signs,
    metavar="COL SIGN",
    help="1: the probability of the second class, or the mean, does not fall as the column grows; -1: it does not "
    "rise; repeatable.",
)


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
        weight_option,
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


class _Bytes(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions alone
    """A number of bytes, such as 512MB, 2GB or 1.5GiB."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Read the number."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?", str(value).strip().lower())
        if found is None or found[2] not in _UNITS or float(found[1]) <= 0:
            self.fail(
                f"{value!r} is no size; expected a number of bytes such as 512MB, 2GB or 1.5GiB.", param, ctx
            )
        return int(float(found[1]) * _UNITS[found[2]])


memory_option = click.option(
    "--memory",
    type=_Bytes(),
    default="512MB",
    show_default=True,
    metavar="SIZE",
    help="What rows of Parquet files may take in memory; more stay in their files. The process needs more.",
)


class _LargeFiles(NamedTuple):
    """Parquet files with many rows."""

    files: list[str]
    n_rows: int
    names: list[str]

    @property
    def n_bytes(self) -> int:
        """Memory that all rows would need, in bytes."""
        return 8 * len(self.names) * self.n_rows


class Training(NamedTuple):
    """Rows with labels, the roles of their columns, and whether the target is numeric.

    The table of the rows is None if they stay in files.
    """

    rows: Rows
    roles: Roles
    is_regression: bool
    files: Sequence[str] = ()
    missing_columns: str = "error"

    @property
    def kind(self) -> Any:
        """The kind of the target."""
        from hornbeam.data.schema import Kind

        return Kind.NUMERIC if self.is_regression else Kind.NOMINAL

    def table(self) -> Any:
        """Read the rows, without weights, as a `Table`."""
        return replace(self.rows, weight=None).read(target_kind=self.kind)

    def open(self, *, class_weight: str | None, jobs: int) -> Any:
        """Open the files as a source of the rows that have a label, or a number."""
        from hornbeam.data.files.parquet import scan_parquet

        rows = self.rows
        return scan_parquet(
            self.files,
            target=rows.target,
            sample_weight=rows.weight,
            groups=rows.groups,
            features=rows.features,
            class_weight=class_weight,
            engine=engine_of(jobs),
            labelled=True,
            missing_columns=self.missing_columns,
            target_kind=self.kind,
        )

    def sample(self, source: Any, jobs: int) -> Any:
        """Read a sample of the rows of the files as a `Table`."""
        from hornbeam.out_of_core.sample import draw_sample

        return draw_sample(source, engine_of(jobs), _SAMPLE_ROWS)


def _large_files(data: str, memory: int, why_at_once: str | None) -> _LargeFiles | None:
    """Return Parquet files too large to read at once; None for all other files.

    `why_at_once` is the reason why the fit needs all rows in memory; rows that do not fit are then refused.
    """
    from hornbeam.data.files.tabular import parquet_files, parquet_shape

    files = parquet_files(data)
    if files is None:
        return None
    found = _LargeFiles(files, *parquet_shape(files))
    if why_at_once is None:
        return found if found.n_bytes > memory // _SMALL_PART else None
    if found.n_bytes > memory:
        raise DataError(
            f"{why_at_once} needs all rows in memory: the {found.n_rows:,} rows of {data!r} take about "
            f"{bytes_text(found.n_bytes)}, and --memory is {bytes_text(memory)}. Pass a larger --memory, leave columns "
            "out of the files, or fit to fewer rows."
        )
    return None


def _judge_columns(
    large: _LargeFiles,
    data: str,
    named: Sequence[str],
    target: str,
    memory: int,
    optional: Collection[str] | None = (),
) -> tuple[list[Any], Any]:
    """Return the profiles of all columns, read one at a time, and the target; files may lack `optional` columns.

    They describe all rows if a column fits in memory, else the first rows.
    """
    from hornbeam.data.files.profile import Profile
    from hornbeam.data.files.tabular import read_column

    for name in named:
        if name not in large.names:
            raise no_such_column(name, large.names, data)
    # A column takes 8 bytes per row, and its distinct values as much again, twice while they are searched.
    most_rows = min(large.n_rows, max(1, memory // 24))
    profiles = []
    with progress("reading columns", len(large.names)) as listener:
        for name in large.names:
            profiles.append(Profile.of(name, read_column(large.files, name, most_rows, optional)))
            if listener is not None:
                listener(len(profiles))
    return profiles, read_column(large.files, target, most_rows)


def read_training(
    data: str,
    target: str,
    text: dict[str, Any],
    column_options: ColumnOptions,
    *,
    kind: str | None = "classification",
    memory: int | None = None,
    why_at_once: str | None = None,
) -> Training:
    """Read the rows with a label, and report the roles of the columns, and the kind of target if `kind` is None.

    Of Parquet files that are large for the `memory` the columns are read one by one, and the rows stay in the files,
    unless there is a reason why all are needed at once.
    """
    large = None if memory is None else _large_files(data, memory, why_at_once)
    nominal, numeric, drop, weight, groups, missing_columns = column_options
    column = None if groups == COPIES else groups
    named = (target, *numeric, *nominal, *drop, *filter(None, [weight, column]))
    types = dict.fromkeys(nominal, "text") | dict.fromkeys(numeric, "number")
    optional = None if missing_columns == "null" else drop
    if large is None:
        needed = [target, *filter(None, [weight, column])]
        table, profiles, labels = _read_all(data, needed, text, named, types, optional)
        names, n_rows = table.column_names, table.num_rows
    else:
        assert memory is not None
        profiles, labels = _judge_columns(large, data, named, target, memory, optional)
        table, names, n_rows = None, large.names, large.n_rows - labels.null_count
        tell_unlabelled(len(labels) - labels.null_count, labels.null_count, target)
        labels = labels.drop_null()
    [profile] = [one for one in profiles if one.name == target]
    is_regression = kind == "regression" or (kind is None and _looks_numeric(profile))
    why = None if large is None else _why_at_once(profiles, nominal, numeric)
    if why is not None:
        return read_training(data, target, text, column_options, kind=kind, memory=memory, why_at_once=why)
    roles = Roles.of(profiles, target=target, others=(weight, column), forced=types, dropped=drop)
    message(f"data      {data}: {n_rows:,} rows, {len(names)} columns")
    message(f"target    {target}: {_numbers(labels) if is_regression else _classes(labels)}")
    if is_regression and kind is None:
        message(
            f"          {profile.n_distinct:,} values: taken for a number; --kind classification makes them classes"
        )
    _tell_features(roles, profiles, drop)
    chosen = {*roles.numeric, *roles.nominal}
    rows = Rows(table, [name for name in names if name in chosen], target, weight, groups)
    return Training(rows, roles, is_regression, large.files if large else (), missing_columns)


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
    rows, n_unlabelled = Rows(table, (), needed[0]).labelled()
    table = rows.table
    tell_unlabelled(table.num_rows, n_unlabelled, needed[0])
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


def with_doubts(roles: Roles, table: Any, forced: Iterable[str]) -> Roles:
    """Add the features that look like copies of the target or like groups of rows to the doubtful ones, and warn."""
    from hornbeam.data.column_checks import group_columns, target_copies

    kept = set(forced)
    findings = () if table is None else (*target_copies(table), *group_columns(table))
    doubts = [doubt(found) for found in findings if found.column not in kept]
    roles = replace(roles, doubts=(*roles.doubts, *doubts))
    for words in roles.doubts:
        warn(words)
    return roles


def _looks_numeric(column: Any) -> bool:
    """Whether a column looks like a numeric target rather than classes."""
    return bool(column.holds == "number" and column.n_distinct > _MOST_CLASSES)


def _numbers(column: Any) -> str:
    """The mean and the range of a numeric target."""
    from hornbeam.data.files.profile import Profile
    from hornbeam.tree.words import mean_text

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


def n_held_out(n_rows: int, share: float) -> int:
    """Return the number of rows that are held out.

    Examples
    --------
    >>> n_held_out(1000, 0.2), n_held_out(2, 0.1)
    (200, 1)
    """
    return max(1, round(share * n_rows))


def split_rows(rows: Rows, n: int, seed: int | None = None, group: Any = None) -> tuple[Rows, Rows]:
    """Split rows into training rows and `n` drawn rows, or whole groups; both are in the order of the table."""
    import numpy as np

    random, table = np.random.default_rng(0 if seed is None else seed), rows.table
    if group is None:
        order = random.permutation(table.num_rows)
        kept, held = np.sort(order[n:]), np.sort(order[:n])
    else:
        sizes = np.bincount(group)
        if len(sizes) < 2:
            raise DataError("all rows belong to one group: expected two at least, to hold one out.")
        order = random.permutation(len(sizes))
        n_groups = int(np.searchsorted(np.cumsum(sizes[order]), n, side="right"))
        is_held = np.isin(group, order[: min(max(1, n_groups), len(sizes) - 1)])
        kept, held = np.flatnonzero(~is_held), np.flatnonzero(is_held)
    return replace(rows, table=table.take(kept)), replace(rows, table=table.take(held))
