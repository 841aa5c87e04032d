"""A tree in other languages."""

from hornbeam.export.onnx import onnx
from hornbeam.export.sql import sql
from hornbeam.export.text import text
from hornbeam.export.treelite import to_treelite

__all__ = ["onnx", "sql", "text", "to_treelite"]
