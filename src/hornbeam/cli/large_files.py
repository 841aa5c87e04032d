"""Training rows that stay in their Parquet files: columns are checked one at a time, and the fit streams rows."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from hornbeam.cli.console import progress
from hornbeam.cli.roles import no_such_column
from hornbeam.errors import DataError
from hornbeam.logger import bytes_text

__all__ = ["LargeFiles", "doubtful_in", "judge_columns", "large_files", "open_large"]

_SMALL_PART = 8  # rows that take less than this part of the memory are read at once
_SAMPLE_ROWS = 100_000  # rows searched for copies of the target


class LargeFiles(NamedTuple):
    """Parquet files with many rows."""

    files: list[str]
    n_rows: int
    names: list[str]

    @property
    def n_bytes(self) -> int:
        """Memory that all rows would need, in bytes."""
        return 8 * len(self.names) * self.n_rows


def large_files(data: str, memory: int, why_at_once: str | None) -> LargeFiles | None:
    """Return Parquet files too large to read at once; None for all other files.

    `why_at_once` is the reason why the fit needs all rows in memory; rows that do not fit are then refused.
    """
    from hornbeam.data.files.tabular import parquet_files, parquet_shape

    files = parquet_files(data)
    if files is None:
        return None
    found = LargeFiles(files, *parquet_shape(files))
    if why_at_once is None:
        return found if found.n_bytes > memory // _SMALL_PART else None
    if found.n_bytes > memory:
        raise DataError(
            f"{why_at_once} needs all rows in memory: the {found.n_rows:,} rows of {data!r} take about "
            f"{bytes_text(found.n_bytes)}, and --memory is {bytes_text(memory)}. Pass a larger --memory, leave columns "
            "out of the files, or fit to fewer rows."
        )
    return None


def judge_columns(
    large: LargeFiles,
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


def open_large(
    large: LargeFiles,
    target: str,
    weight: str | None,
    groups: str | None,
    features: Sequence[str],
    balanced: bool,
    is_regression: bool,
    n_jobs: int,
    missing_columns: str,
) -> Any:
    """Open the files as a source of the rows that have a label, or a number."""
    from hornbeam.data.engine import LocalEngine
    from hornbeam.data.files.parquet import ParquetSource
    from hornbeam.data.schema import Kind
    from hornbeam.estimators.parameters.threads import n_threads

    return ParquetSource.open(
        large.files,
        target=target,
        weight=weight,
        groups=groups,
        features=features,
        class_weight="balanced" if balanced else None,
        engine=LocalEngine(n_threads(n_jobs)),
        labelled=True,
        missing_columns=missing_columns,
        target_kind=Kind.NUMERIC if is_regression else Kind.NOMINAL,
    )


def doubtful_in(rows: Any, n_jobs: int) -> Any:
    """The features that look like copies of the target or like groups of rows, in a sample of a source."""
    from hornbeam.data.column_checks import group_columns, target_copies
    from hornbeam.data.engine import LocalEngine
    from hornbeam.estimators.parameters.threads import n_threads
    from hornbeam.out_of_core import draw_sample

    sample = draw_sample(rows, LocalEngine(n_threads(n_jobs)), _SAMPLE_ROWS)
    return (*target_copies(sample), *group_columns(sample))
