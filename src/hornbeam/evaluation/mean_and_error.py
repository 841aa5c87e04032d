"""The weighted mean of values of rows, with its standard error."""

import numpy as np

from hornbeam.data.fixed_point import unit_scaled
from hornbeam.typing import Counts, Floats

__all__ = ["group_sums", "mean_and_error"]


def mean_and_error(values: Floats, weight: Floats, group: Counts | None = None) -> tuple[float, float]:
    """Return the weighted mean and its standard error; the error of fewer than two rows is NaN.

    A row of weight 2 counts twice in the mean; in the error it is one observation. Rows of a group are one observation
    together.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 2.0, 3.0]), np.ones(3))
    (2.0, 0.5773502691896257)
    >>> mean_and_error(np.array([1.0, 1.0, 3.0, 3.0]), np.ones(4), np.array([0, 0, 1, 1]))
    (2.0, 1.0)
    """
    n, total = len(weight), weight.sum()
    # Sums rather than products of vectors: BLAS would start threads, which wait for each other on a busy machine.
    mean = (weight * values).sum() / total if n else np.nan
    deviation = group_sums(weight * (values - mean), group)
    n = len(deviation)
    if n < 2:
        return float(mean), np.nan
    deviation, scale = unit_scaled(deviation)
    error = np.sqrt((deviation**2).sum() * n / (n - 1)) * scale / total
    return float(mean), float(error)


def group_sums(values: Floats, group: Counts | None) -> Floats:
    """Sum values of rows over each group; without groups, return them as they are.

    Examples
    --------
    >>> group_sums(np.array([1.0, 2.0, 4.0]), np.array([7, 3, 7]))
    array([2., 5.])
    """
    if group is None:
        return values
    return np.bincount(np.unique(group, return_inverse=True)[1], values)
