"""The cache: coded rows in files, one for each unit."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodingSource
from hornbeam.data.engine import Engine
from hornbeam.data.files.encoded_file import EncodedFile
from hornbeam.data.files.paths import need_arrow
from hornbeam.data.files.scratch import remove_drafts
from hornbeam.data.sources import Source, Unit
from hornbeam.kernels.subtree import Rows

__all__ = ["EncodedCache"]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedCache:
    """Coded rows on disk, read unit by unit.

    Made by `write`. It holds no open file. What kernels do to these rows stays in memory; the files are never changed.

    Parameters
    ----------
    folder : str
        Where the files lie; workers on other machines must see it under the same name.
    key : str
        The word that the files' names begin with: one for these rows in these bins.
    n_features : int
        The width of a row.
    unit : float
        What one step of a row's weight is worth.
    addresses : tuple of Unit
        Where the rows are: one file each.

    Examples
    --------
    >>> import tempfile
    >>> from hornbeam.data import LocalEngine, MemorySource, Table
    >>> source = MemorySource(Table.read([[1.0], [2.0], [4.0]], ["no", "no", "yes"]), block=2)
    >>> bins, folder = Bins.fit(source, LocalEngine()), tempfile.TemporaryDirectory()
    >>> cache = EncodedCache.write(source, bins, folder.name, LocalEngine())
    >>> cache.read(cache.units()[0])
    Rows(codes=array([[0], [1]], dtype=uint8), label=array([0, 0], dtype=uint16), weight=None, numerator=None)
    >>> cache.remove()
    >>> folder.cleanup()
    """

    folder: str
    key: str
    n_features: int
    unit: float
    addresses: tuple[Unit, ...] = field(repr=False)

    @classmethod
    def write(
        cls, source: Source, bins: Bins, folder: str | os.PathLike[str], engine: Engine
    ) -> "EncodedCache":
        """Encode all rows of a source into files, one for each unit.

        Parameters
        ----------
        source : Source
            Rows with class labels.
        bins : Bins
            The bins of its features.
        folder : str or path
            Where to write; made if it is not there. Several caches may share it.
        engine : Engine
            Where the rows are encoded.

        Returns
        -------
        EncodedCache

        Notes
        -----
        Files of the same rows in the same bins that are there already are checked and kept, so a second call
        costs a look at each, and one after a crash goes on where the first stopped. Files that are damaged or
        were cut short are written again. A file appears under its name only when it is complete.
        """
        need_arrow()
        place = Path(folder).expanduser().absolute()
        place.mkdir(parents=True, exist_ok=True)
        coded = EncodingSource(source, bins)
        cache = cls(
            str(place), coded.fingerprint, source.schema.n_features, source.unit, tuple(source.units())
        )
        remove_drafts(place, cache.key)
        engine.reduce(_write_units, cache.addresses, (cache, coded))
        return cache

    @property
    def n_rows(self) -> int:
        """Rows of all units together."""
        return self.addresses[-1].end if self.addresses else 0

    @property
    def fingerprint(self) -> str:
        """The same rows in the same bins, the same word."""
        return self.key

    def units(self) -> tuple[Unit, ...]:
        """Addresses of all rows: the source's own."""
        return self.addresses

    def file(self, unit: Unit) -> EncodedFile:
        """The file of a unit."""
        return EncodedFile(Path(self.folder, f"{self.key}-{unit.begin:012d}.arrow"), self.key, unit.n_rows)

    def read(self, unit: Unit) -> Rows:
        """Read the coded rows of a unit; their checksum is not looked at."""
        return self.file(unit).read(self.n_features)

    def remove(self) -> None:
        """Delete the files of this cache, and what killed writers left of them; the folder stays."""
        for path in Path(self.folder).glob(f"*{self.key}-*.arrow*"):
            path.unlink(missing_ok=True)


def _write_units(units: Sequence[Unit], shared: tuple[EncodedCache, EncodingSource]) -> list[int]:
    """Write the files of some units unless they are there and sound: a task of the engine."""
    cache, coded = shared
    for unit in units:
        file = cache.file(unit)
        if not file.is_sound(cache.n_features):
            file.write(coded.read(unit))
    return [len(units)]
