"""Footers of Parquet files: their row groups, and the type of values in each column."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from hornbeam.data.engine import Engine
from hornbeam.data.files.stores import open_parquet, read_file, stat
from hornbeam.data.reading.columns import unusable_column_error
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Partition
from hornbeam.errors import DataError

__all__ = [
    "KINDS",
    "NOTHING",
    "TEXT",
    "Footer",
    "common_types",
    "feature_kind",
    "merge_columns",
    "read_footers",
    "row_group_partitions",
]

# A column must have the same type in all files, except where it has nothing but nulls.
NOTHING, NUMBERS, BOOLEANS, TEXT = "nothing", "numbers", "booleans", "text"
CATEGORIES, ORDERED = "categories", "ordered categories"
KINDS = {
    NOTHING: Kind.NUMERIC,
    NUMBERS: Kind.NUMERIC,
    BOOLEANS: Kind.NOMINAL,
    TEXT: Kind.NOMINAL,
    CATEGORIES: Kind.NOMINAL,
    ORDERED: Kind.ORDINAL,
}


@dataclass(frozen=True, slots=True)
class Footer:
    """The facts about one file: size, time of change, rows of each row group, and type of every column.

    `index` names the columns that are the index of a pandas frame.
    """

    file: str
    size: int
    changed: int
    groups: tuple[int, ...]
    sorts: dict[str, str]
    index: tuple[str, ...] = ()


def read_footers(files: Sequence[str], engine: Engine) -> list[Footer]:
    """Read the footers of some files, in their order; no rows are read."""
    [footers] = engine.reduce(_read_footers, files, None)
    place = dict(zip(files, count(), strict=False))
    return sorted(footers, key=lambda footer: place[footer.file])


def merge_columns(columns: Mapping[str, Iterable[str]], optional: Collection[str] | None = ()) -> list[str]:
    """Return the columns of some files: those of all files in the order of the first, then those of some by name.

    Files may lack `optional` columns, or any if None; a file that lacks another one is a `DataError`, with
    the same file and column for every order of the files.
    """
    found = {file: dict.fromkeys(names) for file, names in columns.items()}
    counts = Counter(name for names in found.values() for name in names)
    some = sorted(name for name, n_files in counts.items() if n_files < len(found))
    lacked = [] if optional is None else [name for name in some if name not in optional]
    if lacked:
        without = min(file for file, names in found.items() if lacked[0] not in names)
        owner = min(file for file, names in found.items() if lacked[0] in names)
        raise DataError(
            f"{without!r} has no column {lacked[0]!r}, which {owner!r} has; columns that some files lack: "
            f"{lacked[:10]}. Expected the same columns in all files. Open them with "
            "ParquetSource.open(..., missing_columns='null'), which reads such columns as missing values, or leave "
            "them out with its exclude=; on the command line, --missing-columns null or --drop."
        )
    return [name for name in next(iter(found.values())) if counts[name] == len(found)] + some


def common_types(
    footers: Sequence[Footer], names: Iterable[str], optional: Collection[str] = ()
) -> dict[str, str]:
    """Return the type of each named column; raise a `DataError` if files differ, or lack one that is not optional."""
    found: dict[str, str] = {}
    for name in names:
        first: Footer | None = None
        for footer in footers:
            held = footer.sorts.get(name)
            if held is None and name not in optional:
                raise DataError(
                    f"{footer.file!r} has no column {name!r}; its columns are {list(footer.sorts)}. "
                    "Name columns that every file has."
                )
            if held is None or held == NOTHING:
                continue
            if first is None:
                first = footer
            elif held != first.sorts[name]:
                raise DataError(
                    f"Column {name!r} holds {first.sorts[name]} in {first.file!r}, but {held} in "
                    f"{footer.file!r}; expected one type in all files. Write it with the same type in each."
                )
        found[name] = NOTHING if first is None else first.sorts[name]
    return found


def feature_kind(name: str, held: str) -> Kind:
    """Return the kind of feature for a type of values."""
    if held not in KINDS:
        raise unusable_column_error(name, held, temporal=held.startswith(("date", "time", "duration")))
    return KINDS[held]


def row_group_partitions(footers: Sequence[Footer], most_rows: int) -> list[Partition]:
    """Return a partition per row group, or several for a group of more than `most_rows` rows."""
    partitions, begin = [], 0
    for footer in footers:
        for group, n_rows in enumerate(footer.groups):
            n_parts = -(-n_rows // most_rows)
            ends = [begin + n_rows * (part + 1) // n_parts for part in range(n_parts)]
            for part, end in enumerate(ends):
                partitions.append(Partition(begin, end, footer.file, group, part))
                begin = end
    if not partitions:
        raise DataError(
            f"The {len(footers)} files, {footers[0].file!r} first, have 0 rows while a minimum of 1 is required."
        )
    return partitions


def _read_footers(files: Sequence[str], _: Any) -> list[list[Footer]]:
    """Task: read the footers of some files."""
    footers = []
    for file in files:
        parquet = read_file(file, open_parquet)
        groups, schema = parquet.metadata, parquet.schema_arrow
        if len(set(schema.names)) < len(schema.names):
            raise DataError(f"{file!r} has two columns of the same name among {schema.names}. Rename one.")
        pandas = schema.pandas_metadata or {}
        footers.append(
            Footer(
                file,
                *stat(file),
                tuple(groups.row_group(group).num_rows for group in range(groups.num_row_groups)),
                dict(zip(schema.names, map(_value_type, schema.types), strict=True)),
                tuple(column for column in pandas.get("index_columns", ()) if isinstance(column, str)),
            )
        )
    return [footers]


def _value_type(dtype: Any) -> str:
    """Return the type of values of an Arrow type; its own name if it cannot be used."""
    from pyarrow import types

    if types.is_dictionary(dtype):
        if dtype.ordered:
            return ORDERED
        return TEXT if _value_type(dtype.value_type) == TEXT else CATEGORIES
    if types.is_null(dtype):
        return NOTHING
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype):
        return NUMBERS
    if types.is_boolean(dtype):
        return BOOLEANS
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype):
        return TEXT
    return str(dtype)
