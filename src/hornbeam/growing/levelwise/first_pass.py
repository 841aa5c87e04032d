"""First pass over the rows: class totals, number of rows, dtype of the codes; validates the codes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition
from hornbeam.errors import DataError
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import GrowthSpec, Rows
from hornbeam.typing import Counts

__all__ = ["RowSummary", "summarise_rows"]


class RowSummary(NamedTuple):
    """Weight of each class, number of rows, whether rows have weights, and format of the codes."""

    counts: Counts
    n_rows: int
    weighted: bool
    n_features: int
    code_dtype: np.dtype[np.uint8] | np.dtype[np.uint16]

    @property
    def row_bytes(self) -> int:
        """Bytes of one row: codes, label and weight."""
        return self.code_dtype.itemsize * self.n_features + 2 + 8 * self.weighted


def summarise_rows(source: EncodedSource, spec: GrowthSpec, engine: Engine) -> RowSummary:
    """Count the rows of all partitions, and check their codes before a kernel uses them."""
    [total] = engine.reduce(_summarise, source.partitions(), (source, spec))
    *counts, n_rows, n_weighted, n_wide = total.tolist()
    if n_rows == 0:
        raise DataError("the source has no rows; expected at least one to grow a tree from")
    code_dtype = np.dtype(np.uint16) if n_wide else np.dtype(np.uint8)
    return RowSummary(np.array(counts, dtype=np.int64), n_rows, n_weighted > 0, len(spec.nominal), code_dtype)


def _summarise(partitions: Sequence[Partition], shared: tuple[EncodedSource, GrowthSpec]) -> list[Counts]:
    """Weight of each class, then three numbers: rows, rows with weights, rows with codes of two bytes."""
    source, spec = shared
    total = np.zeros(spec.n_classes + 3, dtype=np.int64)
    for partition in partitions:
        rows = source.read(partition)
        subtree.check_rows(rows, spec)
        total[:-3] += _class_weights(rows, spec.n_classes)
        total[-3:] += rows.n_rows * np.array([1, rows.weight is not None, rows.codes.itemsize > 1])
    return [total]


def _class_weights(rows: Rows, n_classes: int) -> Counts:
    if rows.weight is None:
        return np.bincount(rows.label, minlength=n_classes)
    weight = np.zeros(n_classes, dtype=np.int64)
    np.add.at(weight, rows.label, rows.weight)
    return weight
