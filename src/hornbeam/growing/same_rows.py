"""Refusal of rows that are not those of the pass before."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from hornbeam.errors import DataError

__all__ = ["check_same_rows", "refusing_other_rows"]


def check_same_rows(same: bool | np.bool_) -> None:
    """Raise `DataError` if a node has other rows than were counted before."""
    if not same:
        raise DataError(
            "a node has other rows than were counted before: the rows were changed while the tree grew, or the "
            "checkpoint was changed. Begin anew with rows that stay as they are, without this checkpoint."
        )


@contextmanager
def refusing_other_rows() -> Iterator[None]:
    """Raise `DataError` where a kernel refuses cells that do not hold the rows of their node."""
    try:
        yield
    except ValueError:
        check_same_rows(same=False)
