"""LambdaMART in scikit-learn's manners."""

from typing import Any, Self

import numpy as np

from hornbeam.data.reading.library_errors import reading
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.lambdamart import LambdaLoss, Queries
from hornbeam.errors import DataError
from hornbeam.estimators.inputs.sources import accepts_source, in_memory
from hornbeam.estimators.inputs.targets import read_numeric
from hornbeam.estimators.methods.ensemble_methods import BoostingMethods
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.parameters.validators import boolean, limit, number
from hornbeam.evaluation.ranking import ndcg
from hornbeam.typing import Floats

__all__ = ["BoostedTreesRanker"]


class BoostedTreesRanker(CallbackSupportMixin, BoostingMethods, HornbeamEstimator):
    """Boosted trees that order the rows of a query, most relevant first.

    Parameters
    ----------
    learning_rate : float, default=0.1
        The part of each Newton step that is taken.
    n_estimators : int, default=100
        Rounds at most, each of one tree.
    max_leaf_nodes : int or None, default=31
        Leaves of each tree at most, best first; None for no limit.
    max_depth : int or None, default=None
        Tests on a path at most.
    min_samples_leaf : int, default=20
        Rows each child of a split must hold.
    l2_regularization : float, default=0.0
        Added to the hessians of every node: leaves of few rows answer less.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Features a node looks at, drawn anew for each node: so many, or such a share of all; None for all. It looks
        at more while none of them offers a split.
    subsample : float, default=1.0
        Share of the rows each round is grown on, drawn without replacement.
    max_bins : int, default=255
        Quantile bins for each numeric feature, shared by all trees.
    monotonic_cst : array-like of int, dict or None, default=None
        +1 where the score must not fall as the feature rises, -1 where it must not rise, 0 elsewhere; or a dict from
        feature names.
    sigma : float, default=1.0
        How steeply the probability of the right order rises with the difference of two scores.
    truncation : int or None, default=None
        Pairs of rows count if one of the two is among the first so many by score; None for all.
    normalize : bool, default=True
        Whether pairs of like scores count for more, and queries of large pulls for less, as LightGBM has it. False is
        LambdaMART as Burges wrote it down.
    random_state : int, RandomState instance or None, default=None
        Another number, other draws. None is 0: the same rows give the same trees.
    n_jobs : int, default=None
        Threads; -1 for all cores. Neither the trees nor their answers depend on them.

    Attributes
    ----------
    boosted_ : Boosted
        The fitted trees as data.
    n_iter_ : int
        Rounds that were kept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Notes
    -----
    The trees do not depend on the number of threads. Rows of equal scores are ranked in the order they came in, as in
    the first round all are: the order of the rows of a query is part of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import BoostedTreesRanker
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.normal(size=(600, 3)), np.repeat(np.arange(60), 10)
    >>> relevance = np.clip(np.round(X[:, 0] + X[:, 1]), 0, 4)
    >>> ranker = BoostedTreesRanker(n_estimators=30).fit(X[:300], relevance[:300], group=query[:300])
    >>> round(ranker.score(X[300:], relevance[300:], group=query[300:]), 2)
    0.96
    """

    def __init__(
        self,
        *,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: Any = None,
        subsample: float = 1.0,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        sigma: float = 1.0,
        truncation: int | None = None,
        normalize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.sigma = sigma
        self.truncation = truncation
        self.normalize = normalize
        self.random_state = random_state
        self.n_jobs = n_jobs

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, group: Any = None) -> Self:
        """Boost the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, strings, categories; missing values in any form.
        y : array-like of shape (n_rows,)
            Relevance, from 0; a row of relevance l is worth ``2**l - 1``.
        group : array-like of shape (n_rows,), default=None
            The query of each row, in any order: numbers or words. None: all rows are of one query.

        Returns
        -------
        BoostedTreesRanker
            Itself, fitted.
        """
        in_memory(self, X)
        with Progress(self, X, y, None) as progress:
            relevance = read_numeric(self, y)
            table = Table.read(X, relevance, target=Kind.NUMERIC)
            loss = LambdaLoss(
                _queries(group, table.n_rows),
                number("sigma", self.sigma, 1.0),
                limit("truncation", self.truncation),
                boolean("normalize", self.normalize),
            )
            self._train(table, loss, progress)
        return self

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Score each row; of one query, higher scores come first.

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

    def score(self, X: Any, y: Any, group: Any = None) -> float:
        """Return the mean NDCG of the queries.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        y : array-like of shape (n_rows,)
            Relevance.
        group : array-like of shape (n_rows,), default=None
            The query of each row.

        Returns
        -------
        float
            From 0 to 1, for the best order.
        """
        return ndcg(y, self.predict(X), group)


def _queries(group: Any, n_rows: int) -> Queries:
    with reading("group"):
        queries = np.zeros(n_rows, np.int64) if group is None else np.asarray(group)
    if queries.shape != (n_rows,):
        raise DataError(
            f"group has the shape {queries.shape} for {n_rows} rows; expected the query of each row. Repeat each query "
            "as often as it has rows: np.repeat(np.arange(n_queries), sizes)."
        )
    return Queries.of(queries)
