"""Scores of rankings, averaged over queries."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.reading.columns import as_data_error
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.typing import Floats


def ndcg(y_true: Any, y_score: Any, *, query: Any = None, k: int | None = None) -> float:
    """Compute the normalised discounted cumulative gain, averaged over queries.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance, 0 or more: the gain of a row of relevance l is ``(2**l - 1) / log2(1 + rank)``.
    y_score : array-like of shape (n_rows,)
        Rows are ranked by score, highest first. Rows with equal scores share the mean of their gains.
    query : array-like of shape (n_rows,), optional
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
    _check_ranks(k)
    return _mean(_ndcg_of_query(gain, score, k) for gain, score in _queries(y_true, y_score, query))


def mean_average_precision(y_true: Any, y_score: Any, *, query: Any = None, k: int | None = None) -> float:
    """Compute the average precision at the ranks of the relevant rows, averaged over queries.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevant if above 0.
    y_score : array-like of shape (n_rows,)
        Rows are ranked by score, highest first. Among equal scores the relevant rows come last, so that ties
        do not improve the result.
    query : array-like of shape (n_rows,), optional
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
    _check_ranks(k)
    return _mean(_average_precision(gain, score, k) for gain, score in _queries(y_true, y_score, query))


def mean_reciprocal_rank(y_true: Any, y_score: Any, *, query: Any = None) -> float:
    """Compute the reciprocal rank of the first relevant row, averaged over queries.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevant if above 0.
    y_score : array-like of shape (n_rows,)
        Rows are ranked by score, highest first. Among equal scores the relevant rows come last.
    query : array-like of shape (n_rows,), optional
        Query of each row; default: one query.

    Returns
    -------
    float
        From 0 to 1. Queries without a relevant row are ignored; NaN if there are no others.

    Examples
    --------
    >>> mean_reciprocal_rank([0, 1, 1, 0], [2.0, 1.0, 5.0, 7.0], query=["a", "a", "b", "b"])
    0.5
    """
    return _mean(
        1.0 / (_relevant_by_rank(gain, score).argmax() + 1)
        for gain, score in _queries(y_true, y_score, query)
    )


def _queries(y_true: Any, y_score: Any, query: Any) -> Iterator[tuple[Floats, Floats]]:
    """Iterate over relevance and scores of the queries that have a relevant row."""
    with as_data_error("relevance and scores"):
        relevance, score = np.asarray(y_true, np.float64), np.asarray(y_score, np.float64)
    code: NDArray[Any] = np.zeros(relevance.shape, np.intp)
    if query is not None:
        with as_data_error("query"):
            code = np.unique(np.asarray(query), return_inverse=True)[1]
    if relevance.ndim != 1 or not relevance.shape == score.shape == code.shape:
        raise DataError(
            f"y_true, y_score and query have the shapes {relevance.shape}, {score.shape} and {code.shape}; expected "
            "one value of each per row."
        )
    if not (relevance >= 0).all() or np.isnan(score).any():
        raise DataError(
            "Relevance below 0, or NaN; expected 0 for rows that are not relevant, and more for others."
        )
    order = np.argsort(code, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(code))[:-1]):
        if relevance[rows].any():
            yield relevance[rows], score[rows]


def _check_ranks(k: Any) -> None:
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or k < 1):
        raise ParameterError(f"k={shown(k)}: expected a whole number of ranks, 1 or more, or None for all.")


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
