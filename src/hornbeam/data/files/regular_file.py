"""Files opened for reading, once they are known to be regular files."""

import os
import stat
from io import BufferedReader
from os import PathLike
from pathlib import Path

from hornbeam.errors import StorageError

__all__ = ["open_regular"]


def open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a regular file for reading; refuse a pipe, a device, a socket or a folder without waiting for it.

    Raises
    ------
    StorageError
        If it is no regular file.
    OSError
        If there is no such file, or it may not be read.

    Examples
    --------
    >>> open_regular("/dev/null")
    Traceback (most recent call last):
        ...
    hornbeam.errors.StorageError: this is a device; expected a regular file
    """
    _check_regular(Path(path).stat().st_mode)  # to open a device may already change something
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    try:
        _check_regular(os.fstat(file.fileno()).st_mode)  # it may be another one by now
    except StorageError:
        file.close()
        raise
    return file


def _check_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise StorageError(f"this is a {_kind(mode)}; expected a regular file")


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"
