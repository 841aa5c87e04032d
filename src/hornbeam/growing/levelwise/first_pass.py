"""First pass over the rows: totals of the target, number of rows, dtype of the codes; validates the codes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.sources import Partition
from hornbeam.errors import DataError
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import GrowthSpec, Rows
from hornbeam.typing import Counts

__all__ = ["RowSummary", "summarise_rows"]


class RowSummary(NamedTuple):
    """Evidence of all rows, their number, whether they have weights, and the format of rows.

    Evidence is the weight of each class; or the weight and the sum of a numeric target (`sums`), whose terms may have
    been rounded to steps (`rounding`, in steps).
    """

    counts: Counts
    n_rows: int
    weighted: bool
    n_features: int
    code_dtype: np.dtype[np.uint8] | np.dtype[np.uint16]
    sums: bool = False
    rounding: float = 0.0

    @property
    def row_bytes(self) -> int:
        """Bytes of one row: codes, label or numerator, and weight."""
        target = 8 if self.sums else 2
        return self.code_dtype.itemsize * self.n_features + target + 8 * self.weighted

    @property
    def total_weight(self) -> int:
        """Weight of all rows."""
        return int(self.counts[0] if self.sums else self.counts.sum())


def summarise_rows(source: EncodedSource, spec: GrowthSpec, engine: Engine, unit: float = 1.0) -> RowSummary:
    """Count the rows of all partitions, and check their codes before a kernel uses them."""
    [total] = engine.reduce(_summarise, source.partitions(), (source, spec, unit))
    *counts, n_rows, n_weighted, n_wide, n_rounded = total.tolist()
    if n_rows == 0:
        raise DataError("the source has no rows; expected at least one to grow a tree from")
    return RowSummary(
        np.array(counts, dtype=np.int64),
        n_rows,
        n_weighted > 0,
        len(spec.nominal),
        np.dtype(np.uint16) if n_wide else np.dtype(np.uint8),
        spec.sums,
        0.5 if n_rounded else 0.0,
    )


def _summarise(
    partitions: Sequence[Partition], shared: tuple[EncodedSource, GrowthSpec, float]
) -> list[Counts]:
    """Evidence, then four numbers of rows: all, with weights, with codes of two bytes, with rounded products."""
    source, spec, unit = shared
    total = np.zeros(spec.n_channels + 4, dtype=np.int64)
    for partition in partitions:
        rows = source.read(partition)
        subtree.check_rows(rows, spec)
        total[:-4] += _sums(rows) if spec.sums else _class_weights(rows, spec.n_classes)
        rounded = spec.sums and NumericTarget.rounding(rows.weight, unit) > 0
        total[-4:] += rows.n_rows * np.array([1, rows.weight is not None, rows.codes.itemsize > 1, rounded])
    return [total]


def _sums(rows: Rows) -> Counts:
    if rows.numerator is None:
        raise DataError(
            "the rows have no numeric target; expected one, as the schema has. Open them with it."
        )
    weight = rows.n_rows if rows.weight is None else rows.weight.sum()
    return np.array([weight, rows.numerator.sum()], dtype=np.int64)


def _class_weights(rows: Rows, n_classes: int) -> Counts:
    if rows.weight is None:
        return np.bincount(rows.label, minlength=n_classes)
    weight = np.zeros(n_classes, dtype=np.int64)
    np.add.at(weight, rows.label, rows.weight)
    return weight
