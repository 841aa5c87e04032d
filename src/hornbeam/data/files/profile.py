"""Profile of one column: the type of its values, and the number of different ones."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam.data.schema import MAX_CATEGORIES
from hornbeam.typing import Category, Floats, Indices

NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d+)?|\d*[.,]\d+|\d+)(?:[eE][+-]?\d+)?")
_FEWEST_NUMERIC, FEW_TEXTS = 20, 0.05  # categories that are numbers, and the largest share of others


@dataclass(frozen=True, slots=True)
class Profile:
    """Facts about one column of an Arrow table or of a `Table`.

    `holds` is "number", "text", "boolean", "date" or "other"; `n_distinct` does not count missing values.
    `is_row_number`: the values are consecutive whole numbers, each once, in the order of the rows. `width`:
    if every row has another whole number, how many whole numbers there are from the smallest to the largest,
    else 0. `n_few_texts`: cells that are no number, if they are few among many numbers as text.
    """

    name: str
    holds: str
    n_rows: int
    n_missing: int
    n_distinct: int
    whole: bool = False
    is_row_number: bool = False
    width: float = 0.0
    n_few_texts: int = 0

    @classmethod
    def of(cls, name: str, column: Any) -> "Profile":
        """Profile an Arrow column."""
        from pyarrow import compute, types

        holds = _held(column.type)
        if holds == "other":
            return cls(name, holds, len(column), column.null_count, 0)
        values = column.drop_null().unique()
        distinct = len(values)
        if holds == "text":
            texts = (
                [values[at].as_py() for at in few_texts(values.to_pylist())]
                if distinct <= MAX_CATEGORIES
                else []
            )
            n_texts = sum(compute.sum(compute.equal(column, text)).as_py() for text in texts)
            return cls(name, holds, len(column), column.null_count, distinct, n_few_texts=n_texts)
        whole, counts, width = bool(types.is_integer(column.type)), False, 0.0
        if whole and distinct == len(column) > 1:
            steps = compute.pairwise_diff(column.combine_chunks())[1:]
            counts = bool(compute.all(compute.equal(steps, 1)).as_py())
            ends = compute.min_max(column).as_py()
            width = float(ends["max"] - ends["min"] + 1)
        return cls(name, holds, len(column), column.null_count, distinct, whole, counts, width)

    @classmethod
    def of_numbers(cls, name: str, values: Floats) -> "Profile":
        """Profile a float array, NaN where a value is missing."""
        known = values[~np.isnan(values)]
        distinct, whole = len(np.unique(known)), bool((known == np.rint(known)).all())
        counts, width = False, 0.0
        if whole and distinct == len(values) > 1:
            with np.errstate(invalid="ignore"):  # infinite values
                counts = bool((np.diff(values) == 1).all())
                width = float(known.max() - known.min() + 1)
        return cls(name, "number", len(values), len(values) - len(known), distinct, whole, counts, width)

    @classmethod
    def of_codes(cls, name: str, codes: Indices) -> "Profile":
        """Profile an array of category codes, negative where a value is missing."""
        known = codes[codes >= 0]
        distinct = int(np.count_nonzero(np.bincount(known)))
        return cls(name, "text", len(codes), len(codes) - len(known), distinct)


def few_texts(categories: Sequence[Category]) -> list[int]:
    """Return the positions of categories that are no number, if they are few among many numbers; else nothing.

    Examples
    --------
    >>> few_texts([*map(str, range(30)), "n.a."]), few_texts(["1", "2", "red"])
    ([30], [])
    """
    most = FEW_TEXTS * len(categories)
    texts = []
    for at, category in enumerate(categories):
        if isinstance(category, bool) or (
            isinstance(category, str) and not NUMBER.fullmatch(category.strip())
        ):
            texts.append(at)
            if len(texts) > most:
                return []
    return texts if len(categories) - len(texts) >= _FEWEST_NUMERIC else []


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
