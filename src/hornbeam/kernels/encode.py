"""Bin codes of values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam._native import encode_uint8, encode_uint16
from hornbeam.kernels.pool import Pool
from hornbeam.typing import Bools, Codes, Counts, Floats, Indices

__all__ = ["encode"]

# With fewer rows a thread costs more than it saves.
ROWS_PER_THREAD = 16_384


def encode(
    columns: tuple[NDArray[Any], ...],
    edges: Floats,
    starts: Counts,
    n_codes: Indices,
    nominal: Bools,
    n_rows: int,
    n_jobs: int = 1,
) -> tuple[Codes, int]:
    """Encode every value; also return the first nominal column with a code out of range (-1: none).

    Parameters
    ----------
    columns : tuple of arrays
        float64 (numeric) or int32 (nominal, -1 = missing), one-dimensional, any stride.
    edges, starts : array
        The edges of feature ``f`` are ``edges[starts[f]:starts[f + 1]]``.
    n_codes : array of int32
        The missing code of each feature, at most 65,535.
    nominal : array of bool
        Which columns hold category codes.
    n_rows, n_jobs : int
        Length of the columns; maximum number of threads.

    Returns
    -------
    codes : array of uint8 or uint16, C-contiguous (n_rows, n_features)
        uint8 if every missing code fits.
    unknown : int

    Examples
    --------
    >>> import numpy as np
    >>> codes, unknown = encode(
    ...     (np.array([0.5, 2.0, np.nan]), np.array([1, -1, 0], np.int32)),
    ...     np.array([1.0]),
    ...     np.array([0, 1, 1]),
    ...     np.array([2, 2], np.int32),
    ...     np.array([False, True]),
    ...     n_rows=3,
    ... )
    >>> codes
    array([[0, 1],
           [1, 2],
           [2, 0]], dtype=uint8)
    """
    narrow = max(n_codes.tolist(), default=0) <= 255
    codes: Codes = np.empty((n_rows, len(columns)), np.uint8 if narrow else np.uint16)
    kernel: Callable[..., int] = encode_uint8 if narrow else encode_uint16

    def fill(begin: int, end: int) -> int:
        return kernel(columns, edges, starts, n_codes, nominal, begin, end, codes)

    threads = min(n_jobs, n_rows // ROWS_PER_THREAD)
    if threads <= 1:
        return codes, fill(0, n_rows)
    bounds = [n_rows * thread // threads for thread in range(threads + 1)]
    with Pool(threads) as pool:
        return codes, max(pool.map(fill, bounds[:-1], bounds[1:]))
