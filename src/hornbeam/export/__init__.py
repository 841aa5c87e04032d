"""A tree in other languages."""

from hornbeam.export.text import text

__all__ = ["text"]
