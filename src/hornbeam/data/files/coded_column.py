"""A column of codes and the values they stand for; its values are stored once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodedColumn"]


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column of few distinct values: a code per row, and the value of each code, None if missing.

    Values of several types are written as text.
    """

    codes: NDArray[Any]
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def tolist(self) -> list[Any]:
        """Return the value of each row."""
        return [self.values[code] for code in self.codes.tolist()]

    def __arrow_array__(self, type: Any = None) -> Any:  # noqa: A002, the name of the protocol
        """Return a dictionary of texts, or the values themselves if they are no texts; pyarrow calls it."""
        import pyarrow as pa

        known = [value for value in self.values if value is not None]
        try:
            values = pa.array(known, pa.string() if not known else None)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = pa.array([str(value) for value in known])
        # Parquet has no dictionaries with a missing value, so the code is missing instead.
        places = np.cumsum([value is not None for value in self.values]) - 1
        absent = np.array([value is None for value in self.values], np.bool_)
        codes = pa.array(places.astype(np.int32).take(self.codes), mask=absent.take(self.codes))
        if not pa.types.is_string(values.type):
            return values.take(codes)
        return pa.DictionaryArray.from_arrays(codes, values)
