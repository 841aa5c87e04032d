"""Names of the types of arrays and scalars that all layers use."""

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

type Bits = NDArray[np.uint64]
type Bools = NDArray[np.bool_]
type Codes = NDArray[np.uint8] | NDArray[np.uint16]
type Counts = NDArray[np.int64]
type Floats = NDArray[np.float64]
type Indices = NDArray[np.int32]

type Category = str | int | float | bool
type Label = Hashable
