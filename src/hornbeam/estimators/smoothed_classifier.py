"""`SmoothedClassifier`: smoothed probabilities for trees of other libraries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from hornbeam import interop
from hornbeam.data.reading.frame import drop_extra_columns, to_dense
from hornbeam.data.reading.raw_columns import as_array, check_shape, is_named_rows, renamed_columns_error
from hornbeam.data.rows import is_source_like, read_rows
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.data.weights import read_weights
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.errors import DataError, InteropError, ParameterError, shown
from hornbeam.estimators.inputs.fit_warnings import warn_about_columns
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.classifier import ClassifierMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.predict_to import PredictsTo
from hornbeam.estimators.parameters.recipes import make_smoother
from hornbeam.explain.explanation import Explanations, explain
from hornbeam.interop.imported_tree import ImportedTree, count_table
from hornbeam.interop.input_conventions import InputConventions
from hornbeam.tree.decision import Costs
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.tree.importance import importance
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.explain.unseen import Unseen


class SmoothedClassifier(MetaEstimatorMixin, PredictsTo, ClassifierMethods):
    """Trees of another library with smoothed probabilities.

    The estimator grows one or more trees. The rows of `fit` are counted at their nodes, and a smoother estimates
    the probabilities from the counts. Several trees predict the mean of their probabilities.

    Parameters
    ----------
    estimator : estimator, default=None
        The estimator that grows the trees: scikit-learn's ``DecisionTreeClassifier`` (the default, with
        ``random_state=0``) or forests, ``LGBMClassifier`` or ``XGBClassifier`` of a single round. Or any of them, a
        booster or a YDF model, fitted and inside a `sklearn.frozen.FrozenEstimator`: then `fit` only counts rows, and
        rows that the trees were not grown on give unbiased counts.
    smoothing : str, a smoother or None, default="auto"
        As in `TreeClassifier`, except "cross-fitted", which would have to grow the trees again. "auto": "hgs".
    costs : array-like of shape (n_classes, n_classes), mapping or None, default=None
        Cost of each kind of error, as in `TreeClassifier`. `predict` returns the class of least expected cost;
        probabilities do not change.
    n_jobs : int, default=None
        Number of threads for predictions; -1 for all cores.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator. A model file has its trees and its class name, not the estimator.
    trees_ : tuple of Tree
        The smoothed trees.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names.

    See Also
    --------
    hornbeam.interop : trees of other libraries as Hornbeam trees.

    Notes
    -----
    Rows go to the same nodes as in the other library, also with missing values and unseen categories. Class weights of
    the estimator affect its splits; probabilities keep the base rate of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbeam import SmoothedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SmoothedClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, y)
    >>> clf.estimator_.predict_proba(X[:1])
    array([[1., 0., 0.]])
    >>> clf.predict_proba(X[:1]).round(3)
    array([[0.974, 0.013, 0.013]])
    """

    _fitted = "_forest"
    _forest: Forest  # with temperature 1
    _impurity: str  # of feature_importances_

    def __init__(
        self,
        estimator: Any = None,
        *,
        smoothing: Any = "auto",
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.smoothing = smoothing
        self.costs = costs
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Return tags with the `allow_nan` of the estimator."""
        tags = super().__sklearn_tags__()
        model = DecisionTreeClassifier() if self.estimator is None else _unwrapped(self.estimator)
        inner = getattr(model, "__sklearn_tags__", None)
        tags.input_tags.allow_nan = True if inner is None else inner().input_tags.allow_nan
        tags.input_tags.sparse = True
        return tags

    @exclusive
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the estimator unless it is frozen, count the rows in its trees, and smooth.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Input that the estimator accepts. A sparse matrix is made dense, with 0 for absent entries.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights, for the estimator and for the counts.
        groups : array-like of shape (n_rows,), default=None
            Rows that belong together, for an estimator whose `fit` takes groups; counts do not depend on them.

        Returns
        -------
        SmoothedClassifier
            Itself, fitted.
        """
        X, smoother = to_dense(X), make_smoother(self.smoothing)
        if len(getattr(X, "shape", ())) != 2:
            check_shape(as_array(X))  # first, because the estimator's message would contain the row
        labels = read_classes(self, y)
        # Wrong parameters raise errors before the estimator is fitted.
        Costs.of(self.costs, labels.classes.tolist())
        read_weights(sample_weight, len(labels.codes))
        n_threads(self.n_jobs)
        y = column_or_1d(y)
        estimator = _unfitted(self.estimator)
        if not isinstance(estimator, FrozenEstimator):
            options = {} if sample_weight is None else {"sample_weight": sample_weight}
            if groups is not None and np.shape(groups) != labels.codes.shape:
                raise DataError(f"groups of shape {np.shape(groups)}; expected one value per row of X.")
            if groups is not None and has_fit_parameter(estimator, "groups"):
                options["groups"] = groups
            estimator.fit(X, y, **options)
        imported = _imported_trees(_unwrapped(estimator))
        validate_data(self, X, skip_check_array=True)
        conventions = _named(imported[0].reading, getattr(self, "feature_names_in_", None))
        table = conventions.read(X, labels, sample_weight=sample_weight)
        if not isinstance(estimator, FrozenEstimator):
            warn_about_columns(table)
        trees = [count_table(tree, table) for tree in imported]
        criterion = getattr(_unwrapped(estimator), "criterion", "gini")
        self._impurity = (
            "gini" if criterion == "gini" else "entropy"
        )  # which scikit-learn also calls log_loss
        self._forest = Forest(tuple(trees) if smoother is None else tuple(map(smoother, trees)))
        self._reading = replace(conventions, schema=table.schema)
        self.estimator_ = estimator
        self.classes_ = labels.all_classes(table.schema.classes)
        self.n_classes_ = len(self.classes_)
        return self

    @property
    def trees_(self) -> tuple[Tree, ...]:
        """The smoothed trees."""
        return self._forest.trees

    def _probabilities(self, X: Any) -> Floats:
        table = self._read(X)
        return self._forest.predict(table, n_jobs=self.n_jobs)

    @property
    def _trained_rates(self) -> Floats:
        return base_rate(*self.trees_)

    def explain(self, X: Any, *, level: float = 0.9) -> Explanations:
        """Explain the prediction of each row, if there is a single tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.
        level : float, default=0.9
            Probability with which the interval is to contain the true rate of the node where the row ends.

        Returns
        -------
        Explanations
            As from `TreeClassifier.explain`.

        Examples
        --------
        >>> from hornbeam import SmoothedClassifier
        >>> clf = SmoothedClassifier().fit([[36.5], [37.0], [39.0], [39.5]], ["well", "well", "ill", "ill"])
        >>> print(*clf.explain([[38.2]])[0].reasons())
        x0 > 38.0... moved ill from 0.500 to 0.750
        """
        table = self._read(X)
        if len(self.trees_) > 1:
            raise ParameterError(
                f"the prediction is the mean of {len(self.trees_)} trees; expected one tree. Explain a single one: "
                "TreeClassifier.from_tree(clf.trees_[0]).explain(X)."
            )
        return explain(self.trees_[0], table, level)._from_rows(X)

    def unseen(self, X: Any) -> Unseen:
        """Count the unseen categories and the missing values of each feature.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        Unseen
            As from `TreeClassifier.unseen`. Most libraries send a row with an unseen category to a child.

        Examples
        --------
        >>> from hornbeam import SmoothedClassifier
        >>> clf = SmoothedClassifier().fit([[36.5], [37.0], [39.0], [39.5]], ["well", "well", "ill", "ill"])
        >>> clf.unseen([[None], [38.0]]).to_dict()
        {'feature': ['x0'], 'tested': [True], 'unseen': [0], 'missing': [1]}
        """
        table = self._read(X)
        from hornbeam.explain.unseen import unseen

        return unseen(self._reading.with_unseen(table), self._used_features())._from_rows(X)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature, as in scikit-learn: its decrease of the estimator's criterion, with sum 1."""
        check_is_fitted(self, "trees_")
        total = np.mean([importance(tree, self._impurity) for tree in self.trees_], axis=0)
        return total / (total.sum() or 1.0)

    def _read(self, X: Any, y: Any = None, weight: Any = None) -> Table:
        names = self._schema.names
        if isinstance(X, Table):
            return self._reading.convert(read_rows(X, y, weight, schema=self._schema))
        if is_source_like(X):
            self._refuse_integer_codes()
            return self._reading.convert(read_rows(X, y, weight, schema=self._schema))
        if is_named_rows(X):
            return self._reading.read(X, y, sample_weight=weight, needed=self._used_features())
        X = drop_extra_columns(to_dense(X), names)
        table = self._reading.read(X, y, sample_weight=weight)
        validate_data(self, X, reset=False, skip_check_array=True)
        return table

    def _open_rows(self, X: Any, *columns: Any, **options: Any) -> Source:
        if is_source_like(X):
            self._refuse_integer_codes()
        return super()._open_rows(X, *columns, **options)

    def _refuse_integer_codes(self) -> None:
        """Raise `ParameterError` for files if the library rounds categories."""
        coded = [self._schema.names[feature] for feature in sorted(self._reading.integer_coded)]
        if coded:
            raise ParameterError(
                f"X is files or a Source, and the library of the trees rounds the categories of {coded[0]!r} to whole "
                "numbers; expected rows in memory. Pass an array or a data frame, a part at a time."
            )


def _unwrapped(estimator: Any) -> Any:
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def _named(conventions: InputConventions, column_names: NDArray[Any] | None) -> InputConventions:
    """Give the features the names of the columns of X; LightGBM replaces spaces by underscores."""
    schema = conventions.schema
    if column_names is None:
        return conventions
    names = tuple(column_names.tolist())
    underscored = tuple(name.replace(" ", "_") for name in names)
    if not schema.has_generated_names and schema.names not in (names, underscored):
        raise renamed_columns_error(names, schema.names)
    features = tuple(
        replace(feature, name=name) for feature, name in zip(schema.features, names, strict=True)
    )
    return replace(conventions, schema=replace(schema, features=features))


def _unfitted(estimator: Any) -> Any:
    """Return a clone of the estimator; None stands for scikit-learn's tree, and a frozen one stays fitted."""
    if estimator is None:
        return DecisionTreeClassifier(random_state=0)
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in ("fit", "get_params")):
        raise ParameterError(
            f"estimator={shown(estimator)}: expected a classifier with methods fit and get_params, such as "
            "sklearn.tree.DecisionTreeClassifier(), or None for that; a model file has only the class name of one."
        )
    return clone(estimator)


def _imported_trees(model: Any) -> tuple[ImportedTree, ...]:
    """Import the trees of a model whose predictions may be averaged: of a forest, or of one round of boosting."""
    packages = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    for library in (interop.lightgbm, interop.xgboost, interop.ydf):
        if library.__name__.rpartition(".")[2] in packages:
            rounds = library.n_rounds(model)
            if rounds > 1:
                raise InteropError(
                    f"The model has {rounds} rounds of boosting, whose trees correct each other; expected one. "
                    "Train it with n_estimators=1 (or num_trees=1), or as a random forest."
                )
            trees: tuple[ImportedTree, ...] = library.imported_trees(model)
            return trees
    return interop.sklearn.imported_trees(model)
