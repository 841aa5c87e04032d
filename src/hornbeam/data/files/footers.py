"""Footers of Parquet files: their row groups, and the type of values in each column, also of those in folder names."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from hornbeam.data.engine import Engine
from hornbeam.data.files.addresses import is_remote
from hornbeam.data.files.stores import open_parquet, read_file, stat
from hornbeam.data.reading.columns import unusable_column_error
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Partition
from hornbeam.errors import DataError

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
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_ABSENT = 0  # no value of a folder: these are texts, or None if missing
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}")


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
            "scan_parquet(..., missing_columns='null'), which reads such columns as missing values, or leave "
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


def folder_values(file: str) -> dict[str, str | None]:
    """Return the columns in the folder names of a path, ``year=2024/``, and their values as text; None if missing."""
    folders = unquote(file).split("/") if is_remote(file) else PurePath(file).parts
    pairs = [folder.partition("=") for folder in folders[:-1]]
    return {
        unquote(name): None if value == _MISSING else unquote(value)
        for name, mark, value in pairs
        if name and mark
    }


def folder_types(
    files: Sequence[str], text: Collection[str] = (), needed: Collection[str | None] | None = None
) -> dict[str, str]:
    """Return the type of each column in folder names: `NUMBERS` if all its values are whole numbers, else `TEXT`.

    Columns of `text` are text in any case. A column that is not `needed` and has one value in all files is
    left out: a folder above all of them, such as ``run=3``, has no information about the rows. None: all
    columns are needed.
    """
    types: dict[str, str] = {}
    found = [folder_values(file) for file in files]
    for values in found:
        for name, value in values.items():
            whole = value is None or _WHOLE_NUMBER.fullmatch(value)
            types.setdefault(name, TEXT if name in text else NUMBERS)
            if not whole:
                types[name] = TEXT
    if needed is None:
        return types
    several = {name for name in types if len({values.get(name, _ABSENT) for values in found}) > 1}
    return {name: held for name, held in types.items() if name in needed or name in several}


def add_folder_types(footers: Sequence[Footer], types: Mapping[str, str]) -> list[Footer]:
    """Add the columns in folder names after those of the files; a column of the file itself takes precedence."""
    return [
        replace(footer, sorts=footer.sorts | {name: types[name] for name in _absent(footer, types)})
        for footer in footers
    ]


def folder_array(file: str, name: str, held: str, n_rows: int) -> Any:
    """Return a column that is not in the file as a pyarrow array: one value of the folder names, or nulls."""
    import pyarrow as pa

    if held == NOTHING:
        return pa.nulls(n_rows)
    value = folder_values(file).get(name)
    if held == NUMBERS:
        return pa.repeat(pa.scalar(None if value is None else int(value), pa.int64()), n_rows)
    codes = pa.repeat(pa.scalar(None if value is None else 0, pa.int32()), n_rows)
    return pa.DictionaryArray.from_arrays(codes, pa.array([] if value is None else [value], pa.string()))


def _absent(footer: Footer, types: Mapping[str, str]) -> list[str]:
    """Return the columns in folder names that the file itself does not have."""
    return [name for name in folder_values(footer.file) if name in types and name not in footer.sorts]
