"""The error for rows that changed between two passes."""

import numpy as np

from hornbeam.errors import DataError

__all__ = ["OTHER_ROWS", "check_same_rows"]

OTHER_ROWS = (
    "a node has other rows than were counted before",
    (
        "The rows were changed while the tree grew, or the checkpoint was changed. Begin anew with rows that stay as "
        "they are, without this checkpoint."
    ),
)


def check_same_rows(same: bool | np.bool_) -> None:
    """Raise `DataError` if a node has other rows than were counted before."""
    if not same:
        raise DataError(". ".join(OTHER_ROWS))
