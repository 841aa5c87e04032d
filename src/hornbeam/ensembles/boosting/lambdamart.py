"""LambdaMART: gradients from pairs of rows of a query, weighted by their effect on NDCG."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.losses import Loss
from hornbeam.errors import DataError, ParameterError
from hornbeam.kernels.elementary import exp2
from hornbeam.kernels.leafwise import lambdas
from hornbeam.typing import Counts, Floats

_MOST_RELEVANT = 64.0  # the gain of relevance l is 2**l - 1


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Rows grouped by query, within a query in the order of the table; query q is ``rows[starts[q]:starts[q + 1]]``."""

    rows: Counts
    starts: Counts

    @classmethod
    def of(cls, query: Any) -> Self:
        """Read the query of each row, a number or a string."""
        try:
            found, code = np.unique(np.asarray(query), return_inverse=True)
        except TypeError as error:  # values without an order, such as None and strings
            raise _query_error(str(error)) from error
        if (found != found).any():
            raise _query_error("NaN")
        rows = np.argsort(code, kind="stable").astype(np.int64)
        return cls(rows, np.concatenate([[0], np.cumsum(np.bincount(code))]).astype(np.int64))


def _query_error(found: str) -> DataError:
    return DataError(
        f"query has rows without one, or queries of several types ({found}); expected a number or a string for "
        "each row. Leave out rows without a query."
    )


@dataclass(frozen=True, slots=True)
class LambdaLoss(Loss):
    """The ranking loss of LambdaMART; scores order the rows of a query and have no other meaning.

    Burges, From RankNet to LambdaRank to LambdaMART, 2010, section 7. For rows i, j of a query with relevance
    ``l_i > l_j``, ``rho = 1 / (1 + exp(sigma (s_i - s_j)))``: the pair adds ``sigma rho |dNDCG|`` to the negative
    gradient of i, subtracts it from that of j, and adds ``sigma**2 rho (1 - rho) |dNDCG|`` to both hessians, where
    dNDCG is the change of NDCG if the two rows swap places. Rows of equal scores are ranked in the order of the table.

    Normalised, dNDCG is divided by ``0.01 + |s_i - s_j|`` unless all scores of the query are equal, and the
    gradients and hessians of a query are multiplied by ``log2(1 + t) / t``, where t is twice the sum of
    ``sigma rho |dNDCG|`` over its pairs: LightGBM's `lambdarank_norm`.
    """

    queries: Queries
    sigma: float = 1.0
    truncation: int | None = None
    normalize: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.sigma < np.inf:
            raise ParameterError(f"sigma={self.sigma}: expected a number above 0.0.")
        if self.truncation is not None and self.truncation < 1:
            raise ParameterError(
                f"truncation={self.truncation}: expected a whole number from 1, or None for all."
            )

    def initial_score(self, table: Table) -> Floats:
        """Return 0: only differences of scores matter. Refuse relevance out of range."""
        assert table.numeric_target is not None
        lowest, highest = table.numeric_target.values.min(), table.numeric_target.values.max()
        if lowest < 0 or highest > _MOST_RELEVANT:
            raise DataError(
                f"y ranges from {lowest:g} to {highest:g}; expected relevance from 0 to {_MOST_RELEVANT:g}, such as 0 "
                "to 4: a row of relevance l is worth 2**l - 1. Use ranks or grades."
            )
        return np.zeros(1)

    def negative_gradients(self, scores: Floats, target: Floats) -> tuple[Floats, Floats]:
        """Add up the gradients and hessians of all pairs of each row."""
        gain, queries = exp2(target) - 1.0, self.queries
        gradient, hessian = lambdas(
            scores[0], gain, queries.rows, queries.starts, self.sigma, self.truncation, self.normalize
        )
        return gradient[None], hessian[None]

    def row_losses(self, scores: Floats, target: NDArray[Any]) -> Floats:  # noqa: ARG002
        """Raise an error: NDCG is a property of a query, not of a row."""
        raise ParameterError(
            "A ranking loss is defined for queries, not for single rows; expected no early stopping."
        )
