"""The cache: encoded rows on disk, one file per partition."""

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodingSource
from hornbeam.data.engine import Engine
from hornbeam.data.files.addresses import require_disk
from hornbeam.data.files.atomic_write import open_regular
from hornbeam.data.files.paths import need_arrow
from hornbeam.data.files.scratch import open_draft, remove_drafts
from hornbeam.data.sources import Partition, Source
from hornbeam.errors import DataError
from hornbeam.kernels.subtree import Rows

KEY, CHECKSUM = b"hornbeam.key", b"hornbeam.crc32"
_HEADERS = 1 << 16  # most bytes of a file beside the rows


@dataclass(frozen=True, slots=True)
class EncodedFile:
    """Encoded rows in an uncompressed Arrow file, as one record batch.

    The columns are ``codes``, a list of F unsigned integers of 8 or 16 bits per row (so that they are stored
    row by row, as the kernels require), ``label`` (uint16) or, of a numeric target, ``numerator`` (int64),
    and, if rows are weighted, ``weight`` (int64). The file must have `n_rows` rows, and in its header the
    `key`, a hash of its rows and bins.
    """

    path: Path
    key: str
    n_rows: int

    def write(self, rows: Rows) -> None:
        """Write the rows under a temporary name first, so that the file is complete or absent."""
        import pyarrow as pa

        codes = pa.array(rows.codes.reshape(-1))
        columns = {
            "codes": pa.FixedSizeListArray.from_arrays(codes, rows.codes.shape[1]),
            **{name: pa.array(array) for name, array in _columns_of(rows).items()},
        }
        header = {KEY: self.key, CHECKSUM: str(_checksum(rows))}
        batch = pa.record_batch(columns, metadata=header)
        with open_draft(self.path) as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_batch(batch)

    def read(self, n_features: int) -> Rows:
        """Read the rows into arrays that may be changed, which does not change the file."""
        return self._read(n_features)[0]

    def is_valid(self, n_features: int) -> bool:
        """Whether the file exists and its rows have the checksum that was written."""
        try:
            rows, checksum = self._read(n_features)
        except DataError:
            return False
        return str(_checksum(rows)).encode() == checksum

    def _read(self, n_features: int) -> tuple[Rows, bytes]:
        """Read the rows, and the checksum in the header."""
        import pyarrow as pa

        try:
            memory = self._contents(n_features)
            whole = pa.py_buffer(memory)
            batch = pa.ipc.open_file(whole).get_batch(0)
            header = batch.schema.metadata or {}
            if header.get(KEY) != self.key.encode() or len(batch) != self.n_rows:
                raise ValueError("it has other rows")
            _check_columns(batch, n_features)
            begin = whole.address
            codes = _view(memory, begin, batch.column("codes").values, n_features * self.n_rows)
            columns = {
                name: _view(memory, begin, batch.column(name), self.n_rows) for name in batch.schema.names[1:]
            }
            label = columns.pop("label", np.empty(0, np.uint16))
            rows = Rows(
                codes.reshape(self.n_rows, n_features),
                label,
                columns.get("weight"),
                columns.get("numerator"),
            )
        except (pa.ArrowException, OSError, ValueError, KeyError, IndexError) as error:
            raise DataError(
                f"{str(self.path)!r} is not a valid file of the cache: {error}. Write the cache again: valid files are "
                "kept."
            ) from error
        return rows, header.get(CHECKSUM, b"")

    def _contents(self, n_features: int) -> NDArray[np.uint8]:
        """Read the bytes of the file; not memory-mapped, because truncating a mapped file would kill the process."""
        most = self.n_rows * (2 * n_features + 8 + 8) + _HEADERS
        with open_regular(self.path) as opened:
            size = os.fstat(opened.fileno()).st_size
            if size > most:
                raise ValueError(f"it has {size:,} bytes; expected at most {most:,}")
            memory = np.empty(size, np.uint8)
            if opened.readinto(memory.data) != size:
                raise ValueError("it was truncated while it was read")
        return memory


def _check_columns(batch: Any, n_features: int) -> None:
    import pyarrow as pa

    names = batch.schema.names
    if names[:1] != ["codes"] or names[1:] not in (
        [target, *weight] for target in ("label", "numerator") for weight in ([], ["weight"])
    ):
        raise ValueError("it has other columns")
    known = {
        "codes": [pa.list_(width, n_features) for width in (pa.uint8(), pa.uint16())],
        "label": [pa.uint16()],
        "numerator": [pa.int64()],
        "weight": [pa.int64()],
    }
    for name, found in zip(names, batch.schema.types, strict=True):
        if found not in known[name]:
            raise ValueError(f"the column {name} has the type {found}")


def _view(memory: NDArray[np.uint8], begin: int, array: Any, length: int) -> NDArray[Any]:
    """Return the values of an Arrow array as a view of memory that can be written to, unlike the views of Arrow."""
    values = array.buffers()[1]
    if (
        values is None
        or len(array) != length
        or array.offset
        or array.null_count
        or values.size < length * array.type.byte_width
        or values.address % array.type.byte_width
    ):
        raise ValueError(f"it has {len(array)} values where {length} are expected")
    return np.frombuffer(memory, array.type.to_pandas_dtype(), length, values.address - begin)


def _columns_of(rows: Rows) -> dict[str, NDArray[Any]]:
    """Return the arrays of rows beside their codes, in the order of the file."""
    columns: dict[str, NDArray[Any]] = (
        {"label": rows.label} if rows.numerator is None else {"numerator": rows.numerator}
    )
    return columns if rows.weight is None else columns | {"weight": rows.weight}


def _checksum(rows: Rows) -> int:
    checksum = zlib.crc32(rows.codes.data)
    for array in _columns_of(rows).values():
        checksum = zlib.crc32(array.data, checksum)
    return checksum


@dataclass(frozen=True, slots=True, eq=False)
class EncodedCache:
    """Encoded rows on disk, one file per partition; created by `write`.

    It has no open file. Kernels change rows only in memory, never in the files. Workers on other machines
    must see `folder` under the same path. `key` is a hash of the rows and bins, with which the names of the
    files begin; `unit` is the weight of one integer step.
    """

    folder: str
    key: str
    n_features: int
    unit: float
    addresses: tuple[Partition, ...] = field(repr=False)

    @classmethod
    def write(
        cls, source: Source, bins: Bins, folder: str | os.PathLike[str], engine: Engine
    ) -> "EncodedCache":
        """Encode all rows of a source into files, one per partition; several caches may share a folder.

        Existing files of the same rows in the same bins are checked and kept, so a second call only reads
        them, and a call after a crash continues where the first stopped. Files that are damaged or truncated
        are written again. A file has its name only when it is complete.
        """
        need_arrow()
        require_disk("cache", folder)
        place = Path(folder).expanduser().absolute()
        place.mkdir(parents=True, exist_ok=True)
        encoding = EncodingSource(source, bins)
        cache = cls(
            str(place),
            encoding.fingerprint,
            source.schema.n_features,
            source.unit,
            tuple(source.partitions()),
        )
        remove_drafts(place, cache.key)
        engine.reduce(_write_partitions, cache.addresses, (cache, encoding))
        return cache

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return self.addresses[-1].end if self.addresses else 0

    @property
    def fingerprint(self) -> str:
        """Content hash of the rows and their bins."""
        return self.key

    def partitions(self) -> tuple[Partition, ...]:
        """Return the partitions of the source."""
        return self.addresses

    def file(self, partition: Partition) -> EncodedFile:
        """Return the file of a partition."""
        return EncodedFile(
            Path(self.folder, f"{self.key}-{partition.begin:012d}.arrow"), self.key, partition.n_rows
        )

    def read(self, partition: Partition) -> Rows:
        """Read the encoded rows of a partition without checking their checksum."""
        return self.file(partition).read(self.n_features)

    def remove(self) -> None:
        """Delete the files of this cache, and drafts of killed writers, but not the folder."""
        for path in Path(self.folder).glob(f"*{self.key}-*.arrow*"):
            path.unlink(missing_ok=True)


def _write_partitions(
    partitions: Sequence[Partition], shared: tuple[EncodedCache, EncodingSource]
) -> list[int]:
    """Task: write the files of some partitions, except those that are valid already."""
    cache, encoding = shared
    for partition in partitions:
        file = cache.file(partition)
        if not file.is_valid(cache.n_features):
            file.write(encoding.read(partition))
    return [len(partitions)]
