"""Exceptions of other libraries, raised again as `DataError`.

Reading X, y or weights runs code of their types: ``__array__``, ``__hash__``, ``__float__``, a data frame library.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from hornbeam.errors import DataError, HornbeamError

__all__ = ["as_data_error"]

# A MemoryError is not caused by the data, and a warning turned into an error should be seen as it is.
_PASSED_ON = (HornbeamError, MemoryError, Warning)


@contextmanager
def as_data_error(what: str) -> Iterator[None]:
    """Raise any exception inside the block again as a `DataError`, with the exception as its cause."""
    try:
        yield
    except _PASSED_ON:
        raise
    except Exception as error:
        raise DataError(
            f"Reading {what} failed with a {type(error).__name__}, shown above. Convert it to a plain NumPy array, a "
            "list or a pandas frame first."
        ) from error
