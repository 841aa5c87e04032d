"""A folder, on disk or in a store, whose files appear complete or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import Any

from hornbeam.data.files.addresses import Address, as_path, is_remote
from hornbeam.data.files.atomic_write import write_atomic
from hornbeam.data.files.scratch import open_draft, remove_drafts
from hornbeam.data.files.stores import in_store, open_parquet
from hornbeam.errors import DataError, StorageError


@dataclass(frozen=True, slots=True)
class TargetFolder:
    """A folder on disk or in a store to write files to; small and picklable, so that workers can write.

    On disk a file is written under a temporary name, synced and renamed. A store shows an object when its
    last byte has arrived; a write that failed is repeated as a whole. Writers of the same file may run at the
    same time; the last one wins.
    """

    address: str

    @classmethod
    def of(cls, path: str | PathLike[str]) -> TargetFolder:
        """Make the folder if it does not exist, and delete the temporary files of killed processes."""
        path = as_path(path)
        if is_remote(path):
            return cls(Address(path))
        place = Path(path).expanduser().absolute()
        if place.exists() and not place.is_dir():
            raise StorageError(f"{str(place)!r} is a file; expected a folder, or a name that is not in use.")
        place.mkdir(parents=True, exist_ok=True)
        remove_drafts(place, "")
        return cls(str(place))

    def sizes(self) -> dict[str, int]:
        """Return the names and sizes of the regular files, without hidden ones; links are not followed."""
        if not is_remote(self.address):
            found = {path.name: path.lstat() for path in self._visible()}
            return {name: status.st_size for name, status in found.items() if S_ISREG(status.st_mode)}
        from pyarrow.fs import FileSelector

        def find(store: Any, path: str) -> dict[str, int]:
            infos = store.get_file_info(FileSelector(path, allow_not_found=True))
            return {info.base_name: info.size or 0 for info in infos if info.is_file}

        return in_store(self.address, find)

    def irregular(self) -> list[str]:
        """Return the names of folders, links, pipes and devices, without hidden ones; a store has none."""
        if is_remote(self.address):
            return []
        return [path.name for path in self._visible() if not S_ISREG(path.lstat().st_mode)]

    def content(self, name: str) -> tuple[int, tuple[str, ...]] | None:
        """Return the rows and columns of a Parquet file by its footer; None if there is no complete file."""
        import pyarrow as pa

        def read(store: Any, path: str) -> tuple[int, tuple[str, ...]]:
            with store.open_input_file(path) as opened:
                file = open_parquet(opened)
                return file.metadata.num_rows, tuple(file.schema_arrow.names)

        try:
            return in_store(self._file(name), read)
        except (OSError, pa.ArrowException):
            return None
        except DataError:
            self.sizes()  # raises if the store cannot be reached
            return None

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None if it does not exist."""

        def read(store: Any, path: str) -> bytes:
            with store.open_input_stream(path) as file:
                data: bytes = file.read()
                return data

        try:
            return in_store(self._file(name), read)
        except FileNotFoundError:
            return None

    def put(self, name: str, data: Any, *, last: bool = False) -> None:
        """Write a file; `last` also syncs the names of all earlier ones to disk."""

        def write(store: Any, path: str) -> None:
            with store.open_output_stream(path) as file:
                file.write(data)

        if is_remote(self.address):
            in_store(self._file(name), write)
        elif last:
            write_atomic(Path(self.address, name), [data])
        else:
            with open_draft(Path(self.address, name), sync=True) as file:
                file.write(data)

    def _visible(self) -> list[Path]:
        return [path for path in Path(self.address).iterdir() if not path.name.startswith(".")]

    def _file(self, name: str) -> str:
        if is_remote(self.address):
            return Address(self.address).below(name)
        return str(Path(self.address, name))
