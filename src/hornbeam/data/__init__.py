"""The door in: schema, table, bins, engine; sources that need not fit memory, and the cache of coded rows."""

from hornbeam.data.bins import Bins
from hornbeam.data.cache import CodedCache
from hornbeam.data.coded import CodedSource, EncodedSource
from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.parquet import ParquetSource
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.spool import lay_down
from hornbeam.data.table import Table
from hornbeam.data.units import MemorySource, Source, Unit

__all__ = [
    "Bins",
    "CodedCache",
    "CodedSource",
    "EncodedSource",
    "Engine",
    "Feature",
    "Kind",
    "Labels",
    "LocalEngine",
    "MemorySource",
    "ParquetSource",
    "Schema",
    "Source",
    "Table",
    "Unit",
    "lay_down",
    "read_labels",
]
