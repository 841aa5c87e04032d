"""What a column of a file looks like, before anybody has said what it is for."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Profile"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Facts about one column of an Arrow table.

    Parameters
    ----------
    name : str
        The column.
    holds : str
        "number", "text", "boolean", "date" or, for anything else, "other".
    n_rows : int
        Rows.
    n_missing : int
        Rows without a value.
    n_distinct : int
        Different values, missing ones not among them.
    whole : bool
        Whether all values are whole numbers.
    counts_rows : bool
        Whether the values are consecutive whole numbers, each once, in the order of the rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Profile.of("id", pa.chunked_array([[7, 8, 9]]))
    Profile(name='id', holds='number', n_rows=3, n_missing=0, n_distinct=3, whole=True, counts_rows=True)
    """

    name: str
    holds: str
    n_rows: int
    n_missing: int
    n_distinct: int
    whole: bool = False
    counts_rows: bool = False

    @classmethod
    def of(cls, name: str, column: Any) -> "Profile":
        """Look at a column."""
        from pyarrow import compute, types

        holds = _held(column.type)
        if holds == "other":
            return cls(name, holds, len(column), column.null_count, 0)
        distinct = len(column.drop_null().unique())
        whole, counts = bool(types.is_integer(column.type)), False
        if whole and distinct == len(column) > 1:
            steps = compute.pairwise_diff(column.combine_chunks())[1:]
            counts = bool(compute.all(compute.equal(steps, 1)).as_py())
        return cls(name, holds, len(column), column.null_count, distinct, whole, counts)


def _held(kind: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    if types.is_boolean(kind):
        return "boolean"
    return "date" if types.is_temporal(kind) else "other"
