"""Parquet files by name: paths, folders, patterns and addresses become a list of files that can be opened."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from hornbeam.errors import DataError, HornbeamError, MissingExtraError

__all__ = ["Paths", "files_of", "is_remote", "need_arrow", "open_file", "stat"]

type Paths = str | Path | Iterable[str | Path]


def need_arrow() -> None:
    """Raise `MissingExtraError`, with the extra to install, unless pyarrow can be imported.

    Examples
    --------
    >>> need_arrow()
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "Parquet and Arrow files need pyarrow. Install it: pip install 'hornbeam[parquet]'."
        ) from error


def files_of(paths: Paths) -> list[str]:
    """Every file that is meant, as an absolute path or an address, each once.

    Parameters
    ----------
    paths : str, Path or iterable of them
        Files in the order given. A folder stands for the ``*.parquet`` files in it and below, a pattern such
        as ``"rows-*.parquet"`` for the files it matches, both sorted by name; names that begin with a dot are
        passed over, in folders also those with an underscore. Addresses such as ``"s3://bucket/rows"`` name
        files and folders of the stores that pyarrow knows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.parquet", "a.parquet", "_SUCCESS"):
    ...         Path(folder, name).touch()
    ...     [Path(file).name for file in files_of(folder)]
    ['a.parquet', 'b.parquet']
    """
    wanted = [paths] if isinstance(paths, (str, Path)) else list(paths)
    files = [file for path in wanted for file in (_below(path) if is_remote(path) else _local(Path(path)))]
    if not files:
        raise DataError("No files were named; expected at least one. Pass a path, a folder or a pattern.")
    return list(dict.fromkeys(files))


def is_remote(path: str | Path) -> bool:
    """Whether this is the address of something in a store, and no local path.

    Examples
    --------
    >>> is_remote("s3://bucket/rows.parquet"), is_remote("rows.parquet")
    (True, False)
    """
    return "://" in str(path) and not isinstance(path, Path)


@contextmanager
def open_file(file: str) -> Iterator[Any]:
    """Open a file for reading anywhere in it; what cannot be read is told with its name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as made, open_file(made.name) as opened:
    ...     opened.size()
    0
    """
    import pyarrow as pa

    store, path = _store(file)
    try:
        with store.open_input_file(path) as opened:
            yield opened
    except FileNotFoundError as error:
        raise DataError(f"There is no file {file!r}. Name files, folders or patterns that exist.") from error
    except (pa.ArrowException, OSError) as error:
        cause = " ".join(str(error).split())
        raise DataError(
            f"{file!r} cannot be read as Parquet: {cause} Write it again, or leave it out."
        ) from error


def stat(file: str) -> tuple[int, int]:
    """The size of a file in bytes, and when it was last changed in nanoseconds (0 if the store cannot tell).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as made:
    ...     stat(made.name)[0]
    0
    """
    store, path = _store(file)
    info = store.get_file_info(path)
    return info.size or 0, info.mtime_ns or 0


def _store(file: str) -> tuple[Any, str]:
    from pyarrow.fs import FileSystem

    with _told(file):
        store, path = FileSystem.from_uri(file)
    return store, path


@contextmanager
def _told(address: str) -> Iterator[None]:
    """Say in our words that a store cannot be reached, or does not know an address."""
    import pyarrow as pa

    try:
        yield
    except HornbeamError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        cause = " ".join(str(error).split())
        raise DataError(
            f"{address!r} cannot be reached: {cause} Check the address, the network and the credentials of the store."
        ) from error


def _local(path: Path) -> list[str]:
    try:
        path = path.expanduser().absolute()
        os.fsencode(path)
        if "\0" in str(path):
            raise ValueError("embedded null character")
    except (RuntimeError, ValueError) as error:
        raise DataError(
            "X is a text that is no path of a file: it has a character that no path can have, or names a home folder "
            "that is not there. Expected a path, a folder or a pattern, or rows."
        ) from error
    if path.is_dir():
        below = sorted(path.rglob("*.parquet"))
        found = [file for file in below if not _hidden(file.relative_to(path).parts)]
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


def _below(address: str | Path) -> list[str]:
    from pyarrow.fs import FileSelector, FileType

    address = str(address)
    store, path = _store(address)
    with _told(address):
        kind = store.get_file_info(path).type
        if kind is FileType.NotFound:
            raise DataError(f"There is nothing at {address!r}. Name files or folders that exist.")
        if kind is not FileType.Directory:
            return [address]
        found_there = store.get_file_info(FileSelector(path, recursive=True))
    files = [info.path for info in found_there if info.is_file]
    tails = sorted(PurePosixPath(file).relative_to(path) for file in files if file.endswith(".parquet"))
    found = [f"{address.rstrip('/')}/{tail}" for tail in tails if not _hidden(tail.parts)]
    if not found:
        raise DataError(f"There are no Parquet files below {address!r}. Name a folder that holds some.")
    return found


def _hidden(parts: Iterable[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)
