"""Quantiles, ranges, samples and distributions of rows, for regressors that count their rows by value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hornbeam.checks import check_share, check_whole
from hornbeam.data.threads import n_threads
from hornbeam.estimators.methods.reads_rows import ReadsRows, accepts_source
from hornbeam.estimators.parameters.validators import resolve_seed
from hornbeam.smoothing.row_distributions import RowDistributions, quantile_levels
from hornbeam.tree.unwrap import distribution_of
from hornbeam.typing import Floats, Indices

if TYPE_CHECKING:
    from hornbeam.smoothing.distribution import TargetDistribution


class PredictsDistribution(ReadsRows):
    """Predictions from the distribution of the target."""

    n_jobs: int | None

    @accepts_source
    def predict_quantile(self, X: Any, q: Any = 0.5) -> Floats:
        """Predict quantiles of the target of each row; the model must be fitted with ``distribution=True``.

        The distribution of a node of a tree is that of its own rows and of rows borrowed from its ancestors, whose
        number is fitted on held-out rows. That of a forest is the mean over its trees of the rows in the node where
        the row stops, or in the nearest node above it with enough rows, a number that is chosen out of the bag.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        q : float or sequence of float, default=0.5
            Probabilities between 0 and 1: 0.5 for the median.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, len(q)) for a sequence
            The least value with at least this probability up to it. Of many different values, those between the
            least and the largest value of a bin are taken as uniform.

        Notes
        -----
        No quantile is outside the values of `fit`: a value that `update` adds beyond them counts as the outermost one.

        Examples
        --------
        >>> import numpy as np
        >>> from hornbeam import TreeRegressor
        >>> waits = np.array([1, 2, 2, 3, 9] * 20, float)
        >>> reg = TreeRegressor(distribution=True).fit(np.zeros((100, 1)), waits)
        >>> reg.predict([[0.0]]).round(6), reg.predict_quantile([[0.0]], [0.1, 0.5, 0.9])
        (array([3.4]), array([[1., 2., 9.]]))
        """
        levels = quantile_levels(q)
        distribution, node, shift = self._distribution_at(X, "predict_quantile")
        found = distribution.quantiles(node, levels) + shift[:, None]
        return found if np.ndim(q) else found[:, 0]

    def sample(self, X: Any, n: int = 1, *, random_state: Any = None) -> Floats:
        """Draw values of the target of each row from its distribution; the model must have ``distribution=True``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.
        n : int, default=1
            Number of values of each row.
        random_state : int, RandomState instance or None, default=None
            Seed of the random numbers. None means 0.

        Returns
        -------
        ndarray of shape (n_rows, n)

        Examples
        --------
        >>> import numpy as np
        >>> from hornbeam import TreeRegressor
        >>> waits = np.array([1, 2, 2, 3, 9] * 20, float)
        >>> TreeRegressor(distribution=True).fit(np.zeros((100, 1)), waits).sample([[0.0]], 6)
        array([[3., 2., 1., 1., 9., 9.]])
        """
        check_whole("n", n, 1)
        distribution, node, shift = self._distribution_at(X, "sample")
        uniform = np.random.default_rng(resolve_seed(random_state)).random((len(node), n))
        return distribution.sample(node, uniform) + shift[:, None]

    def predict_distribution(self, X: Any) -> RowDistributions:
        """Predict the whole distribution of the target of each row; the model must have ``distribution=True``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        RowDistributions
            Probabilities over bins of the target, with `quantile` and `cdf`: print it for quantiles of each row, or
            convert it with `to_frame` or `to_dict`.

        Examples
        --------
        >>> import numpy as np
        >>> from hornbeam import TreeRegressor
        >>> waits = np.array([1, 2, 2, 3, 9] * 20, float)
        >>> reg = TreeRegressor(distribution=True).fit(np.zeros((100, 1)), waits)
        >>> found = reg.predict_distribution([[0.0]])
        >>> found
           5 %    25 %  median    75 %    95 %
             1       2       2       3       9
        >>> found.high, found.probability.round(3)
        (array([1., 2., 3., 9.]), array([[0.2, 0.4, 0.2, 0.2]]))
        >>> (1 - found.cdf(5.0)).round(3)  # the probability to wait longer
        array([0.2])
        """
        distribution, node, shift = self._distribution_at(X, "predict_distribution")
        return RowDistributions(distribution.bins, distribution.up_to(node), shift)._from_rows(X)

    def _row_interval(self, X: Any, level: float) -> tuple[Floats, Floats]:
        check_share("level", level)
        distribution, node, shift = self._distribution_at(X, "kind='row'")
        low, high = distribution.interval(node, level)
        return low + shift, high + shift

    def _distribution_at(self, X: Any, what: str) -> tuple[TargetDistribution, Indices, Floats]:
        """Return the distribution, the node where each row stops, and the shift of each row by its terms."""
        check_is_fitted(self, self._fitted)
        distribution: TargetDistribution = distribution_of(self, what)
        table, n_jobs = self._read(X), n_threads(self.n_jobs)
        return distribution, distribution.stops(table, n_jobs), distribution.shift(table, n_jobs)
