"""`BoostedTreesRanker`: LambdaMART as a scikit-learn estimator."""

from typing import Any, Self

import numpy as np

from hornbeam.data.reading.columns import as_data_error
from hornbeam.data.rows import require_in_memory
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.data.weights import read_sample_weight
from hornbeam.ensembles.boosting.lambdamart import LambdaLoss, Queries
from hornbeam.errors import DataError
from hornbeam.estimators.inputs.training import read_numeric
from hornbeam.estimators.methods.ensemble_methods import BoostingMethods
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.parameters.fields import RankerParameters
from hornbeam.estimators.parameters.validators import boolean, limit, number
from hornbeam.evaluation.ranking import ndcg
from hornbeam.typing import Floats


class BoostedTreesRanker(CallbackSupportMixin, BoostingMethods, HornbeamEstimator, RankerParameters):
    """Gradient boosted trees that rank the rows of each query (LambdaMART).

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds, with one tree per round.
    learning_rate : float, default=0.1
        Factor of each Newton step.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of each tree, grown best first; None for no limit.
    max_depth : int or None, default=None
        Maximum depth of each tree.
    min_samples_leaf : int, default=20
        Least number of rows of each child.
    l2_regularization : float, default=0.0
        Added to the sum of hessians of every node, which shrinks the values of small leaves.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Number, or share, of the features to try at each node, drawn anew for each node; None for all. More are tried
        while none of them gives a split.
    subsample : float, default=1.0
        Share of the rows to grow each round on, drawn without replacement.
    max_bins : int, default=255
        Quantile bins per numeric feature, shared by all trees.
    monotonic_cst : array-like of int, dict or None, default=None
        Sign of each feature's effect on the score: 1 (increasing), -1 (decreasing) or 0 (free); or a dict by feature
        name.
    sigma : float, default=1.0
        Steepness of the logistic function from the difference of two scores to the probability of their order.
    truncation : int or None, default=None
        Use only pairs with at least one row among this many best scores; None for all pairs.
    normalize : bool, default=True
        Whether to normalise gradients by the difference of scores and by their sum per query, as LightGBM does. False:
        LambdaMART as published by Burges.
    random_state : int, RandomState instance or None, default=None
        Seed of all draws. None means 0: the same rows always give the same trees.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The trees and their predictions do not depend on it.

    Attributes
    ----------
    boosted_ : BoostedTrees
        The fitted trees as data.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    Notes
    -----
    The trees do not depend on the number of threads. They do depend on the order of the rows within a query, because
    rows with equal scores, as in the first round, are ranked in their order.

    References
    ----------
    Burges (2010) :cite:p:`burges2010`.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import BoostedTreesRanker
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.normal(size=(600, 3)), np.repeat(np.arange(60), 10)
    >>> relevance = np.clip(np.round(X[:, 0] + X[:, 1]), 0, 4)
    >>> ranker = BoostedTreesRanker(n_estimators=30).fit(X[:300], relevance[:300], query=query[:300])
    >>> round(ranker.score(X[300:], relevance[300:], query=query[300:]), 2)
    0.96
    """

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, query: Any = None) -> Self:
        """Train the trees, round by round.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, strings or categories, with missing values in any form.
        y : array-like of shape (n_rows,)
            Relevance, 0 or more; the gain of relevance l is ``2**l - 1``.
        sample_weight : array-like of shape (n_rows,), default=None
            Factor of the gradient of each row; rows of weight 0 are left out of their query.
        query : array-like of shape (n_rows,), default=None
            Identifier of the query of each row, in any order. None: all rows belong to one query.

        Returns
        -------
        BoostedTreesRanker
            Itself, fitted.
        """
        require_in_memory(X, type(self).__name__)
        with Progress(self, X, y, sample_weight) as progress:
            relevance = read_numeric(self, y)
            table = Table.read(X, relevance, sample_weight=sample_weight, target_kind=Kind.NUMERIC)
            loss = LambdaLoss(
                _queries(query, sample_weight, len(relevance)),
                number("sigma", self.sigma, 1.0),
                limit("truncation", self.truncation),
                boolean("normalize", self.normalize),
            )
            self._train(table, loss, progress)
        return self

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Predict a score for each row; within a query, higher scores rank first.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        score: Floats = self._scores(X)[0]
        return score

    def score(self, X: Any, y: Any, *, query: Any = None) -> float:  # type: ignore[override]
        """Compute the mean NDCG over the queries.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        y : array-like of shape (n_rows,)
            Relevance.
        query : array-like of shape (n_rows,), default=None
            Identifier of the query of each row.

        Returns
        -------
        float
            At most 1, for the best order.
        """
        return ndcg(y, self.predict(X), query=query)


def _queries(query: Any, sample_weight: Any, n_rows: int) -> Queries:
    with as_data_error("query"):
        queries = np.zeros(n_rows, np.int64) if query is None else np.asarray(query)
    if queries.shape != (n_rows,):
        raise DataError(
            f"query has the shape {queries.shape} for {n_rows} rows; expected the query of each row. Repeat each query "
            "as often as it has rows: np.repeat(np.arange(n_queries), sizes)."
        )
    return Queries.of(
        queries if sample_weight is None else queries[read_sample_weight(sample_weight, n_rows) > 0]
    )
