"""`SmoothedClassifier`: smoothed probabilities for trees of other libraries."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Self

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
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.data.weights import read_weights
from hornbeam.ensembles.prediction import mean_prediction
from hornbeam.errors import InteropError, ParameterError, shown
from hornbeam.estimators.inputs.fit_warnings import warn_about_columns
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.methods.column_names import ColumnsByName, required_columns
from hornbeam.estimators.methods.estimator import ClassifierMethods
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.parameters.recipes import make_smoother
from hornbeam.estimators.parameters.validators import n_threads
from hornbeam.explain import Explanations, explain, importance
from hornbeam.interop.imported_tree import ImportedTree
from hornbeam.interop.input_conventions import InputConventions
from hornbeam.storage import Model
from hornbeam.storage.file import decode, encode
from hornbeam.typing import Floats


class SmoothedClassifier(MetaEstimatorMixin, ColumnsByName, ClassifierMethods):
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
    smoothing : str, a smoother or None, default="hgs"
        As in `TreeClassifier`, except "cross-fitted", which would have to grow the trees again.
    n_jobs : int, default=None
        Number of threads for predictions; -1 for all cores.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
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

    def __init__(self, estimator: Any = None, smoothing: Any = "hgs", *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.smoothing = smoothing
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
        if isinstance(X, (list, tuple)) or len(getattr(X, "shape", (0, 0))) < 2:
            check_shape(as_array(X))  # first, because the estimator's message would contain the row
        labels = read_classes(self, y)
        # Wrong parameters raise errors before the estimator is fitted.
        read_weights(sample_weight, len(labels.codes))
        n_threads(self.n_jobs)
        y = column_or_1d(y)
        estimator = _unfitted(self.estimator)
        if not isinstance(estimator, FrozenEstimator):
            options = {} if sample_weight is None else {"sample_weight": sample_weight}
            if groups is not None and has_fit_parameter(estimator, "groups"):
                options["groups"] = groups
            estimator.fit(X, y, **options)
        imported = _imported_trees(_unwrapped(estimator))
        validate_data(self, X, skip_check_array=True)
        conventions = _named(imported[0].reading, getattr(self, "feature_names_in_", None))
        table = conventions.read(X, labels, sample_weight=sample_weight)
        if not isinstance(estimator, FrozenEstimator):
            warn_about_columns(table)
        trees = [tree.fill(table) for tree in imported]
        self.trees_ = tuple(trees) if smoother is None else tuple(map(smoother, trees))
        self._reading = replace(conventions, schema=table.schema)
        self.estimator_ = estimator
        self.classes_ = labels.all_classes(table.schema.classes)
        self.n_classes_ = len(self.classes_)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        table = self._read(X)
        return mean_prediction(self.trees_, table, n_threads(self.n_jobs))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; on a tie, the first of `classes_`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

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
                "hornbeam.explain.explain(clf.trees_[0], table)."
            )
        return explain(self.trees_[0], table, level)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature, as in scikit-learn: its decrease of the estimator's criterion, with sum 1."""
        check_is_fitted(self, "trees_")
        criterion = getattr(_unwrapped(self.estimator_), "criterion", "gini")
        impurity = "gini" if criterion == "gini" else "entropy"  # which scikit-learn also calls log_loss
        total = np.mean([importance(tree, impurity) for tree in self.trees_], axis=0)
        return total / (total.sum() or 1.0)

    @property
    def _schema(self) -> Schema:
        check_is_fitted(self, "trees_")
        return self._reading.schema

    def _used_features(self) -> frozenset[str]:
        return frozenset().union(*map(required_columns, self.trees_))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state in plain values, except for the inner estimator."""
        state = super().__getstate__()
        if "trees_" not in state:
            return state
        conventions = {one.name: getattr(self._reading, one.name) for one in fields(InputConventions)}
        del conventions["schema"]  # the trees have it
        sets = {name: sorted(one) for name, one in conventions.items() if isinstance(one, frozenset)}
        trees = encode(Model(self._reading.schema, self.trees_))
        return state | {"trees_": trees, "_reading": conventions | sets}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `__getstate__` returned."""
        state = dict(state)
        if isinstance(state.get("trees_"), bytes):
            collection = decode(state["trees_"])
            conventions: dict[str, Any] = {
                name: frozenset(one) if isinstance(one, list) else one
                for name, one in state["_reading"].items()
            }
            state |= {
                "trees_": collection.trees,
                "_reading": InputConventions(collection.schema, **conventions),
            }
        super().__setstate__(state)

    def _read(self, X: Any) -> Table:
        names = self._schema.names
        if is_named_rows(X):
            return self._reading.read(X, needed=self._used_features())
        X = drop_extra_columns(to_dense(X), names)
        table = self._reading.read(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return table


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
            "sklearn.tree.DecisionTreeClassifier(), or None for that."
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
