"""From the raw array to cut points, and from those to codes."""

from typing import ClassVar

from benchmarks.synthetic import make
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table


class Binning:
    """Both steps of binning, apart."""

    param_names = ("rows",)
    params: ClassVar = ([150, 10_000, 100_000],)

    def setup(self, rows: int) -> None:
        self.X, self.y = make(rows)
        self.table = Table.read(self.X, self.y)
        self.engine = LocalEngine(1)
        self.bins = Bins.fit(MemorySource(self.table), self.engine, max_bins=255)

    def time_read(self, *_: object) -> None:
        Table.read(self.X, self.y)

    def time_cuts(self, *_: object) -> None:
        Bins.fit(MemorySource(self.table), self.engine, max_bins=255)

    def time_codes(self, *_: object) -> None:
        self.bins.encode(self.table, 1)
