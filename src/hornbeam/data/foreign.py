"""Errors of other people's code, told as errors of Hornbeam.

To read X, y or weights is to run the code of whoever made them: ``__array__``, ``__hash__``, ``__float__``, a data
frame library. What that code raises is the cause of a `DataError`.
"""

from hornbeam.errors import DataError, HornbeamError

__all__ = ["refuse_foreign"]

# Memory that runs out is no fault of the data, and a warning that was made an error is meant to be seen.
_PASSED_ON = (HornbeamError, MemoryError, Warning)


def refuse_foreign(error: Exception, what: str) -> None:
    """Raise a DataError for an exception met while `what` was read; do nothing if it is to be passed on.

    Examples
    --------
    >>> refuse_foreign(KeyError("x"), "y")
    Traceback (most recent call last):
        ...
    hornbeam.errors.DataError: y could not be read: its own code raised a KeyError, shown above. ...
    """
    if isinstance(error, _PASSED_ON):
        return
    raise DataError(
        f"{what} could not be read: its own code raised a {type(error).__name__}, shown above. Convert it to a plain "
        "NumPy array, a list or a pandas frame first."
    ) from error
