"""Validation of Arrow arrays before they are read."""

from typing import Any

from hornbeam.errors import DataError

__all__ = ["check_arrow"]


def check_arrow(array: Any, what: str) -> None:
    """Raise a `DataError` for an Arrow array with text that is not UTF-8 or an index outside its dictionary.

    Arrow itself does not check: a negative index would give another category, and an index beyond the end would read
    memory outside the array.

    Examples
    --------
    >>> import pyarrow as pa
    >>> check_arrow(pa.chunked_array([["a", "b"]]), "y")
    """
    try:
        array.validate(full=True)
    except (ValueError, IndexError) as error:  # the bases of ArrowInvalid and ArrowIndexError
        raise DataError(
            f"{what} is a broken Arrow array: it has text that is not UTF-8, an index outside its dictionary, or "
            "buffers of the wrong size. Build it again, from bytes with their encoding, such as "
            "pa.array([value.decode('latin-1') for value in values])."
        ) from error
