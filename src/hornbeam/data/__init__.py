"""The door in: schema, table, bins, engine; sources that need not fit memory, and the cache of coded rows."""

from typing import TYPE_CHECKING, Any

from hornbeam.data.bins import Bins
from hornbeam.data.coded import CodedSource, EncodedSource, MemoryRows
from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.data.units import MemorySource, Source, Unit

if TYPE_CHECKING:
    from hornbeam.data.cache import CodedCache
    from hornbeam.data.parquet import ParquetSource
    from hornbeam.data.spool import lay_down

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
    "MemoryRows",
    "MemorySource",
    "ParquetSource",
    "Schema",
    "Source",
    "Table",
    "Unit",
    "lay_down",
    "read_labels",
]

_OF_FILES = {"CodedCache": "cache", "ParquetSource": "parquet", "lay_down": "spool"}


def __getattr__(name: str) -> Any:
    """Load what is about files for those who ask for it."""
    if name not in _OF_FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_OF_FILES[name]}"), name)
