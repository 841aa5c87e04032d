"""Groups of rows that belong together, such as the visits of a patient or the copies of a row."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.reading.columns import as_data_error
from hornbeam.data.reading.frame import take_column
from hornbeam.data.row_order import target_bits, value_hash
from hornbeam.errors import DataError, ParameterError
from hornbeam.typing import Counts

if TYPE_CHECKING:
    from hornbeam.data.table import Table

__all__ = [
    "COPIES",
    "copies_as_groups",
    "hash_groups",
    "keep_copies_together",
    "n_units",
    "oversampled_classes",
    "read_groups",
    "split_group_column",
]

COPIES = "copies"  # groups of equal rows
_FEWEST_DISTINCT = 10  # different rows of an oversampled class
_REPEATED = 0.5  # share of the rows of an oversampled class that have a copy, at least
_MEAN_COPIES = 2.0  # of such a row, at least
_BY_CHANCE = 0.02  # share of the rows of the other classes that have a copy, at most
_MANY_VALUES = 0.5  # different values of some column for each different row: rows are not equal by chance


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


def copies_as_groups(table: Table) -> Counts:
    """Make a group of all rows with equal values and an equal target."""
    if table.target is None and table.numeric_target is None:
        raise ParameterError("groups='copies' needs the target of the rows; expected y. Pass the labels too.")
    return value_hash(table, target_bits(table)).view(np.int64)


def keep_copies_together(table: Table) -> Table:
    """Return the table with copies as groups if a class was oversampled by copies of its rows; else as it is."""
    return replace(table, group=copies_as_groups(table)) if oversampled_classes(table) else table


def oversampled_classes(table: Table) -> tuple[int, ...]:
    """Find classes that were oversampled by copies of their rows, where that is unmistakable; none if groups are known.

    At least half of the rows of such a class have an equal row, on average two or more of each different row,
    in a column with half as many values as there are different rows, or more; and at most 2 % of the rows of
    the other classes have one. In tables of a few nominal columns equal rows are common in every class: they
    are different cases.
    """
    target = table.target
    if target is None or table.group is not None or table.n_rows < 2 * _FEWEST_DISTINCT:
        return ()
    numeric = [column for column in table.columns if column.dtype.kind == "f"]
    if any(_has_no_repeats(column) for column in numeric):
        return ()
    _, first, unit, copies = np.unique(
        value_hash(table, target), return_index=True, return_inverse=True, return_counts=True
    )
    n_classes = table.schema.n_classes
    rows, repeated = (
        np.bincount(target, minlength=n_classes),
        np.bincount(target, copies[unit] > 1, n_classes),
    )
    distinct = np.bincount(target[first], minlength=n_classes)
    found = (
        (repeated >= _REPEATED * rows) & (rows >= _MEAN_COPIES * distinct) & (distinct >= _FEWEST_DISTINCT)
    )
    others = ~found & (rows > 0)
    if not found.any() or not others.any() or repeated[others].sum() > _BY_CHANCE * rows[others].sum():
        return ()
    kept = first[found[target[first]]]
    most_values = max(len(np.unique(column[kept])) for column in table.columns)
    return tuple(np.flatnonzero(found).tolist()) if most_values >= _MANY_VALUES * len(kept) else ()


def _has_no_repeats(column: NDArray[Any]) -> bool:
    ordered = np.sort(column)
    return bool((ordered[1:] > ordered[:-1]).all())


def n_units(table: Table) -> int:
    """Count the groups of a table; without groups its rows, a row of weight 2 twice."""
    if table.n_groups is not None:
        return table.n_groups
    return table.n_rows if table.weight is None or table.unit != 1.0 else int(table.weight.sum())
