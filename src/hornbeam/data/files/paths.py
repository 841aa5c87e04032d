"""Parquet files by name: paths, folders, patterns and addresses of stores become a list of files."""

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from hornbeam.data.files.addresses import Address, as_path, is_remote
from hornbeam.data.files.stores import in_store
from hornbeam.errors import DataError, import_extra

_WITH_BUCKETS = ("s3", "gcs", "abfs")  # pyarrow's types of stores

type Paths = str | Path | Iterable[str | Path]


def need_arrow() -> None:
    """Raise `MissingExtraError`, with the extra to install, unless pyarrow can be imported."""
    import_extra("pyarrow", "parquet", "Reading Parquet and Arrow files")


def list_files(paths: Paths) -> list[str]:
    """List the files at some paths, as absolute paths or addresses, each once.

    A folder stands for the ``*.parquet`` files in it and below, a pattern such as ``"rows-*.parquet"`` for
    the files it matches, both sorted by name. Names that begin with a dot are skipped, and in folders those
    with an underscore. Addresses such as ``"s3://bucket/rows"`` name files, folders and patterns (without
    ``?``) of the stores that pyarrow supports, and ``"file:///data/rows"`` those of the disk.
    """
    some: list[Any] = [paths] if not isinstance(paths, Iterable) or isinstance(paths, str) else list(paths)
    wrong = [path for path in some if not isinstance(path, (str, os.PathLike))]
    if wrong:
        raise DataError(
            f"paths has a {type(wrong[0]).__name__}; expected a path, or a list of paths. Pass 'rows.parquet', say."
        )
    files: list[str] = []
    for path in map(as_path, some):
        if is_remote(path):
            files += _remote_files(Address(path))
        else:
            files += _local_files(Path(path))
    if not files:
        raise DataError("No files were named; expected at least one. Pass a path, a folder or a pattern.")
    return list({getattr(file, "full", file): file for file in files}.values())


def _local_files(path: Path) -> list[str]:
    try:
        path = path.expanduser().absolute()
        os.fsencode(path)
        if "\0" in str(path):
            raise ValueError("embedded null character")
    except (RuntimeError, ValueError) as error:
        raise DataError(
            "X is a text that is not a path: it has a character that no path can have, or names a home folder "
            "that does not exist. Expected a path, a folder or a pattern, or rows."
        ) from error
    if path.is_dir():
        below = sorted(path.rglob("*.parquet"))
        found = [file for file in below if not _is_hidden(file.relative_to(path).parts)]
    elif path.exists():
        found = [path]
    else:
        matches = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        found = [file for file in matches if not file.name.startswith(".")]
    if not found:
        raise DataError(
            f"There are no Parquet files at {str(path)!r}. Name files, folders or patterns that exist; "
            "a folder is searched for *.parquet."
        )
    return [str(file) for file in found]


def _remote_files(address: Address) -> list[Address]:
    folder, pattern = _split_pattern(address)
    tails = _tails(folder, recursive=len(pattern) != 1)
    if tails is None and not pattern:
        return [address]
    names = sorted(tail.split("/") for tail in tails or [])
    if pattern:
        found = [parts for parts in names if _matches(parts, pattern) and not parts[-1].startswith(".")]
    else:
        found = [parts for parts in names if parts[-1].endswith(".parquet") and not _is_hidden(parts)]
    if not found and pattern:
        raise DataError(f"No files match {address!r}. Name files, folders or patterns that exist.")
    if not found:
        raise DataError(f"There are no Parquet files below {address!r}. Name a folder that has some.")
    return [folder.below("/".join(parts)) for parts in found]


def _tails(address: Address, *, recursive: bool = True) -> list[str] | None:
    """List the files below a folder; None for a file."""
    from pyarrow.fs import FileSelector, FileType

    def find(store: Any, path: str) -> list[str] | None:
        kind = store.get_file_info(path).type
        if kind is FileType.NotFound:
            bucket = path.partition("/")[0]
            if store.type_name in _WITH_BUCKETS and store.get_file_info(bucket).type is FileType.NotFound:
                raise DataError(f"There is no bucket {bucket!r} at {address!r}. Name one that exists.")
            raise DataError(f"There is nothing at {address!r}. Name files, folders or patterns that exist.")
        if kind is not FileType.Directory:
            return None
        infos = store.get_file_info(FileSelector(path, recursive=recursive))
        return [str(PurePosixPath(info.path).relative_to(path)) for info in infos if info.is_file]

    return in_store(address, find)


def _split_pattern(address: Address) -> tuple[Address, list[str]]:
    """Return the last folder before the first ``*`` or ``[``, and the pattern of each name below it."""
    place, mark, options = address.full.partition("?")
    host = re.match(r".*?://[^/]*", place)
    marked = re.compile(r"/[^/]*[*\[]").search(place, host.end() if host else len(place))
    if marked is None:
        return address, []
    below = re.sub(r"%(2A|5B|3F)", lambda escaped: f"[{unquote(escaped[0])}]", place[marked.start() + 1 :])
    return Address(f"{place[: marked.start()]}{mark}{options}"), unquote(below).split("/")


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Whether the names of a path match a pattern; ``**`` stands for any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[at:], pattern[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _is_hidden(parts: Iterable[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)
