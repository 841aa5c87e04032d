"""Boosted trees for a number in scikit-learn's manners."""

from typing import Any, Self

from sklearn.base import RegressorMixin

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.losses import Loss, Poisson, SquaredError
from hornbeam.ensembles.boosting.quantile_loss import QuantileLoss
from hornbeam.estimators.inputs.sources import accepts_source, in_memory
from hornbeam.estimators.inputs.targets import read_numeric
from hornbeam.estimators.methods.boosting_methods import BoostingMethods
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.parameters.validators import lookup, number
from hornbeam.typing import Floats

__all__ = ["BoostedTreesRegressor"]


class BoostedTreesRegressor(CallbackSupportMixin, BoostingMethods, RegressorMixin, HornbeamEstimator):
    """Gradient boosted trees for a number, for numeric and nominal features with missing values.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "poisson"}, default="squared_error"
        What the trees lower: answers are means, medians, quantiles, or means of what is never negative.
    quantile : float or None, default=None
        Which quantile, above 0 and below 1; with loss="quantile".
    learning_rate : float, default=0.1
        The part of each Newton step that is taken.
    n_estimators : int, default=100
        Rounds at most, each of one tree.
    max_leaf_nodes : int or None, default=31
        Leaves of each tree at most, best first; None for no limit.
    max_depth : int or None, default=None
        Tests on a path at most.
    min_samples_leaf : int, default=20
        Rows each child of a split must hold; a row of weight 2 is two rows, where weights are whole.
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
        +1 where the answer must not fall as the feature rises, -1 where it must not rise, 0 elsewhere; or a dict from
        feature names. Not for medians and quantiles.
    early_stopping : "auto" or bool, default="auto"
        Whether to hold rows out and stop when trees no longer help them; "auto": with more than 10,000 rows.
    validation_fraction : float, default=0.1
        Share of the rows that is held out.
    n_iter_no_change : int, default=10
        Rounds to wait for a smaller loss of the rows held out.
    tol : float, default=1e-7
        By how much it must be smaller.
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
    validation_losses_ : ndarray of shape (n_rounds + 1,)
        Mean loss of the rows held out, before the first round and after each; with early stopping.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Notes
    -----
    The same rows give the same trees, bit for bit, in any order and on any number of threads: gradients are added up
    as integers, and every draw depends on the seed, the round, and the row or node alone. A row of weight 2 is a row
    given twice, unless rows are drawn. Missing values go the way that lowers the loss more; where a node has seen
    none, a row that lacks the value stops and is answered by that node, and so is one of a category it has not seen.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hornbeam import BoostedTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = BoostedTreesRegressor(n_estimators=20).fit(X[::2], y[::2])
    >>> reg.predict(X[1:4:2]).round(), round(reg.score(X[1::2], y[1::2]), 2)
    (array([ 79., 176.]), 0.36)
    """

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
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
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
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
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, strings, categories; missing values in any form.
        y : array-like of shape (n_rows,)
            Numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            A row of weight 2 counts as two rows.

        Returns
        -------
        BoostedTreesRegressor
            Itself, fitted.
        """
        in_memory(self, X)
        with Progress(self, X, y, sample_weight) as progress:
            numbers = read_numeric(self, y)
            table = Table.read(X, numbers, sample_weight=sample_weight, target=Kind.NUMERIC)
            self._boost(table, self._loss(), progress)
        return self

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Answer each row with a mean, or a quantile.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        scores = self._scores(X)
        return self._loss().predict(scores)[:, 0]

    def _loss(self) -> Loss:
        known: dict[str, Loss | None] = {
            "squared_error": SquaredError(),
            "absolute_error": QuantileLoss(),
            "quantile": None,
            "poisson": Poisson(),
        }
        loss = lookup("loss", self.loss, known)
        return QuantileLoss(number("quantile", self.quantile, 0.5)) if loss is None else loss
