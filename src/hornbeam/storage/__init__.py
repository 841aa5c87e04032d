"""Models as files: one documented, versioned format, written as text or as tensors, and no pickle."""

from hornbeam.storage.difference import Difference, compare
from hornbeam.storage.file import read, write
from hornbeam.storage.model import Model

__all__ = ["Difference", "Model", "compare", "read", "write"]
