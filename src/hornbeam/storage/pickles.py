"""Refusal of pickles: opening a pickle runs code of its author."""

from os import PathLike, fspath
from pathlib import Path

from hornbeam.errors import StorageError

__all__ = ["refuse_pickle", "refuse_pickle_name"]

_NAMES = frozenset({".cloudpickle", ".dill", ".jbl", ".joblib", ".pickle", ".pkl"})


def refuse_pickle(start: bytes) -> None:
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
    if name.suffix.lower() in _NAMES:
        raise StorageError(
            f"{fspath(path)!r} is the name of a pickle, which Hornbeam does not write: use "
            f"{fspath(name.with_suffix('.hornbeam'))!r} for text, or {fspath(name.with_suffix('.safetensors'))!r}"
        )
