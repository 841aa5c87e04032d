"""The weighted mean of values of rows, with its standard error."""

import numpy as np

from hornbeam.typing import Floats

__all__ = ["mean_and_error"]


def mean_and_error(values: Floats, weight: Floats) -> tuple[float, float]:
    """Return the weighted mean and its standard error; the error of fewer than two rows is NaN.

    A row of weight 2 counts twice in the mean; in the error it is one observation.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 2.0, 3.0]), np.ones(3))
    (2.0, 0.5773502691896257)
    """
    n, total = len(weight), weight.sum()
    # Sums rather than products of vectors: BLAS would start threads, which wait for each other on a busy machine.
    mean = (weight * values).sum() / total if n else np.nan
    deviation = weight * (values - mean)
    error = np.sqrt((deviation**2).sum() * n / (n - 1)) / total if n > 1 else np.nan
    return float(mean), float(error)
