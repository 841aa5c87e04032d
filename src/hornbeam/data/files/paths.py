"""Parquet files by name: paths, folders, patterns and addresses of stores become a list of files."""

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from hornbeam.data.files.addresses import Address, as_path, is_remote
from hornbeam.data.files.stores import in_store
from hornbeam.errors import DataError, import_extra

__all__ = ["Paths", "list_files", "need_arrow"]

type Paths = str | Path | Iterable[str | Path]


def need_arrow() -> None:
    """Raise `MissingExtraError`, with the extra to install, unless pyarrow can be imported.

    Examples
    --------
    >>> need_arrow()
    """
    import_extra("pyarrow", "parquet", "Reading Parquet and Arrow files")


def list_files(paths: Paths) -> list[str]:
    """List the files at some paths, as absolute paths or addresses, each once.

    Parameters
    ----------
    paths : str, Path or iterable of them
        Files, in this order. A folder stands for the ``*.parquet`` files in it and below, a pattern such
        as ``"rows-*.parquet"`` for the files it matches, both sorted by name. Names that begin with a dot are
        skipped, and in folders those with an underscore. Addresses such as ``"s3://bucket/rows"`` name
        files and folders of the stores that pyarrow supports, and ``"file:///data/rows"`` those of the disk.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.parquet", "a.parquet", "_SUCCESS"):
    ...         Path(folder, name).touch()
    ...     [Path(file).name for file in list_files(folder)]
    ['a.parquet', 'b.parquet']
    """
    paths = [paths] if isinstance(paths, (str, Path)) else list(paths)
    files: list[str] = []
    for path in map(as_path, paths):
        if isinstance(path, str) and is_remote(path):
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
    from pyarrow.fs import FileSelector, FileType

    def find(store: Any, path: str) -> list[str] | None:
        """List the files below a folder; None for a file."""
        kind = store.get_file_info(path).type
        if kind is FileType.NotFound:
            raise DataError(f"There is nothing at {address!r}. Name files or folders that exist.")
        if kind is not FileType.Directory:
            return None
        infos = store.get_file_info(FileSelector(path, recursive=True))
        return [str(PurePosixPath(info.path).relative_to(path)) for info in infos if info.is_file]

    tails = in_store(address, find)
    if tails is None:
        return [address]
    tails = sorted((tail for tail in tails if tail.endswith(".parquet")), key=lambda tail: tail.split("/"))
    found = [address.below(tail) for tail in tails if not _is_hidden(tail.split("/"))]
    if not found:
        raise DataError(f"There are no Parquet files below {address!r}. Name a folder that has some.")
    return found


def _is_hidden(parts: Iterable[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)
