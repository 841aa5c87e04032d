"""Means and variances of a numeric target, from the evidence of a regression tree: weight, sum and sum of squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree.level_order import nearest_with_rows
from hornbeam.typing import Counts, Floats


def means(parent: NDArray[Any], evidence: Counts, unit: Floats) -> Floats:
    """Divide sums by weights; evidence has weight, weighted sum and weighted sum of squares.

    A node without rows has the mean of its parent; a root without rows has mean 0.
    """
    weight, total = evidence[:, 0], evidence[:, 1]
    if weight[0] == 0:
        return np.zeros(len(weight))
    source = nearest_with_rows(parent, weight)
    mean: Floats = total[source] / weight[source] * (unit[1] / unit[0])
    return mean


def variances(evidence: Counts, unit: Floats) -> Floats:
    """Compute the variance of the target at each node; 0 without rows.

    Squares are rounded to steps of ``unit[2]``, so a standard deviation below about a millionth of the largest value
    may come out as 0.
    """
    weight = np.maximum(evidence[:, 0], 1) * unit[0]
    mean, square = evidence[:, 1] * unit[1] / weight, evidence[:, 2] * unit[2] / weight
    variance: Floats = np.maximum(square - mean * mean, 0.0)
    return variance
