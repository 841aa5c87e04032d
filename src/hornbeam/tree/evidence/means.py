"""Means: what trees of a numeric target believe of their evidence of weight, sum and sum of squares."""

from __future__ import annotations

import numpy as np

from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import nearest_with_rows
from hornbeam.typing import Counts, Floats

__all__ = ["means", "variances"]


def means(skeleton: Skeleton, evidence: Counts, unit: Floats) -> Floats:
    """Divide sums by weights.

    A node without rows believes what its parent does; a root without, 0.

    Parameters
    ----------
    skeleton : Skeleton
    evidence : int64 array of shape (n, 3)
        Weight, weighted sum and weighted sum of squares.
    unit : float64 array of shape (3,)

    Returns
    -------
    float64 array of shape (n,)

    Examples
    --------
    >>> skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan])
    >>> means(skeleton, np.array([[4, 6, 10], [0, 0, 0], [4, 6, 10]]), np.array([1.0, 0.5, 0.25])).tolist()
    [0.75, 0.75, 0.75]
    """
    weight, total = evidence[:, 0], evidence[:, 1]
    if weight[0] == 0:
        return np.zeros(len(weight))
    source = nearest_with_rows(skeleton, weight)
    mean: Floats = total[source] / weight[source] * (unit[1] / unit[0])
    return mean


def variances(evidence: Counts, unit: Floats) -> Floats:
    """Mean squared distance of each node's rows from their mean; 0 without rows.

    Notes
    -----
    Squares are held in steps of their own, so a spread smaller than about a millionth of the largest value cannot be
    told from none.

    Examples
    --------
    >>> variances(np.array([[2, 4, 10], [0, 0, 0]]), np.ones(3)).tolist()
    [1.0, 0.0]
    """
    weight = np.maximum(evidence[:, 0], 1) * unit[0]
    mean, square = evidence[:, 1] * unit[1] / weight, evidence[:, 2] * unit[2] / weight
    spread: Floats = np.maximum(square - mean * mean, 0.0)
    return spread
