"""Errors of the code of other libraries, raised as `DataError`.

To read X, y or weights is to run the code of whoever made them: ``__array__``, ``__hash__``, ``__float__``, a data
frame library.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from hornbeam.errors import DataError, HornbeamError

__all__ = ["reading"]

# Memory that runs out is no fault of the data, and a warning that was made an error is meant to be seen.
_PASSED_ON = (HornbeamError, MemoryError, Warning)


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raise a `DataError` where an exception is met while something is read; the exception is its cause.

    Examples
    --------
    >>> with reading("y"):
    ...     {}["x"]
    Traceback (most recent call last):
        ...
    hornbeam.errors.DataError: Reading y failed with a KeyError, shown above. ...
    """
    try:
        yield
    except _PASSED_ON:
        raise
    except Exception as error:
        raise DataError(
            f"Reading {what} failed with a {type(error).__name__}, shown above. Convert it to a plain NumPy array, a "
            "list or a pandas frame first."
        ) from error
