"""Arrow arrays that others made: checked before they are read."""

from typing import Any

from hornbeam.errors import DataError

__all__ = ["check_arrow"]


def check_arrow(array: Any, what: str) -> None:
    """Refuse an Arrow array with text that is not UTF-8, or with an index that its dictionary does not have.

    Arrow itself does not look: a negative index would name another category, and one beyond the end reads memory that
    is not the array's.

    Examples
    --------
    >>> import pyarrow as pa
    >>> check_arrow(pa.chunked_array([["a", "b"]]), "y")
    """
    try:
        array.validate(full=True)
    except (ValueError, IndexError) as error:  # ArrowInvalid and ArrowIndexError are such
        raise DataError(
            f"{what} is a broken Arrow array: it has text that is not UTF-8, an index that its dictionary lacks, or "
            "buffers of the wrong size. Make it again, from bytes with their encoding: "
            "pa.array([value.decode('latin-1') for value in values]), say."
        ) from error
