"""Bin codes of values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import _native
from hornbeam.kernels.pool import Pool
from hornbeam.typing import Bools, Codes, Counts, Floats, Indices

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

    Columns are float64 (numeric) or int32 (nominal, -1 = missing), of any stride. The edges of feature ``f`` are
    ``edges[starts[f]:starts[f + 1]]``; ``n_codes[f]`` is its missing code, at most 65,535. Codes are C-contiguous
    (n_rows, n_features), and uint8 if every missing code fits.
    """
    narrow = max(n_codes.tolist(), default=0) <= 255
    codes: Codes = np.empty((n_rows, len(columns)), np.uint8 if narrow else np.uint16)
    kernel: Callable[..., int] = _native.encode_uint8 if narrow else _native.encode_uint16

    def fill(begin: int, end: int) -> int:
        return kernel(columns, edges, starts, n_codes, nominal, begin, end, codes)

    threads = min(n_jobs, n_rows // ROWS_PER_THREAD)
    if threads <= 1:
        return codes, fill(0, n_rows)
    bounds = [n_rows * thread // threads for thread in range(threads + 1)]
    with Pool(threads) as pool:
        return codes, max(pool.map(fill, bounds[:-1], bounds[1:]))
