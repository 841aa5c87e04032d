"""Opens a file for reading only if it is a regular file."""

import os
import stat
from io import BufferedReader
from os import PathLike
from pathlib import Path

from hornbeam.data.files.addresses import FILE_ON_DISK, require_disk
from hornbeam.errors import StorageError

__all__ = ["open_regular"]


def open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a regular file for reading; raise an error for a pipe, device, socket or folder, without blocking."""
    require_disk("path", path, FILE_ON_DISK)
    _check_regular(Path(path).stat().st_mode)  # before opening, which may change the state of a device
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    try:
        _check_regular(os.fstat(file.fileno()).st_mode)  # again, because the file may have been replaced
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
