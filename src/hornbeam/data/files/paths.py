"""Parquet files by name: paths, folders, patterns and addresses of stores become a list of files."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from hornbeam.errors import DataError, HornbeamError, import_extra

__all__ = [
    "Paths",
    "file_system",
    "is_remote",
    "list_files",
    "need_arrow",
    "one_line",
    "open_file",
    "stat",
    "store_errors",
    "without_credentials",
]

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
        files and folders of the stores that pyarrow supports.

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
    files = [
        file
        for path in paths
        for file in (_remote_files(str(path)) if is_remote(path) else _local_files(Path(path)))
    ]
    if not files:
        raise DataError("No files were named; expected at least one. Pass a path, a folder or a pattern.")
    return list(dict.fromkeys(files))


def is_remote(path: str | Path) -> bool:
    """Whether a path is the address of a store, such as S3.

    Examples
    --------
    >>> is_remote("s3://bucket/rows.parquet"), is_remote("rows.parquet")
    (True, False)
    """
    return "://" in str(path) and not isinstance(path, Path)


@contextmanager
def open_file(file: str) -> Iterator[Any]:
    """Open a file for random access; raise a `DataError` with its name if it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as empty, open_file(empty.name) as opened:
    ...     opened.size()
    0
    """
    import pyarrow as pa

    store, path = file_system(file)
    try:
        with store.open_input_file(path) as opened:
            yield opened
    except FileNotFoundError as error:
        raise DataError(f"There is no file {file!r}. Name files, folders or patterns that exist.") from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file!r} cannot be read as Parquet: {one_line(error)} Write it again, or leave it out."
        ) from error


def one_line(error: Exception) -> str:
    """Return the message of an exception without line breaks.

    Examples
    --------
    >>> one_line(ValueError("no   such column"))
    'no such column'
    """
    return " ".join(str(error).split())


def stat(file: str) -> tuple[int, int]:
    """Return the size of a file in bytes, and the time of its last change in nanoseconds (0 if unknown).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     stat(empty.name)[0]
    0
    """
    store, path = file_system(file)
    info = store.get_file_info(path)
    return info.size or 0, info.mtime_ns or 0


def without_credentials(address: str) -> str:
    """Return an address without the user name, password and options it may contain.

    Examples
    --------
    >>> without_credentials("s3://key:secret@bucket/rows?endpoint_override=localhost")
    's3://bucket/rows'
    >>> without_credentials("/data/rows@home.parquet")
    '/data/rows@home.parquet'
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    host, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def file_system(file: str) -> tuple[Any, str]:
    """Return the file system of an address and the path in it.

    Examples
    --------
    >>> file_system("/data/rows.parquet")[1]
    '/data/rows.parquet'
    """
    from pyarrow.fs import FileSystem

    with store_errors(file):
        store, path = FileSystem.from_uri(file)
    return store, path


@contextmanager
def store_errors(address: str) -> Iterator[None]:
    """Raise a `DataError` if a store cannot be reached, or an address is unknown."""
    import pyarrow as pa

    try:
        yield
    except HornbeamError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        shown = without_credentials(address)
        why = one_line(error).replace(address, shown)
        raise DataError(
            f"{shown!r} cannot be reached: {why} Check the address, the network and the credentials of the store."
        ) from (error if shown == address else None)  # its text may have the credentials


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


def _remote_files(address: str) -> list[str]:
    from pyarrow.fs import FileSelector, FileType

    store, path = file_system(address)
    with store_errors(address):
        kind = store.get_file_info(path).type
        if kind is FileType.NotFound:
            raise DataError(
                f"There is nothing at {without_credentials(address)!r}. Name files or folders that exist."
            )
        if kind is not FileType.Directory:
            return [address]
        infos = store.get_file_info(FileSelector(path, recursive=True))
    files = [info.path for info in infos if info.is_file]
    tails = sorted(PurePosixPath(file).relative_to(path) for file in files if file.endswith(".parquet"))
    found = [f"{address.rstrip('/')}/{tail}" for tail in tails if not _is_hidden(tail.parts)]
    if not found:
        shown = without_credentials(address)
        raise DataError(f"There are no Parquet files below {shown!r}. Name a folder that has some.")
    return found


def _is_hidden(parts: Iterable[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)
