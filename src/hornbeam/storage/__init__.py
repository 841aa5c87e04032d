"""Model files: one documented, versioned format, written as JSON or safetensors, never as a pickle."""

from hornbeam.storage.difference import Difference, compare
from hornbeam.storage.file import read, read_any, write
from hornbeam.storage.model import Model

__all__ = ["Difference", "Model", "compare", "read", "read_any", "write"]
