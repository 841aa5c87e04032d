"""Files written whole or not at all: the new one takes the place of the old one when it is complete."""

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from hornbeam.errors import StorageError

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

__all__ = ["created", "is_abandoned", "remove_abandoned", "replace", "replacing"]

PATIENCE = 60.0  # seconds to wait for another process that saves to the same path
_PAUSE = 0.02


def replace(path: str | PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    r"""Write a file in the place of another, or leave that one as it is.

    Raises
    ------
    StorageError
        As `replacing`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace(f"{folder}/answers.csv", [b"label", b"\nno"])
    ...     Path(folder, "answers.csv").read_text()
    'label\nno'
    """
    with replacing(path) as file:
        file.writelines(parts)


@contextmanager
def replacing(path: str | PathLike[str], *, patience: float = PATIENCE) -> Iterator[BinaryIO]:
    r"""Open a file that takes the place of another when the block ends; after an error that one stays as it is.

    Parameters
    ----------
    path : str or path
        The file. What is no regular file, a pipe or a device, is written to and stays what it is.
    patience : float, default 60.0
        Seconds to wait for another process that writes to the same path.

    Yields
    ------
    binary file
        To write to.

    Raises
    ------
    StorageError
        If another process still writes to this path after that time, or the temporary name is taken by something
        that is no regular file.

    Notes
    -----
    The new file is written as ``.<name>.saving`` beside the old one, under a lock that ends with the process. What a
    killed process left there is deleted by the next one that writes to the same path. Before its first byte is
    written, the new file can be read by nobody who could not read the old one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/answers.csv") as file:
    ...         _ = file.write(b"label\nno")
    ...     Path(folder, "answers.csv").read_text()
    'label\nno'
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as other:
            yield other
        return
    growing = path.with_name(f".{path.name}.saving")
    with created(growing, private=path.exists(), patience=patience) as file:
        try:
            yield file
            file.flush()
            _copy_permissions(path, file)
            os.fsync(file.fileno())
            if sys.platform == "win32":  # an open file cannot be renamed there
                file.close()
            growing.replace(path)
        except BaseException:
            if sys.platform == "win32":
                file.close()
            growing.unlink(missing_ok=True)
            raise
    _sync_folder(path.parent)


def created(path: Path, *, private: bool, patience: float = PATIENCE) -> BinaryIO:
    """Create and lock a file, after what a dead process left under its name is deleted.

    Whoever deletes or renames the file holds its lock. So a file that is still there when its lock was obtained stays
    there until the holder of the lock renames or deletes it.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    deadline = time.monotonic() + patience
    while True:
        try:
            handle = os.open(path, flags, 0o600 if private else 0o666)
        except FileExistsError:
            remove_abandoned(path)
        else:
            file = os.fdopen(handle, "r+b")
            if _lock(file) and _is_same(path, file):
                return file
            file.close()
        if time.monotonic() > deadline:
            raise StorageError(
                f"{str(path)!r} has been in use by another process for {patience:g} seconds: it saves to the same "
                "file, or was stopped while it did. Wait for it or end it, then save again; or save under another name."
            )
        time.sleep(_PAUSE)


def remove_abandoned(path: Path) -> None:
    """Delete a file that `created` made unless a living process has its lock.

    Raises
    ------
    StorageError
        If it is no regular file.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise StorageError(
                f"{str(path)!r} is no regular file; expected no file of that name, which is used while saving. "
                "Delete it, then save again."
            )
        if sys.platform == "win32":
            with suppress(PermissionError):  # it is open elsewhere
                path.unlink()
            return
        with os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW), "r+b") as file:
            if _lock(file) and _is_same(path, file):
                path.unlink()


def is_abandoned(path: Path) -> bool:
    """Whether a file that `created` made is there and no living process has its lock."""
    try:
        with os.fdopen(
            os.open(path, os.O_RDWR | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)), "r+b"
        ) as file:
            return _lock(file)
    except OSError:
        return False


def _lock(file: BinaryIO) -> bool:
    """Lock a file without waiting; False if another one has the lock."""
    if sys.platform != "win32":  # where an open file cannot be deleted, which serves as well
        try:
            flock(file.fileno(), LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _is_same(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _copy_permissions(path: Path, file: BinaryIO) -> None:
    """Give the new file the permissions of the old one; never to another group than that could read it."""
    try:
        old = path.stat()
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if sys.platform == "win32":
        return
    if os.fstat(file.fileno()).st_gid != old.st_gid:
        try:
            os.fchown(file.fileno(), -1, old.st_gid)
        except PermissionError:
            mode &= ~0o070
    os.fchmod(file.fileno(), mode)


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where folders can be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
