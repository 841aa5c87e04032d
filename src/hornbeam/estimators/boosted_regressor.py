"""`BoostedTreesRegressor`: gradient boosting for a numeric target as a scikit-learn estimator."""

from typing import Any, Self

from sklearn.base import RegressorMixin

from hornbeam.data.groups import split_group_column
from hornbeam.data.rows import require_in_memory
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.losses import Loss, Poisson, SquaredError
from hornbeam.ensembles.boosting.quantile_loss import QuantileLoss
from hornbeam.estimators.inputs.training import read_numeric
from hornbeam.estimators.methods.ensemble_methods import BoostingMethods
from hornbeam.estimators.methods.estimator import HornbeamEstimator
from hornbeam.estimators.methods.initial_scores import InitialScores
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.parameters.fields import BoostingRegressorParameters
from hornbeam.estimators.parameters.validators import lookup, number
from hornbeam.kernels.elementary import exp
from hornbeam.typing import Floats

_LEAST_SHARE = 0.01  # of the mean of y: nearer to 0, a wrong prediction of init makes Newton steps diverge


class BoostedTreesRegressor(
    CallbackSupportMixin, BoostingMethods, RegressorMixin, HornbeamEstimator, BoostingRegressorParameters
):
    """Gradient boosted trees for a numeric target.

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed. Trees are
    grown leaf by leaf on binned features, as in LightGBM and scikit-learn's ``HistGradientBoostingRegressor``.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "poisson"} or Loss, default="squared_error"
        The loss to minimise. It decides what is predicted: the mean, the median, a quantile, or the mean of a target
        that is never negative. Or a loss of `hornbeam.ensembles`, such as ``QuantileLoss(0.9)``, or your own.
    quantile : float or None, default=None
        The quantile to predict, above 0 and below 1; with loss="quantile".
    n_estimators : int, default=100
        Maximum number of rounds, with one tree per round.
    learning_rate : float, default=0.1
        Factor of each Newton step.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of each tree, grown best first; None for no limit.
    max_depth : int or None, default=None
        Maximum depth of each tree.
    min_samples_leaf : int, default=20
        Least number of rows of each child; a row of whole weight 2 is two rows.
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
        Sign of each feature's effect on the prediction: 1 (increasing), -1 (decreasing) or 0 (free); or a dict by
        feature name. Not for medians and quantiles.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the loss on held-out rows no longer falls. "auto": from 10 to 5,000 rows,
        five folds choose the number of rounds, and the trees are grown on all rows; with more than 10,000 rows, as
        True; else as False.
    validation_fraction : float, default=0.1
        Share of the rows to hold out; not used where folds are.
    n_iter_no_change : int, default=10
        Number of rounds without improvement on the held-out rows before stopping.
    tol : float, default=1e-7
        Least decrease of the loss that counts as improvement.
    init : estimator or None, default=None
        Regressor that boosting starts from, such as a forest: `fit` fits a clone to the same rows, and the trees are
        grown on what is left of the errors of its predictions. None: start from a constant.
    random_state : int, RandomState instance or None, default=None
        Seed of all draws. None means 0: the same rows always give the same trees.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The trees and their predictions do not depend on it.

    Attributes
    ----------
    boosted_ : BoostedTrees
        The fitted trees as data.
    init_ : estimator
        The fitted clone of `init`; only with `init`.
    n_iter_ : int
        Number of rounds.
    validation_losses_ : ndarray of shape (n_rounds + 1,)
        Mean loss of the held-out rows, before the first round and after each; with early stopping.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    Notes
    -----
    The same rows give the same trees, bit for bit, in any order and on any number of threads: gradients are summed as
    integers, and every draw depends only on the seed, the round, and the row or node. A row of weight 2 is the same as
    two rows, unless rows are drawn or held out.

    Rows with a missing value go to the child that lowers the loss more. Where training had no missing value, they stop
    and get the value of that node; so do rows with a category that did not occur there.

    With `init`, the predictions of `init_` are added to the scores of `boosted_`; for loss="poisson" their logarithms,
    where a prediction below a hundredth of the mean of y counts as that. The first round starts from the out-of-bag
    predictions of an `init` that draws bootstrap samples, as forests do. Any other `init` predicts the rows of its own
    fit: if it overfits, little is left to boost, and early stopping is not possible. `feature_importances_` and
    `monotonic_cst` are those of `boosted_` alone. `hornbeam.save` cannot save a model with `init`; pickle and skops
    can.

    References
    ----------
    Friedman (2001) :cite:p:`friedman2001`; ``init``: Mohan, Chen and Weinberger (2011) :cite:p:`mohan2011`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hornbeam import BoostedTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = BoostedTreesRegressor(n_estimators=20).fit(X[::2], y[::2])
    >>> reg.predict(X[1:4:2]).round(), round(reg.score(X[1::2], y[1::2]), 2)
    (array([ 79., 176.]), 0.36)

    A high quantile instead of the mean:

    >>> from hornbeam.ensembles import QuantileLoss
    >>> high = BoostedTreesRegressor(loss=QuantileLoss(0.9), n_estimators=20).fit(X[::2], y[::2])
    >>> float((y[1::2] < high.predict(X[1::2])).mean().round(2))
    0.91
    """

    @exclusive
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train the trees, round by round.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, strings or categories, with missing values in any form.
        y : array-like of shape (n_rows,)
            Numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights: a row of weight 2 counts as two rows.
        groups : array-like of shape (n_rows,) or str, default=None
            Rows that belong together, such as the visits of a patient: early stopping holds them out together. Or the
            name of their column in a data frame, which is then no feature. "copies": equal rows are a group.

        Returns
        -------
        BoostedTreesRegressor
            Itself, fitted.
        """
        require_in_memory(X, type(self).__name__)
        X, groups = split_group_column(X, groups)  # before init is fitted to X
        with Progress(self, X, y, sample_weight) as progress:
            target = read_numeric(self, y)
            table = Table.read(
                X, target, sample_weight=sample_weight, groups=groups, target_kind=Kind.NUMERIC
            )
            loss = self._loss()
            if self.init is not None and isinstance(loss, Poisson):
                mean = exp(loss.initial_score(table)).item()
                self._least_mean = _LEAST_SHARE * mean
                loss = self._loss()
            initial = InitialScores.fit(self.init, X, target, sample_weight, loss, groups=groups)
            self._train(table, loss, progress, initial)
        return self

    @accepts_source
    def predict(self, X: Any) -> Floats:
        """Predict the mean or the quantile of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        loss = self._loss()
        return loss.predict(self._scores(X, loss))[:, 0]

    _least_mean = 1e-15  # from init, for loss="poisson"

    def _loss(self) -> Loss:
        known: dict[str, Loss | None] = {
            "squared_error": SquaredError(),
            "absolute_error": QuantileLoss(),
            "quantile": None,
            "poisson": Poisson(),
        }
        loss = self.loss
        if isinstance(loss, type) or not isinstance(loss, Loss) or loss.n_outputs != 1:
            loss = lookup("loss", loss, known, ", or a hornbeam.ensembles.Loss with one output")
        if loss is None or self.quantile is not None:
            quantile = number("quantile", self.quantile, 0.5)
        if loss is None:
            return QuantileLoss(quantile)
        return Poisson(max(loss.least, self._least_mean)) if isinstance(loss, Poisson) else loss
