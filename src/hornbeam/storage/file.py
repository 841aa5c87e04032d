"""Read and write model files; writing is atomic, reading checks everything."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from hornbeam.data.files.addresses import FILE_ON_DISK, require_disk
from hornbeam.data.files.atomic_write import open_regular, write_atomic
from hornbeam.errors import StorageError
from hornbeam.storage import tensors, text
from hornbeam.storage.model import Model

# Opening a pickle runs code of its author.
_PICKLES = frozenset({".cloudpickle", ".dill", ".jbl", ".joblib", ".pickle", ".pkl"})


def encode(model: Model, *, as_tensors: bool = False) -> bytes:
    """Encode a model as the bytes of a file: JSON, or safetensors if it has several trees or is too large for text."""
    return b"".join(_parts(model, as_tensors))


def _parts(model: Model, as_tensors: bool) -> list[bytes | memoryview]:
    # Text is for people, and many trees are too long to read.
    if as_tensors or model.is_several:
        return tensors.write_tensors(model)
    try:
        return [text.write_text(model)]
    except text.TooLargeForTextError:
        return tensors.write_tensors(model)


def decode(data: bytes) -> Model:
    """Decode a model from the bytes of a file, JSON or safetensors."""
    return tensors.read_tensors(data) if tensors.are_tensors(data) else text.read_text(data)


def write(model: Model, path: str | PathLike[str]) -> None:
    """Write a model to a file: safetensors by the file's suffix, or as `encode` chooses.

    The old file is replaced only when the new one is complete on disk.
    """
    # All checks come before a file is changed.
    require_disk("path", path, FILE_ON_DISK)
    refuse_pickle_name(path)
    write_atomic(path, _parts(model, as_tensors=Path(path).suffix == ".safetensors"))


def check_writable(path: str | PathLike[str]) -> None:
    """Raise `StorageError` unless a file can be written at this path; change nothing."""
    require_disk("path", path, FILE_ON_DISK)
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
    """Read a model file with one tree."""
    model = read_any(path)
    if model.content == "tree":
        return model
    found = f"{len(model.trees):,} trees" if model.is_several else "rules"
    raise StorageError(
        f"{os.fspath(path)}: this is a {model.estimator or 'model'} with {found}; expected one tree: "
        "hornbeam.load reads it"
    )


def read_any(path: str | PathLike[str]) -> Model:
    """Read a model from a file: a tree, rules, or several trees."""
    try:
        with open_regular(path) as file:
            return _read(file)
    except StorageError as error:
        raise StorageError(f"{os.fspath(path)}: {error}") from error


def _read(file: BinaryIO) -> Model:
    """Read a model; if it is too large or its header is wrong, read only the header."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(9)
    _refuse_pickle(start)
    most = tensors.LARGEST if tensors.are_tensors(start) else text.LARGEST
    if size > most:
        raise StorageError(f"the file has {size:,} bytes; expected at most {most:,}")
    file.seek(0)
    if not tensors.are_tensors(start):
        return text.read_text(file.read(most))
    head = file.read(8)
    head += file.read(tensors.head_length(head, size))
    outline = tensors.read_head(head, size)
    return outline.model(file.read(outline.n_bytes))


def _refuse_pickle(start: bytes) -> None:
    """Raise `StorageError` if the content of a file starts like a pickle.

    `start` has nine bytes or more. Pickles begin with 0x80 and their protocol, 2 to 5; safetensors have a brace behind
    the eight bytes of a length, which can begin so too.
    """
    if start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5") and start[8:9] != b"{":
        raise StorageError(
            "this is a pickle (of joblib, say), and Hornbeam does not open pickles: they run code. If you trust its "
            "author, open it with what wrote it, then keep the model with hornbeam.save(model, 'model.hornbeam')"
        )


def refuse_pickle_name(path: str | PathLike[str]) -> None:
    """Raise `StorageError` for a file name with the suffix of a pickle."""
    name = Path(path)
    if name.suffix.lower() in _PICKLES:
        raise StorageError(
            f"{os.fspath(path)!r} is the name of a pickle, which Hornbeam does not write: use "
            f"{os.fspath(name.with_suffix('.hornbeam'))!r} for text, or {os.fspath(name.with_suffix('.safetensors'))!r}"
        )
