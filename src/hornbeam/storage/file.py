"""Files that hold models: written whole or not at all, read without trust."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from hornbeam.errors import StorageError
from hornbeam.storage import tensors, text
from hornbeam.storage.model import Grove, Model
from hornbeam.storage.pickles import refuse_pickle, refuse_pickle_name

if sys.platform != "win32":
    from fcntl import LOCK_EX, flock

__all__ = [
    "check_writable",
    "decode",
    "encode",
    "read",
    "read_any",
    "replace",
    "replacing",
    "write",
    "write_fitting",
]


def encode(model: Model | Grove, *, as_tensors: bool = False) -> bytes:
    """Write a model as the bytes of a file; several trees are always tensors.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Schema, Skeleton, Tree
    >>> tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> encode(Model(tree)).splitlines()[1]
    b'  "format": "hornbeam",'
    """
    return b"".join(_parts(model, as_tensors))


def _parts(model: Model | Grove, as_tensors: bool) -> list[bytes | memoryview]:
    # Text is for trees that are read by people; nobody reads a hundred.
    if as_tensors or isinstance(model, Grove):
        return tensors.write_tensors(model)
    return [text.write_text(model)]


def decode(data: bytes) -> Model | Grove:
    """Read a model from the bytes of a file, text or tensors.

    Raises
    ------
    StorageError
        If they hold no sound model.

    Examples
    --------
    >>> decode(b'{"format": "horn')
    Traceback (most recent call last):
        ...
    hornbeam.errors.StorageError: line 1 is no JSON: Unterminated string starting at
    """
    return tensors.read_tensors(data) if tensors.are_tensors(data) else text.read_text(data)


def write(model: Model | Grove, path: str | PathLike[str]) -> None:
    """Write a model to a file: as tensors if there are several trees or its name ends so, else as text.

    Until the new file is complete and on the disk, the old one stays.

    Raises
    ------
    StorageError
        If the model has a value that cannot be written, or is too large for text.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hornbeam import Schema, Skeleton, Tree
    >>> tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Model(tree), f"{folder}/model.hornbeam")
    ...     read(f"{folder}/model.hornbeam").tree.digest == tree.digest
    True
    """
    # Everything that can be refused is refused before a file is touched.
    refuse_pickle_name(path)
    replace(path, _parts(model, as_tensors=Path(path).suffix == ".safetensors"))


def write_fitting(model: Model | Grove, path: str | PathLike[str]) -> Path:
    """Write a model to a file as `write` does; if it is too large for text, as tensors to ``<path>.safetensors``.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hornbeam import Schema, Skeleton, Tree
    >>> tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_fitting(Model(tree), f"{folder}/model.hornbeam").name
    'model.hornbeam'
    """
    refuse_pickle_name(path)
    path = Path(path)
    try:
        parts = _parts(model, as_tensors=path.suffix == ".safetensors")
    except text.TooLargeForTextError:
        path = path.with_name(f"{path.name}.safetensors")
        parts = _parts(model, as_tensors=True)
    replace(path, parts)
    return path


def check_writable(path: str | PathLike[str]) -> None:
    """Raise `StorageError` unless a file can be written at this path; nothing is changed.

    Examples
    --------
    >>> check_writable("/no/such/folder/model.hornbeam")
    Traceback (most recent call last):
        ...
    hornbeam.errors.StorageError: '/no/such/folder/model.hornbeam' cannot be written: No such file or directory...
    """
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "Is a directory")
        if target.exists() and not target.is_file():
            return  # a pipe or a device
        with TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise StorageError(
            f"{os.fspath(path)!r} cannot be written: {error.strerror}. Name a file in a folder that exists and that "
            "you may write to."
        ) from error


def read(path: str | PathLike[str]) -> Model:
    """Read a model that answers with one tree from a file.

    Raises
    ------
    StorageError
        If the file holds no sound model, rules, or several trees; the message says what is wrong with it.
    """
    model = read_any(path)
    if isinstance(model, Model) and not model.by_rules:
        return model
    found = f"{len(model.trees):,} trees" if isinstance(model, Grove) else "rules"
    raise StorageError(
        f"{os.fspath(path)}: this is a {model.estimator or 'model'} that answers with {found}; expected one tree: "
        "hornbeam.load reads it"
    )


def read_any(path: str | PathLike[str]) -> Model | Grove:
    """Read a model from a file: a tree, rules, or several trees.

    Raises
    ------
    StorageError
        If the file holds no sound model; the message says what is wrong with it.
    """
    with Path(path).open("rb") as file:
        try:
            return decode(_contents(file))
        except StorageError as error:
            raise StorageError(f"{os.fspath(path)}: {error}") from error


def _contents(file: BinaryIO) -> bytes:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise StorageError("this is no regular file; expected a model that was saved")
    start = file.read(9)
    refuse_pickle(start)
    most = tensors.LARGEST if tensors.are_tensors(start) else text.LARGEST
    if status.st_size > most:
        raise StorageError(f"the file has {status.st_size:,} bytes; expected at most {most:,}")
    file.seek(0)
    return file.read(most)


def replace(path: str | PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    r"""Put a file in the place of another, or leave that one as it is.

    The new file grows beside the old one under one fixed name, so that a killed process leaves one stray file at
    most, and the next one that saves here takes it over. The lock ends with the process that holds it. What is no
    regular file, a pipe or a device, is written to and stays what it is.

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
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    r"""Open a file that takes the place of another when the block ends; after an error that one stays as it is.

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
    with _locked(growing) as file:
        try:
            yield file
            file.flush()
            if path.exists():
                growing.chmod(stat.S_IMODE(path.stat().st_mode))
            os.fsync(file.fileno())
            growing.replace(path)
        except BaseException:
            growing.unlink(missing_ok=True)
            raise
    _sync_folder(path.parent)


def _locked(path: Path) -> BinaryIO:
    """Open an empty file of this name that no other process writes to."""
    while True:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(path, flags, 0o666), "r+b")
        if sys.platform != "win32":  # there, two who save to one path at the same time are on their own
            flock(file.fileno(), LOCK_EX)
        # While we waited, the one before us may have given the file its final name.
        if _is_same(path, file):
            file.truncate()
            return file
        file.close()


def _is_same(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where folders can be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
