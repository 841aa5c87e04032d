"""Atomic writing: a new file replaces the old one only when it is complete; safe opening of regular files."""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from hornbeam.data.files.addresses import FILE_ON_DISK, require_disk
from hornbeam.errors import StorageError

if sys.platform != "win32":
    import fcntl

TIMEOUT = 60.0  # seconds to wait for another process that saves to the same path
_PAUSE = 0.02
_OPEN_ELSEWHERE = 5.0  # seconds to wait on Windows for a program that has the old file open
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class _Lock(Enum):
    """Result of an attempt to lock a file."""

    OBTAINED = "obtained"
    HELD = "held by another process"
    NONE = "the file system has no locks"


def write_atomic(
    path: str | PathLike[str], parts: Iterable[bytes | memoryview], *, private: bool = False
) -> None:
    """Write a file that replaces the old one when it is complete; after an error the old one is unchanged."""
    with open_atomic(path, private=private) as file:
        file.writelines(parts)


@contextmanager
def open_atomic(
    path: str | PathLike[str], *, timeout: float = TIMEOUT, private: bool = False
) -> Iterator[BinaryIO]:
    """Open a file that replaces the old one when the block ends; after an error the old one is unchanged.

    A pipe or a device is not replaced but written to. `timeout` is in seconds, and begins anew with each
    other process that writes to the same path; after it a `StorageError` is raised. A `private` file can be
    read by this user only, whatever the permissions of the old one; any other, from the first byte on, only
    by users that can read the old one.

    The new file is written as ``.<name>.saving`` in the same folder, under a lock that ends with the process.
    The temporary file of a killed process is deleted by the next one that writes to the same path. If the
    file system has no locks, the file is written without one, but the temporary file of a killed process must
    be deleted by hand.
    """
    require_disk("path", path, FILE_ON_DISK)
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with named_if_full(path), path.open("wb") as other:
            yield other
        return
    temporary = path.with_name(f".{path.name}.saving")
    with (
        named_if_full(path),
        create_locked(temporary, private=private or path.exists(), timeout=timeout) as file,
    ):
        try:
            yield file
            file.flush()
            if not private:
                _copy_permissions(path, file)
            os.fsync(file.fileno())
            rename(file, temporary, path)
        except BaseException:
            if sys.platform == "win32":
                file.close()
            temporary.unlink(missing_ok=True)
            raise
    _sync_folder(path.parent)


@contextmanager
def named_if_full(path: Path) -> Iterator[None]:
    """Add the name of a file to the error of a full disk, a used quota or a limit of the size of files."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL and error.filename in (None, ""):
            error.filename = str(path)
        raise


@contextmanager
def create_locked(path: Path, *, private: bool, timeout: float = TIMEOUT) -> Iterator[BinaryIO]:
    """Create and lock a file, after deleting one of the same name that a dead process left; close it after the block.

    Only the process with the lock deletes or renames the file. So if the file still exists after its lock was
    obtained, it exists until this process renames or deletes it. If the file system has no locks, other processes never
    delete the file, so the process that created it owns it.
    """
    if sys.platform == "win32":
        with _lock_beside(path, timeout), _create(path, private, timeout) as file:
            yield file
    else:
        with _create(path, private, timeout) as file:
            yield file


@contextmanager
def _lock_beside(path: Path, timeout: float) -> Iterator[None]:
    """Lock a file on Windows, where an open file cannot be renamed or deleted: keep another one open beside it."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        with _create(lock, True, timeout):
            yield
    finally:
        _remove_unlocked(lock)


def _create(path: Path, private: bool, timeout: float) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    begin = time.monotonic()
    owner, deadline = None, begin + timeout
    while True:
        try:
            handle = os.open(path, flags, 0o600 if private else 0o666)
        except FileExistsError:
            if _remove_unlocked(path):
                continue
            if (other := _identity(path)) != owner:
                owner, deadline = other, time.monotonic() + timeout
        except PermissionError:  # on Windows also while another program has a deleted file of this name open
            if sys.platform != "win32" or time.monotonic() > begin + _OPEN_ELSEWHERE:
                raise
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
    """Rename a file of `create_locked`.

    Windows renames no open file and replaces none that another program has open: the file is closed first, and if that
    program does not close the other one within a few seconds, a PermissionError is raised.
    """
    deadline = time.monotonic()
    if sys.platform == "win32":
        file.close()
        deadline += _OPEN_ELSEWHERE
    while True:
        try:
            path.replace(name)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


def remove_abandoned(path: Path) -> None:
    """Delete a file of `create_locked` unless a running process has its lock, or the file system has no locks."""
    if sys.platform != "win32":
        _remove_unlocked(path)
    elif path.exists():
        with suppress(StorageError), _lock_beside(path, timeout=0):
            _remove_unlocked(path)


def _remove_unlocked(path: Path) -> bool:
    """Delete a file that no process has locked; return whether it was deleted."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise StorageError(
                f"{str(path)!r} is not a regular file; expected no file of that name, which is used while saving. "
                "Delete it, then save again."
            )
        if sys.platform == "win32":
            with suppress(PermissionError):  # another process has opened it
                path.unlink()
                return True
            return False
        with os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW), "r+b") as file:
            if _lock(file) is _Lock.OBTAINED and _is_same(path, file):
                path.unlink()
                return True
    return False


def is_abandoned(path: Path) -> bool:
    """Whether a file of `create_locked` exists and has no owner: its lock could be obtained."""
    if sys.platform == "win32":
        if path.exists():
            with suppress(StorageError), _lock_beside(path, timeout=0):
                return path.exists()
        return False
    try:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW), "r+b") as file:
            return _lock(file) is _Lock.OBTAINED
    except OSError:
        return False


def _lock(file: BinaryIO) -> _Lock:
    """Lock a file without waiting."""
    if sys.platform != "win32":  # where an open file is locked: it cannot be deleted
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _Lock.HELD
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return _Lock.NONE
    return _Lock.OBTAINED


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the number of a file, and on Windows the time it was made; None if there is no file."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        return status.st_ino, getattr(status, "st_birthtime_ns", 0)
    return None


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
