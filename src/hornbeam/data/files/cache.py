"""The cache: encoded rows on disk, one file per partition."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodingSource
from hornbeam.data.engine import Engine
from hornbeam.data.files.addresses import require_disk
from hornbeam.data.files.encoded_file import EncodedFile
from hornbeam.data.files.paths import need_arrow
from hornbeam.data.files.scratch import remove_drafts
from hornbeam.data.sources import Partition, Source
from hornbeam.kernels.subtree import Rows

__all__ = ["EncodedCache"]


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
