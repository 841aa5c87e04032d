"""The journal: the edits of a session in a file, from which the session is restored after a crash.

The file is rewritten as a whole and replaced atomically, so it always holds a complete state. A lock file beside it
keeps other sessions from the same journal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from hornbeam.data.files.atomic_write import create_locked, open_regular, remove_abandoned, write_atomic
from hornbeam.errors import StorageError

_FORMAT = "hornbeam workbench journal"
_MOST_BYTES = 50_000_000


@dataclass(slots=True)
class Journal:
    """Edits that were made, those that were undone, and the digests of the trees.

    `first` is the digest of the tree before the edits, `digest` of that after them, `saved` of the one that was saved
    last, empty if none was. The edit that was undone last is at the end of `undone`. `saved_edits` is the number of
    edits of the saved tree; -1 if none was saved, or one of these edits was replaced since.
    """

    first: str
    digest: str
    done: list[dict[str, Any]] = field(default_factory=list)
    undone: list[dict[str, Any]] = field(default_factory=list)
    notes: str = ""
    saved: str = ""
    saved_edits: int = -1

    def write(self, path: Path) -> None:
        """Replace the file."""
        values = {name: getattr(self, name) for name in self.__slots__}
        content = json.dumps({"format": _FORMAT, **values}, ensure_ascii=False).encode()
        write_atomic(path, [content], private=True)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read a file; None if it does not exist."""
        try:
            with open_regular(path) as file:
                content = file.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(
                f"{str(path)!r} cannot be read: {error.strerror}; expected a journal, or no file of that name."
            ) from error
        except StorageError as error:
            raise StorageError(f"{str(path)!r}: {error}. Move it away, or choose another path.") from None
        try:
            if len(content) > _MOST_BYTES:
                raise ValueError
            values = json.loads(content)
            if values.pop("format") != _FORMAT:
                raise ValueError
            found = cls(**values)
            found._check()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise StorageError(
                f"{str(path)!r} is not a journal of the workbench; expected one, or no file of that name. Move it "
                "away, or choose another path."
            ) from None
        return found

    def _check(self) -> None:
        texts = (self.first, self.digest, self.notes, self.saved)
        lists = (self.done, self.undone)
        if not all(isinstance(text, str) for text in texts) or not all(
            isinstance(one, list) for one in lists
        ):
            raise ValueError
        if not all(isinstance(edit, dict) for edits in lists for edit in edits):
            raise ValueError
        if type(self.saved_edits) is not int:
            raise ValueError

    def after_save(self) -> Journal | None:
        """Return the journal that begins with the saved tree; None if the edits since then are not all known."""
        n = self.saved_edits
        if not 0 <= n <= len(self.done):
            return None
        return Journal(self.saved, self.digest, self.done[n:], self.undone, self.notes, self.saved, 0)

    @property
    def is_saved(self) -> bool:
        """Whether the tree is the first one, or was saved: without this file no edit is lost."""
        return self.digest in (self.first, self.saved)


@contextmanager
def lock_journal(path: Path) -> Iterator[None]:
    """Keep other sessions from a journal during the block; the lock ends with the process."""
    path = Path(os.path.realpath(path))
    lock = path.with_name(f".{path.name}.in-use")
    with ExitStack() as held:
        held.callback(remove_abandoned, lock)  # after it is closed
        try:
            file = held.enter_context(create_locked(lock, private=True, timeout=0))
        except StorageError:
            if not lock.is_file():
                raise
            raise StorageError(
                f"{str(path)!r} is in use by another workbench, {_owner(lock)}; expected one workbench for each "
                f"output. Stop that one, or choose another path. If no workbench is running, delete {str(lock)!r}."
            ) from None
        except OSError as error:  # the journal is a link to a place that does not exist, or that others own
            raise StorageError(
                f"{str(lock)!r} cannot be created: {error.strerror}; expected a journal in a folder that exists and "
                "can be written to. Move the journal away, or choose another path."
            ) from error
        file.write(str(os.getpid()).encode())
        file.flush()
        yield


def _owner(lock: Path) -> str:
    """Return the process that has a lock, in words."""
    with suppress(OSError, ValueError):
        number = int(lock.read_bytes()[:20])
        return "in this process" if number == os.getpid() else f"process {number}"
    return "in another process"
