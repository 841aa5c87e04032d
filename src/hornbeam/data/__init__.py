"""The door in: schema, table, bins, engine."""

from hornbeam.data.bins import Bins
from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.data.units import MemorySource, Source, Unit

__all__ = [
    "Bins",
    "Engine",
    "Feature",
    "Kind",
    "Labels",
    "LocalEngine",
    "MemorySource",
    "Schema",
    "Source",
    "Table",
    "Unit",
    "read_labels",
]
