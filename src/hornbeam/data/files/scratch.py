"""Temporary folders and drafts of files; those of a killed process are deleted by the next one on this machine."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import KW_ONLY, InitVar, dataclass
from os import PathLike
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any, BinaryIO
from uuid import uuid4
from weakref import finalize

from hornbeam.data.files.atomic_write import (
    create_locked,
    is_abandoned,
    named_if_full,
    remove_abandoned,
    rename,
)
from hornbeam.errors import StorageError

_PREFIX = "hornbeam-"
_IN_USE = "in-use"  # name of the file that the owner of a folder keeps locked; the machine's name follows


@contextmanager
def scratch_folder(parent: str | PathLike[str] | None = None) -> Iterator[str]:
    """Create a temporary folder and delete it after the block; delete those of killed processes first.

    A file in the folder is locked as long as the process of its owner runs. The name of the machine is part
    of the file's name: in a folder that several machines share, each deletes only its own.
    """
    place = Path(parent or gettempdir())
    _remove_abandoned_folders(place)
    folder = Path(mkdtemp(prefix=_PREFIX, dir=place))
    try:
        with _in_use(folder):
            yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(eq=False)
class WrittenRows:
    """Rows that were written as Parquet files of a temporary folder, and the names of their columns.

    The folder is deleted by `close`, or with the last reference to this object. A copy in another process is None.
    """

    path: str
    target: str | None
    weight: str | None
    groups: str | None
    _: KW_ONLY
    named: bool  # whether the columns had names before
    folder: str
    stack: InitVar[ExitStack]

    def __post_init__(self, stack: ExitStack) -> None:
        self.close = finalize(self, stack.close)

    def __reduce__(self) -> Any:
        return type(None), ()


@contextmanager
def _in_use(folder: Path) -> Iterator[None]:
    """Keep a file in the folder locked, which has the name that other processes look for only when it is locked."""
    if sys.platform == "win32":  # where a file is locked before it is created
        with create_locked(folder / _lock_name(), private=True):
            yield
    else:
        with create_locked(folder / ".locking", private=True) as file:
            rename(file, folder / ".locking", folder / _lock_name())
            yield


def _remove_abandoned_folders(place: Path) -> None:
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError, StorageError):
            if _is_own(folder) and is_abandoned(folder / _lock_name()):
                shutil.rmtree(folder, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    """Whether this user made a folder; on Windows the folder of temporary files has none of other users."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return sys.platform == "win32" or folder.stat().st_uid == os.getuid()


@contextmanager
def open_draft(path: Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """Open a file under a temporary name; it is renamed when the block ends, and deleted after an error.

    Unlike `hornbeam.data.files.atomic_write` it needs no lock shared by machines: the last writer wins. With
    `sync` the bytes are on disk before the file is renamed, so that they also survive a loss of power.
    """
    draft = path.with_name(f".{path.name}.{_machine()}.{uuid4().hex}")
    try:
        with named_if_full(path), create_locked(draft, private=False) as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
            rename(file, draft, path)
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path, start: str) -> None:
    """Delete the drafts of files whose names begin with `start`, if processes of this machine wrote them and ended."""
    name = re.compile(rf"\.{re.escape(start)}.*\.{re.escape(_machine())}\.[0-9a-f]{{32}}")
    for path in folder.iterdir():
        if name.fullmatch(path.name):
            with suppress(OSError, StorageError):
                remove_abandoned(path)


def _lock_name() -> str:
    return f".{_IN_USE}.{_machine()}"


def _machine() -> str:
    return re.sub("[^A-Za-z0-9-]", "-", platform.node())[:64]
