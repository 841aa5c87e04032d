"""A tree as C99 for any chip: no heap, no library, no header beyond <stdint.h>."""

from hornbeam.export.source.c.source import to_c

__all__ = ["to_c"]
