"""LambdaMART: a loss of queries, whose pairs of rows pull by what NDCG would gain."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.kernels.elementary import exp2
from hornbeam.kernels.lambdas import lambdas
from hornbeam.typing import Counts, Floats

__all__ = ["LambdaLoss", "Queries"]

_MOST_RELEVANT = 64.0  # gains are powers of two


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Which rows belong to which query.

    Parameters
    ----------
    rows : int64 array of shape (n_rows,)
        The rows, query by query, those of a query in the order they came in.
    starts : int64 array of shape (n_queries + 1,)
        Where each query's begin, and the end.

    Examples
    --------
    >>> queries = Queries.of(["b", "a", "b"])
    >>> queries.rows.tolist(), queries.starts.tolist()
    ([1, 0, 2], [0, 1, 3])
    """

    rows: Counts
    starts: Counts

    @classmethod
    def of(cls, group: Any) -> Self:
        """Read the query of each row: numbers or words."""
        try:
            found, code = np.unique(np.asarray(group), return_inverse=True)
        except TypeError as error:  # what has no order: None beside words, say
            raise _no_query(str(error)) from error
        if (found != found).any():
            raise _no_query("NaN")
        rows = np.argsort(code, kind="stable").astype(np.int64)
        return cls(rows, np.concatenate([[0], np.cumsum(np.bincount(code))]).astype(np.int64))


def _no_query(found: str) -> DataError:
    return DataError(
        f"group has rows without a query, or queries of several types ({found}); expected a number or a word for each "
        "row. Leave out rows without a query."
    )


@dataclass(frozen=True, slots=True)
class LambdaLoss:
    """Pulls of LambdaMART; a score orders the rows of a query, and means nothing else.

    Parameters
    ----------
    queries : Queries
    sigma : float, default 1.0
        How steeply the probability of the right order rises with the difference of two scores.
    truncation : int or None, default None
        Pairs count if one of the two is among the first so many by score, and NDCG is that of the first so many;
        None for all.
    normalize : bool, default True
        Whether pairs of like scores count for more, and queries of large pulls for less.

    Notes
    -----
    Burges, From RankNet to LambdaRank to LambdaMART, 2010, section 7. For rows i, j of a query with relevance
    ``l_i > l_j``, ``rho = 1 / (1 + exp(sigma (s_i - s_j)))``: i is pulled up and j down by ``sigma rho |dNDCG|``, and
    the weight of both is ``sigma**2 rho (1 - rho) |dNDCG|``, where dNDCG is what NDCG changes if the two change
    places. Rows of equal scores are ranked in the order they came in.

    Normalised, dNDCG is divided by ``0.01 + |s_i - s_j|`` unless all scores of the query are equal, and the pulls and
    weights of a query are multiplied by ``log2(1 + t) / t``, where t is twice the sum of its pairs' pulls: LightGBM's
    `lambdarank_norm`.

    Examples
    --------
    >>> loss = LambdaLoss(Queries.of([7, 7, 7]), normalize=False)
    >>> pull, weight = loss.pulls(np.array([[0.1, 0.3, 0.2]]), np.array([2.0, 0.0, 1.0]))
    >>> pull.round(4), weight.round(4)
    (array([[ 0.265 , -0.2805,  0.0155]]), array([[0.1202, 0.1276, 0.0433]]))
    """

    queries: Queries
    sigma: float = 1.0
    truncation: int | None = None
    normalize: bool = True
    n_outputs: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0.0 < self.sigma < np.inf:
            raise ParameterError(f"sigma={self.sigma}: expected a number above 0.0.")
        if self.truncation is not None and self.truncation < 1:
            raise ParameterError(
                f"truncation={self.truncation}: expected a whole number from 1, or None for all."
            )

    def start(self, table: Table) -> Floats:
        """Start with 0: an order has no level."""
        assert table.numeric_target is not None
        lowest, highest = table.numeric_target.values.min(), table.numeric_target.values.max()
        if lowest < 0 or highest > _MOST_RELEVANT:
            raise DataError(
                f"y ranges from {lowest:g} to {highest:g}; expected relevance from 0 to {_MOST_RELEVANT:g}, such as 0 "
                "to 4: a row of relevance l is worth 2**l - 1. Use ranks or grades."
            )
        return np.zeros(1)

    def pulls(self, scores: Floats, target: Floats) -> tuple[Floats, Floats]:
        """Add up what all pairs of a row pull."""
        gain, queries = exp2(target) - 1.0, self.queries
        pull, weight = lambdas(
            scores[0], gain, queries.rows, queries.starts, self.sigma, self.truncation, self.normalize
        )
        return pull[None], weight[None]

    def of_rows(self, scores: Floats, target: NDArray[Any]) -> Floats:  # noqa: ARG002
        """Refuse: rows of a query have a loss together, and alone none."""
        raise ParameterError("Rows have no loss of their own in a ranking; expected no early stopping.")

    def answer(self, scores: Floats) -> Floats:
        """Scores are answers."""
        return scores.T
