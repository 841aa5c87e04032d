"""Groups of rows that belong together, such as the visits of a patient or the copies of a row."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.hashes import as_integers, value_hash
from hornbeam.data.reading.columns import as_data_error
from hornbeam.data.reading.frame import take_column
from hornbeam.errors import DataError, ParameterError
from hornbeam.typing import Counts, Floats, Indices

COPIES = "copies"  # groups of equal rows


def split_group_column(X: Any, groups: Any) -> tuple[Any, Any]:
    """Return X without the column that `groups` names, and its values; both unchanged if it names none."""
    return take_column(X, groups, "groups") if isinstance(groups, str) and groups != COPIES else (X, groups)


def read_groups(groups: Any, n_rows: int) -> Counts:
    """Number the groups of rows from any values that can be compared; rows of one group have equal numbers."""
    with as_data_error("groups"):
        if np.ma.is_masked(groups):
            raise _missing_error()
        values = np.asarray(groups, dtype=object if isinstance(groups, (list, tuple)) else None)
    if values.shape != (n_rows,):
        raise DataError(
            f"groups has the shape {values.shape}; expected ({n_rows},). Pass the group of each row, or the name of a "
            "column of a data frame."
        )
    if values.dtype.kind == "O":
        return _number_objects(values)
    if values.dtype.kind in "fcmM" and (np.isnat if values.dtype.kind in "mM" else np.isnan)(values).any():
        raise _missing_error()
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _number_objects(values: NDArray[Any]) -> Counts:
    """Number Python objects in the order of their first row."""
    number: dict[Any, int] = {}
    with as_data_error("groups"):
        numbers = np.array([number.setdefault(value, len(number)) for value in values.tolist()], np.int64)
    if any(
        value is None or type(value).__name__ in ("NAType", "NaTType") or value != value for value in number
    ):
        raise _missing_error()
    return numbers


def _missing_error() -> DataError:
    return DataError(
        "groups has missing values; expected the group of each row. Give a row without a group a value of its own, "
        "such as its number."
    )


def hash_groups(column: Any) -> Counts:
    """Hash the groups of an Arrow column to 64 bits, so that they are the same in every partition."""
    if column.null_count:
        raise _missing_error()
    encoded = column.combine_chunks().dictionary_encode()
    parts = [
        blake2b(repr(value).encode(), digest_size=8).digest() for value in encoded.dictionary.to_pylist()
    ]
    hashes = np.frombuffer(b"".join(parts), np.dtype("<i8")).astype(np.int64)
    group: Counts = hashes[encoded.indices.to_numpy()]
    return group


def copies_as_groups(columns: Sequence[NDArray[Any]], target: Floats | Counts | Indices | None) -> Counts:
    """Make a group of all rows with equal values and an equal target."""
    if target is None:
        raise ParameterError("groups='copies' needs the target of the rows; expected y. Pass the labels too.")
    return value_hash(columns, as_integers(target)).view(np.int64)
