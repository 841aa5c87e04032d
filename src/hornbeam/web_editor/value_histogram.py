"""A histogram of the values of a feature among the rows of a node, by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Kind
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.typing import Bools, Floats, Indices

__all__ = ["value_histogram"]

_BARS = 30
_TAIL = 0.5  # per cent of the rows at each end, which share the first and the last bar
_MOST_CATEGORIES = 30
_SAMPLE = 10_000  # rows that show whether there are few values


def value_histogram(here: NodeRows, column: int) -> dict[str, Any]:
    """Count the rows of a node by value and class.

    ``counts`` has the rows of each class in each bar; for a numeric target the number of rows. Numeric features have
    ``edges``, the limits of the bars; others ``codes``, the categories with most rows, and ``others``, the number of
    categories that are left out. ``missing`` is the number of rows without a value.
    """
    table, at = here.table, here.at
    values, label = table.columns[column][at], _labels(here)
    n_labels = max(table.schema.n_classes, 1)
    feature = table.schema.features[column]
    known: Bools = values >= 0 if feature.kind is Kind.NOMINAL else np.isfinite(values)
    values, label = values[known], label[known]
    missing = len(at) - len(values)
    if feature.kind is not Kind.NUMERIC:
        codes, counts, others = _by_category(values.astype(np.intp), label, len(feature.categories), n_labels)
        return {"codes": codes, "counts": counts, "others": others, "missing": missing}
    edges, counts = _by_value(values, label, n_labels)
    return {"edges": edges, "counts": counts, "missing": missing}


def _labels(here: NodeRows) -> Indices:
    target = here.table.target
    return np.zeros(len(here.at), np.int32) if target is None else target[here.at]


def _by_category(
    values: NDArray[np.intp], label: Indices, n_codes: int, n_labels: int
) -> tuple[list[int], list[list[int]], int]:
    counts = np.bincount(values * n_labels + label, minlength=n_codes * n_labels).reshape(n_codes, n_labels)
    total = counts.sum(axis=1)
    largest = np.argsort(-total, kind="stable")[:_MOST_CATEGORIES]
    shown = np.sort(largest[total[largest] > 0])
    return shown.tolist(), counts[shown].tolist(), int((total > 0).sum() - len(shown))


def _by_value(values: Floats, label: Indices, n_labels: int) -> tuple[list[float], list[list[int]]]:
    if not len(values):
        return [], []
    edges = _edges(values)
    n = len(edges) - 1
    # A value on a limit belongs to the bar on its left, as at a threshold; the ends have the values beyond, too.
    bar = np.clip(np.searchsorted(edges, values) - 1, 0, n - 1)
    counts = np.bincount(bar * n_labels + label, minlength=n * n_labels).reshape(n, n_labels)
    return edges.tolist(), counts.tolist()


def _edges(values: Floats) -> Floats:
    """Return the limits of the bars: a bar for each of a few equidistant values, else bars of equal width."""
    low, high = np.percentile(values, [_TAIL, 100 - _TAIL], method="nearest").tolist()
    sample = values[:_SAMPLE]
    distinct = np.unique(sample[(sample >= low) & (sample <= high)])
    step = np.diff(distinct).min(initial=high - low)
    if not step:
        return np.array([low - 0.5, low + 0.5])
    n = round((high - low) / step) + 1
    if n <= _BARS:
        return np.linspace(low - step / 2, high + step / 2, n + 1)
    return np.linspace(low, high, _BARS + 1)
