"""The door in: schema, table, bins, engine."""

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table

__all__ = ["Feature", "Kind", "Labels", "Schema", "Table", "read_labels"]
