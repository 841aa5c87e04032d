"""The first pass: who is there, before anything is asked of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.sources import Unit
from hornbeam.errors import DataError
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import GrowthSpec, Rows
from hornbeam.typing import Counts

__all__ = ["RowSummary", "summarise_rows"]


class RowSummary(NamedTuple):
    """The weight of each class, the rows, whether some have weights, and how they are coded."""

    counts: Counts
    n_rows: int
    weighted: bool
    n_features: int
    code: np.dtype[np.uint8] | np.dtype[np.uint16]

    @property
    def row_bytes(self) -> int:
        """Bytes a row takes: its codes, its label, its weight."""
        return self.code.itemsize * self.n_features + 2 + 8 * self.weighted


def summarise_rows(source: EncodedSource, terms: GrowthSpec, engine: Engine) -> RowSummary:
    """Count the rows of all units, and check them before a kernel trusts their codes."""
    [total] = engine.reduce(_summarise, source.units(), (source, terms))
    *counts, n_rows, n_weighted, n_wide = total.tolist()
    if n_rows == 0:
        raise DataError("the source has no rows; expected at least one to grow a tree from")
    code = np.dtype(np.uint16) if n_wide else np.dtype(np.uint8)
    return RowSummary(np.array(counts, dtype=np.int64), n_rows, n_weighted > 0, len(terms.nominal), code)


def _summarise(units: Sequence[Unit], shared: tuple[EncodedSource, GrowthSpec]) -> list[Counts]:
    """Weight of each class; then rows, those with weights, those with codes of two bytes."""
    source, terms = shared
    total = np.zeros(terms.n_classes + 3, dtype=np.int64)
    for unit in units:
        rows = source.read(unit)
        subtree.check_rows(rows, terms)
        total[:-3] += _add_weights(rows, terms.n_classes)
        total[-3:] += rows.n_rows * np.array([1, rows.weight is not None, rows.codes.itemsize > 1])
    return [total]


def _add_weights(rows: Rows, n_classes: int) -> Counts:
    if rows.weight is None:
        return np.bincount(rows.label, minlength=n_classes)
    weight = np.zeros(n_classes, dtype=np.int64)
    np.add.at(weight, rows.label, rows.weight)
    return weight
