"""Scores of rankings, averaged over queries."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import DataError
from hornbeam.typing import Floats


def ndcg(y: Any, scores: Any, group: Any = None, *, k: int | None = None) -> float:
    """Compute the normalised discounted cumulative gain, averaged over queries.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Relevance, 0 or more: the gain of a row of relevance l is ``(2**l - 1) / log2(1 + rank)``.
    scores : array-like of shape (n_rows,)
        Rows are ranked by score, highest first. Rows with equal scores share the mean of their gains.
    group : array-like of shape (n_rows,), optional
        Query of each row; default: one query.
    k : int, optional
        Number of ranks that count; default: all.

    Returns
    -------
    float
        From 0 to 1, for the best order. Queries without a relevant row are ignored; NaN if there are no others.

    Examples
    --------
    >>> round(ndcg([2, 0, 1], [0.1, 0.3, 0.2]), 4)
    0.5869
    """
    return _mean(_ndcg_of_query(gain, score, k) for gain, score in _queries(y, scores, group))


def mean_average_precision(y: Any, scores: Any, group: Any = None, *, k: int | None = None) -> float:
    """Compute the average precision at the ranks of the relevant rows, averaged over queries.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Relevant if above 0.
    scores : array-like of shape (n_rows,)
        Rows are ranked by score, highest first. Among equal scores the relevant rows come last, so that ties
        do not improve the result.
    group : array-like of shape (n_rows,), optional
        Query of each row; default: one query.
    k : int, optional
        Number of ranks that count; default: all.

    Returns
    -------
    float
        From 0 to 1. Queries without a relevant row are ignored; NaN if there are no others.

    Examples
    --------
    >>> round(mean_average_precision([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    0.8333
    """
    return _mean(_average_precision(gain, score, k) for gain, score in _queries(y, scores, group))


def mean_reciprocal_rank(y: Any, scores: Any, group: Any = None) -> float:
    """Compute the reciprocal rank of the first relevant row, averaged over queries.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Relevant if above 0.
    scores : array-like of shape (n_rows,)
        Rows are ranked by score, highest first. Among equal scores the relevant rows come last.
    group : array-like of shape (n_rows,), optional
        Query of each row; default: one query.

    Returns
    -------
    float
        From 0 to 1. Queries without a relevant row are ignored; NaN if there are no others.

    Examples
    --------
    >>> mean_reciprocal_rank([0, 1, 1, 0], [2.0, 1.0, 5.0, 7.0], group=["a", "a", "b", "b"])
    0.5
    """
    return _mean(
        1.0 / (_relevant_by_rank(gain, score).argmax() + 1) for gain, score in _queries(y, scores, group)
    )


def _queries(y: Any, scores: Any, group: Any) -> Iterator[tuple[Floats, Floats]]:
    """Iterate over relevance and scores of the queries that have a relevant row."""
    relevance, score = np.asarray(y, np.float64), np.asarray(scores, np.float64)
    code = np.zeros(len(relevance), np.intp)
    if group is not None:
        code = np.unique(np.asarray(group), return_inverse=True)[1]
    if relevance.ndim != 1 or not relevance.shape == score.shape == code.shape:
        raise DataError(
            f"y, scores and group have the shapes {relevance.shape}, {score.shape} and {code.shape}; expected one "
            "number of each per row."
        )
    if not (relevance >= 0).all() or np.isnan(score).any():
        raise DataError(
            "Relevance below 0, or NaN; expected 0 for rows that are not relevant, and more for others."
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
    relevant = _relevant_by_rank(relevance, score)
    precision = np.cumsum(relevant) / np.arange(1, len(relevant) + 1)
    n_possible = min(int(relevant.sum()), len(relevant[:k]))
    return float((precision * relevant)[:k].sum() / n_possible)


def _relevant_by_rank(relevance: Floats, score: Floats) -> NDArray[np.bool_]:
    """Return whether the row of each rank is relevant."""
    ordered: NDArray[np.bool_] = (relevance > 0)[np.lexsort((relevance > 0, -score))]
    return ordered


def _mean(results: Iterator[float]) -> float:
    values = list(results)
    return float(np.mean(values)) if values else float("nan")
