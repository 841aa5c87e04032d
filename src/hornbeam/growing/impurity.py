"""Impurity of class counts: entropy and Gini."""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.criterion import Criterion
from hornbeam.kernels.elementary import log2
from hornbeam.typing import Floats


@overload
def impurity(counts: list[float] | tuple[float, ...], criterion: Criterion | str = ...) -> float: ...
@overload
def impurity(counts: ArrayLike, criterion: Criterion | str = ...) -> float | Floats: ...
def impurity(counts: ArrayLike, criterion: Criterion | str = Criterion.ENTROPY) -> float | Floats:
    """Compute the impurity of class counts: 0 if there is one class, largest if all classes are equally frequent.

    Parameters
    ----------
    counts : array-like of shape (..., n_classes)
        Rows, or weights, of each class; the last axis is the classes. Only their proportions matter, so probabilities
        are valid too.
    criterion : {"entropy", "gini"} or Criterion, default "entropy"
        - ``entropy``: ``-sum(p * log2(p))`` in bits, from 0 to ``log2(n_classes)``.
        - ``gini``: ``1 - sum(p**2)``, from 0 to ``1 - 1 / n_classes``.

    Returns
    -------
    float, or ndarray of float64 of shape (...)

    Raises
    ------
    DataError
        If a count is negative or not finite, or all counts of a node are 0.
    ParameterError
        If the criterion is not an impurity.

    See Also
    --------
    hornbeam.TreeClassifier.candidate_splits : gain of all splits of a node.

    Examples
    --------
    >>> impurity([6, 6]), impurity([6, 6], "gini")
    (1.0, 0.5)
    >>> impurity([[4, 2], [2, 0], [0, 4]]).round(3)
    array([0.918, 0.   , 0.   ])

    The gain of a split is the impurity of the node minus the weighted mean of the impurities of its children:

    >>> children = np.array([[4, 2], [2, 0], [0, 4]])
    >>> after = np.average(impurity(children), weights=children.sum(axis=1))
    >>> print(round(impurity([6, 6]) - after, 4))
    0.5409
    """
    _check_criterion(criterion)
    weights = _read(counts)
    share = weights / weights.sum(axis=-1, keepdims=True)
    if criterion == Criterion.GINI:
        found = 1.0 - (share * share).sum(axis=-1)
    else:
        found = -(share * log2(np.where(share > 0, share, 1.0))).sum(axis=-1)
    found = np.maximum(found, 0.0)  # also turns -0.0 into 0.0
    return float(found) if found.ndim == 0 else found


def _check_criterion(criterion: Criterion | str) -> None:
    measure = Criterion(criterion) if criterion in list(Criterion) else None
    if measure is not None and measure.impurity is measure:
        return
    why = "." if measure is None else "; it compares splits, not class counts. Pass 'entropy' or 'gini'."
    if measure is not None and measure.is_numeric:
        why = "; it is for numeric targets. Use the variance of the target instead: numpy.var(y)."
    raise ParameterError(f"criterion={str(criterion)!r}: expected 'entropy' or 'gini'{why}")


def _read(counts: ArrayLike) -> NDArray[np.float64]:
    try:
        weights = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "counts has values that are not numbers, or rows of different length; expected the count of each class. "
            "Pass one number per class."
        ) from None
    if weights.ndim == 0 or weights.shape[-1] == 0:
        raise DataError(
            f"counts has the shape {weights.shape}; expected at least one class on the last axis. Pass one number per "
            "class, such as [6, 6]."
        )
    wrong = weights[~((weights >= 0) & np.isfinite(weights))]
    if len(wrong):
        raise DataError(
            f"counts has {wrong[0]:g}; expected finite numbers of zero or more. Pass the rows of each class."
        )
    largest = weights.max(axis=-1, keepdims=True)
    if not largest.all():
        raise DataError(
            "all counts of a node are 0; expected a row of at least one class. Leave out nodes without rows."
        )
    return weights / largest  # so that sums of huge or tiny weights stay finite
