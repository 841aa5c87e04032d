"""Columns that exist only in the names of folders, such as ``year=2024`` (Hive partitions)."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from hornbeam.data.files.addresses import is_remote
from hornbeam.data.files.footers import NOTHING, NUMBERS, TEXT, Footer

__all__ = ["add_folder_types", "folder_array", "folder_types", "folder_values"]

_MISSING = "__HIVE_DEFAULT_PARTITION__"
_ABSENT = 0  # no value of a folder: these are texts, or None if missing
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}")


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
