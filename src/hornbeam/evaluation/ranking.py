"""How good an order is: each query by itself, then the mean over queries."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import DataError
from hornbeam.typing import Floats

__all__ = ["mean_average_precision", "mean_reciprocal_rank", "ndcg"]


def ndcg(y: Any, scores: Any, group: Any = None, *, k: int | None = None) -> float:
    """Compare discounted gain with that of the best order, the mean over queries.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Relevance, 0 or more: a row of relevance l is worth ``2**l - 1``, divided by ``log2(1 + rank)``.
    scores : array-like of shape (n_rows,)
        The order, highest first. Rows of equal scores share the mean of their gains.
    group : array-like of shape (n_rows,), optional
        The query of each row; without it all are of one.
    k : int, optional
        Ranks that count; without it all.

    Returns
    -------
    float
        From 0 to 1, for the best order. Queries without a relevant row are left out; NaN if no other is there.

    Examples
    --------
    >>> round(ndcg([2, 0, 1], [0.1, 0.3, 0.2]), 4)
    0.5869
    """
    return _mean(_ndcg_of_query(gain, score, k) for gain, score in _queries(y, scores, group))


def mean_average_precision(y: Any, scores: Any, group: Any = None, *, k: int | None = None) -> float:
    """Average the precision at the rank of every relevant row, then over queries.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Above 0: relevant.
    scores : array-like of shape (n_rows,)
        The order, highest first. Among equal scores the relevant rows come last: no order earns what it does not say.
    group : array-like of shape (n_rows,), optional
        The query of each row; without it all are of one.
    k : int, optional
        Ranks that count; without it all.

    Returns
    -------
    float
        From 0 to 1. Queries without a relevant row are left out; NaN if no other is there.

    Examples
    --------
    >>> round(mean_average_precision([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    0.8333
    """
    return _mean(_average_precision(gain, score, k) for gain, score in _queries(y, scores, group))


def mean_reciprocal_rank(y: Any, scores: Any, group: Any = None) -> float:
    """Average one over the rank of the first relevant row over queries.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Above 0: relevant.
    scores : array-like of shape (n_rows,)
        The order, highest first. Among equal scores the relevant rows come last.
    group : array-like of shape (n_rows,), optional
        The query of each row; without it all are of one.

    Returns
    -------
    float
        From 0 to 1. Queries without a relevant row are left out; NaN if no other is there.

    Examples
    --------
    >>> mean_reciprocal_rank([0, 1, 1, 0], [2.0, 1.0, 5.0, 7.0], group=["a", "a", "b", "b"])
    0.5
    """
    return _mean(1.0 / (_order(gain, score).argmax() + 1) for gain, score in _queries(y, scores, group))


def _queries(y: Any, scores: Any, group: Any) -> Iterator[tuple[Floats, Floats]]:
    """Relevance and scores of each query that has a relevant row."""
    relevance, score = np.asarray(y, np.float64), np.asarray(scores, np.float64)
    code = np.zeros(len(relevance), np.intp)
    if group is not None:
        code = np.unique(np.asarray(group), return_inverse=True)[1]
    if relevance.ndim != 1 or not relevance.shape == score.shape == code.shape:
        raise DataError(
            f"y, scores and group have the shapes {relevance.shape}, {score.shape} and {code.shape}; expected one "
            "number of each a row."
        )
    if not (relevance >= 0).all() or np.isnan(score).any():
        raise DataError(
            "Relevance below 0, or NaN; expected 0 for a row that is not relevant, and more for others."
        )
    order = np.argsort(code, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(code))[:-1]):
        if relevance[rows].any():
            yield relevance[rows], score[rows]


def _ndcg_of_query(relevance: Floats, score: Floats, k: int | None) -> float:
    gain = np.exp2(relevance) - 1.0
    discount = 1.0 / np.log2(np.arange(2, len(gain) + 2))
    if k is not None:
        discount[k:] = 0.0
    _, tie, size = np.unique(-score, return_inverse=True, return_counts=True)
    shared = np.bincount(tie, gain) / size
    return float(np.repeat(shared, size) @ discount / (np.sort(gain)[::-1] @ discount))


def _average_precision(relevance: Floats, score: Floats, k: int | None) -> float:
    relevant = _order(relevance, score)
    precision = np.cumsum(relevant) / np.arange(1, len(relevant) + 1)
    most = min(int(relevant.sum()), len(relevant[:k]))
    return float((precision * relevant)[:k].sum() / most)


def _order(relevance: Floats, score: Floats) -> NDArray[np.bool_]:
    """Whether the row of each rank is relevant."""
    ordered: NDArray[np.bool_] = (relevance > 0)[np.lexsort((relevance > 0, -score))]
    return ordered


def _mean(of_queries: Iterator[float]) -> float:
    values = list(of_queries)
    return float(np.mean(values)) if values else float("nan")
