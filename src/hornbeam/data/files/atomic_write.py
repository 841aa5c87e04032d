"""Atomic writing: a new file replaces the old one only when it is complete."""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from hornbeam.errors import StorageError

if sys.platform != "win32":
    import fcntl

__all__ = ["create_locked", "is_abandoned", "open_atomic", "remove_abandoned", "rename", "write_atomic"]

TIMEOUT = 60.0  # seconds to wait for another process that saves to the same path
_PAUSE = 0.02
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class _Lock(Enum):
    """Result of an attempt to lock a file."""

    OBTAINED = "obtained"
    HELD = "held by another process"
    NONE = "the file system has no locks"


def write_atomic(path: str | PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    r"""Write a file that replaces the old one when it is complete; after an error the old one is unchanged.

    Raises
    ------
    StorageError
        As for `open_atomic`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(f"{folder}/rows.csv", [b"label", b"\nno"])
    ...     Path(folder, "rows.csv").read_text()
    'label\nno'
    """
    with open_atomic(path) as file:
        file.writelines(parts)


@contextmanager
def open_atomic(path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Iterator[BinaryIO]:
    r"""Open a file that replaces the old one when the block ends; after an error the old one is unchanged.

    Parameters
    ----------
    path : str or path
        The file. A pipe or a device is not replaced but written to.
    timeout : float, default 60.0
        Seconds to wait for another process that writes to the same path.

    Yields
    ------
    binary file
        To write to.

    Raises
    ------
    StorageError
        If another process still writes to this path after that time, or the temporary name is in use and is not a
        regular file.

    Notes
    -----
    The new file is written as ``.<name>.saving`` in the same folder, under a lock that ends with the process. The
    temporary file of a killed process is deleted by the next one that writes to the same path. From the first byte on,
    the new file is readable only by users that can read the old one. If the file system has no locks, the file is
    written without one, but the temporary file of a killed process must be deleted by hand.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_atomic(f"{folder}/rows.csv") as file:
    ...         _ = file.write(b"label\nno")
    ...     Path(folder, "rows.csv").read_text()
    'label\nno'
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as other:
            yield other
        return
    temporary = path.with_name(f".{path.name}.saving")
    with create_locked(temporary, private=path.exists(), timeout=timeout) as file:
        try:
            yield file
            file.flush()
            _copy_permissions(path, file)
            os.fsync(file.fileno())
            rename(file, temporary, path)
        except BaseException:
            if sys.platform == "win32":
                file.close()
            temporary.unlink(missing_ok=True)
            raise
    _sync_folder(path.parent)


def create_locked(path: Path, *, private: bool, timeout: float = TIMEOUT) -> BinaryIO:
    """Create and lock a file, after deleting one of the same name that a dead process left.

    Only the process with the lock deletes or renames the file. So if the file still exists after its lock was
    obtained, it exists until this process renames or deletes it. If the file system has no locks, other processes never
    delete the file, so the process that created it owns it.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    deadline = time.monotonic() + timeout
    while True:
        try:
            handle = os.open(path, flags, 0o600 if private else 0o666)
        except FileExistsError:
            remove_abandoned(path)
        else:
            file = os.fdopen(handle, "r+b")
            try:
                lock = _lock(file)
            except OSError:
                file.close()
                path.unlink(missing_ok=True)
                raise
            if lock is not _Lock.HELD and _is_same(path, file):
                return file
            file.close()
        if time.monotonic() > deadline:
            raise StorageError(
                f"{str(path)!r} has been in use by another process for {timeout:g} seconds: it saves to the same "
                "file, or was killed while it did. Wait for it or end it, then save again. If there is no such "
                "process, delete the file; or save under another name."
            )
        time.sleep(_PAUSE)


def rename(file: BinaryIO, path: Path, name: Path) -> None:
    """Rename a file of `create_locked`; on Windows, where an open file cannot be renamed, close it first."""
    if sys.platform == "win32":
        file.close()
    path.replace(name)


def remove_abandoned(path: Path) -> None:
    """Delete a file of `create_locked` unless a running process has its lock, or the file system has no locks.

    Raises
    ------
    StorageError
        If it is not a regular file.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise StorageError(
                f"{str(path)!r} is not a regular file; expected no file of that name, which is used while saving. "
                "Delete it, then save again."
            )
        if sys.platform == "win32":
            with suppress(PermissionError):  # another process has opened it
                path.unlink()
            return
        with os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW), "r+b") as file:
            if _lock(file) is _Lock.OBTAINED and _is_same(path, file):
                path.unlink()


def is_abandoned(path: Path) -> bool:
    """Whether a file of `create_locked` exists and has no owner: its lock could be obtained."""
    try:
        with os.fdopen(
            os.open(path, os.O_RDWR | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)), "r+b"
        ) as file:
            return _lock(file) is _Lock.OBTAINED
    except OSError:
        return False


def _lock(file: BinaryIO) -> _Lock:
    """Lock a file without waiting."""
    if sys.platform != "win32":  # which needs no lock, because an open file cannot be deleted there
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _Lock.HELD
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return _Lock.NONE
    return _Lock.OBTAINED


def _is_same(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _copy_permissions(path: Path, file: BinaryIO) -> None:
    """Copy the permissions of the old file; without those of the group if the group cannot be kept."""
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
        except OSError:  # the user is not in that group, or it does not exist in this user namespace
            mode &= ~0o070
    os.fchmod(file.fileno(), mode)


def _sync_folder(folder: Path) -> None:
    """Write the new name to disk, where folders can be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
