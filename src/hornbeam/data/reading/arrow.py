"""Arrow arrays: their validation, and decimals as floats."""

from typing import Any

import numpy as np

from hornbeam.data.reading.columns import EXACT
from hornbeam.errors import DataError
from hornbeam.typing import Floats

__all__ = ["check_arrow", "decimals_as_floats"]

_EXACT_POWER = 22  # float64 represents every power of ten up to this exponent


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


def decimals_as_floats(column: Any) -> Floats:
    """Convert an Arrow column of decimals to the nearest floats, NaN where missing; Arrow's own cast is less exact."""
    array = column.combine_chunks()
    scale, n_bytes = array.type.scale, array.type.bit_width // 8
    if not len(array):
        return np.empty(0)
    words = np.frombuffer(array.buffers()[1], f"<i{min(n_bytes, 8)}").reshape(-1, max(1, n_bytes // 8))
    words = words[array.offset : array.offset + len(array)]
    integers = words[:, 0]
    missing = array.is_null().to_numpy(zero_copy_only=False)
    small = (integers > -EXACT) & (integers < EXACT)
    small &= (words[:, 1:] == (integers >> 31 >> 32)[:, None]).all(axis=1)  # the other words repeat the sign
    small &= abs(scale) <= _EXACT_POWER
    # Both operands are exact, so the result is rounded once.
    power = float(10 ** min(abs(scale), _EXACT_POWER))
    floats = integers / power if scale >= 0 else integers * power
    floats[missing] = np.nan
    if len(others := np.flatnonzero(~small & ~missing)):
        floats[others] = array.take(others).cast("string").cast("float64").to_numpy()
    return floats
