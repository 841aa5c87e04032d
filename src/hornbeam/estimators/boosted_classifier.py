"""`BoostedTreesClassifier`: gradient boosting for classes as a scikit-learn estimator."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.groups import split_group_column
from hornbeam.data.rows import require_in_memory
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.losses import Loss, class_loss
from hornbeam.errors import ParameterError
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.classifier import ClassifierMethods
from hornbeam.estimators.methods.ensemble_methods import BoostingMethods
from hornbeam.estimators.methods.initial_scores import InitialScores
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.progress import CallbackSupportMixin, Progress, with_callbacks
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.parameters.fields import BoostingClassifierParameters
from hornbeam.tree.decision import DecisionRule
from hornbeam.typing import Floats


class BoostedTreesClassifier(
    CallbackSupportMixin, BoostingMethods, ClassifierMethods, BoostingClassifierParameters
):
    """Gradient boosted trees for classes.

    Features may be numeric or nominal and may have missing values; nothing needs to be encoded or imputed. The loss is
    the log loss. Trees are grown leaf by leaf on binned features, as in LightGBM and scikit-learn's
    ``HistGradientBoostingClassifier``.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds, with one tree per round, or one per class and round for more than two classes.
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
        For two classes, the sign of each feature's effect on the probability of the second class: 1 (increasing), -1
        (decreasing) or 0 (free); or a dict by feature name.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the loss on held-out rows no longer falls. "auto": from 10 to 5,000 rows and up to 10
        classes, five folds choose the number of rounds, and the trees are grown on all rows; with more than 10,000
        rows, as True; else as False.
    validation_fraction : float, default=0.1
        Share of the rows to hold out, the same share of every class; not used where folds are.
    n_iter_no_change : int, default=10
        Number of rounds without improvement on the held-out rows before stopping.
    tol : float, default=1e-7
        Least decrease of the loss that counts as improvement.
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        Cost of each kind of error, as in `TreeClassifier`. `predict` returns the class of least expected cost; trees
        and probabilities do not change.
    init : estimator or None, default=None
        Classifier that boosting starts from, such as a forest: `fit` fits a clone to the same rows, and the trees are
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
        Log loss of the held-out rows, before the first round and after each; with early stopping.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
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

    With `init`, the log-odds of the probabilities of `init_`, of at least 0.01 each, are added to the scores of
    `boosted_`. The first round starts from the out-of-bag predictions of an `init` that draws bootstrap samples, as
    forests do. Any other `init` predicts the rows of its own fit: if it overfits, little is left to boost, and early
    stopping is not possible. `feature_importances_` and `monotonic_cst` are those of `boosted_` alone. `hornbeam.save`
    cannot save a model with `init`; pickle and skops can.

    References
    ----------
    Friedman (2001) :cite:p:`friedman2001`; ``init``: Mohan, Chen and Weinberger (2011) :cite:p:`mohan2011`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import BoostedTreesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = BoostedTreesClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> clf.predict(X[1:4:2]), round(clf.score(X[1::2], y[1::2]), 2)
    (array([0, 1]), 0.9)
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
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights: a row of weight 2 counts as two rows.
        groups : array-like of shape (n_rows,) or str, default=None
            Rows that belong together, such as the visits of a patient: early stopping holds them out together. Or the
            name of their column in a data frame, which is then no feature. "copies": equal rows are a group.

        Returns
        -------
        BoostedTreesClassifier
            Itself, fitted.
        """
        require_in_memory(X, type(self).__name__)
        X, groups = split_group_column(X, groups)  # before init is fitted to X
        with Progress(self, X, y, sample_weight) as progress:
            labels = read_classes(self, y)
            table = Table.read(X, labels, sample_weight=sample_weight, groups=groups)
            loss = class_loss(len(labels.classes))
            DecisionRule.of(self.costs, None, labels.classes.tolist())  # wrong costs raise an error here
            y = labels.classes[labels.codes]
            initial = InitialScores.fit(self.init, X, y, sample_weight, loss, labels.classes, groups=groups)
            self._train(table, loss, progress, initial)
            self.classes_ = labels.classes
            self.n_classes_ = len(labels.classes)
        return self

    @accepts_source
    def decision_function(self, X: Any) -> Floats:
        """Compute the raw scores of each row: the sum over the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            For two classes the log odds of the second; else one score per class.
        """
        scores = self._scores(X, self._loss())
        return scores[0] if self.n_classes_ == 2 else scores.T

    def _probabilities(self, X: Any) -> Floats:
        loss = self._loss()
        return loss.predict(self._scores(X, loss))

    @property
    def _trained_rates(self) -> Floats:
        loss = self._loss()
        if hasattr(self, "init_"):
            raise ParameterError(
                "this BoostedTreesClassifier starts from another model (init), so the base rates of its training rows "
                "are unknown; expected one without init. Leave base_rates out."
            )
        rates: Floats = loss.predict(self.boosted_.start[:, None])[0]
        return rates

    def _decided(self, X: Any) -> tuple[NDArray[np.intp], Floats]:
        loss = self._loss()
        scores = self._scores(X, loss)
        probability, rule = loss.predict(scores), self._decision
        return self._best(scores) if rule.is_default else rule(probability), probability

    def _best(self, scores: Floats) -> NDArray[np.intp]:
        return (scores[0] > 0).astype(np.intp) if self.n_classes_ == 2 else scores.argmax(axis=0)

    def _loss(self) -> Loss:
        check_is_fitted(self, "boosted_")
        return class_loss(self.n_classes_)
