"""The door in: schema, table, bins, engine; sources that need not fit memory, and the cache of coded rows."""

from typing import TYPE_CHECKING, Any

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedRows, EncodedSource, EncodingSource
from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.sources import MemorySource, Source, Unit
from hornbeam.data.table import Table

if TYPE_CHECKING:
    from hornbeam.data.files.cache import EncodedCache
    from hornbeam.data.files.parquet import ParquetSource
    from hornbeam.data.files.parquet_writer import write_parquet

__all__ = [
    "Bins",
    "EncodedCache",
    "EncodedRows",
    "EncodedSource",
    "EncodingSource",
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
    "read_labels",
    "write_parquet",
]

_OF_FILES = {"EncodedCache": "cache", "ParquetSource": "parquet", "write_parquet": "parquet_writer"}


def __getattr__(name: str) -> Any:
    """Load what is about files for those who ask for it."""
    if name not in _OF_FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.files.{_OF_FILES[name]}"), name)
