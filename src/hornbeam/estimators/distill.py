"""`distill`: one tree that approximates a forest or any other classifier."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from hornbeam.data.groups import split_group_column
from hornbeam.data.reading.frame import recombine_rows, to_dense
from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.distillation.distillation import Distillation
from hornbeam.errors import DataError, ParameterError
from hornbeam.estimators.fit_tree import Fitted
from hornbeam.estimators.forest_classifier import ForestClassifier
from hornbeam.estimators.inputs.training import read_classes
from hornbeam.estimators.parameters.recipes import resolve_slopes, small_tree_rows
from hornbeam.estimators.parameters.validators import (
    is_number,
    limit,
    n_threads,
    parameter_error,
    resolve_seed,
)
from hornbeam.estimators.tree_classifier import TreeClassifier
from hornbeam.recipe import Recipe
from hornbeam.typing import Counts, Floats

_TREES = 200
_FOLDS = 5
_ENOUGH_TREES = 30  # each row is out of the bag of eleven of them on average


def distill(
    teacher: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    fidelity: float = 0.98,
    max_leaf_nodes: int | None = None,
    max_depth: int | None = None,
    slopes: int = 0,
    held_out: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> TreeClassifier:
    """Distill a classifier with `predict_proba`, such as a forest, into a single tree.

    Parameters
    ----------
    teacher : classifier or None
        The model to approximate: used as it is if it is fitted, else cloned and fitted. None: a forest of 200 trees.
    X : array-like or data frame of shape (n_rows, n_features)
        Training rows, preferably those that the teacher was fitted to.
    y : array-like of shape (n_rows,)
        Their class labels, which are counted in the tree.
    sample_weight : array-like of shape (n_rows,), default=None
        Row weights: a row of weight 2 counts as two rows. Passed to the teacher too, if it is fitted here.
    groups : array-like of shape (n_rows,) or str, default=None
        Rows that belong together, such as the visits of a patient: the teacher predicts them without all of them. Or
        the name of their column in a data frame, which is then no feature. Passed to the teacher too, if it is
        fitted here and its `fit` takes groups; a teacher fitted before is cross-validated.
    fidelity : float, default=0.98
        Share of the full tree's fit to the teacher (the decrease of the squared distance) that the pruned tree must
        keep; smaller values give smaller trees.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. Up to 64, the tree is found by a search with lookahead and `fidelity` has no effect;
        beyond, it is the largest of the best subtrees within the limit.
    max_depth : int, default=None
        Maximum depth.
    slopes : int, default=0
        Most slopes of a leaf, 0 to 3: terms by which its probabilities change with the value of a feature.
    held_out : array-like of shape (n_rows, n_classes), default=None
        Held-out probabilities of the teacher for these rows, which choose a temperature. None: its out-of-bag
        probabilities (`oob_decision_function_`), or those of clones of it in 5-fold cross-validation. A forest of
        30 trees or more that was fitted without out-of-bag probabilities is fitted once more with ``oob_score=True``.
    random_state : int, RandomState instance or None, default=None
        Seed of the synthetic rows. None means 0: the same rows always give the same tree.
    n_jobs : int, default=None
        Number of threads; -1 for all cores. The tree does not depend on it.

    Returns
    -------
    TreeClassifier
        A fitted tree, to explain, report, save and export like any other. Its evidence is that of the training rows,
        and the teacher's mean prediction at a node counts as thirty rows. Its parameters are defaults and do not
        describe it, so `sklearn.base.clone`, and with it `cross_val_score`, refuses it.

    Notes
    -----
    Thirty synthetic rows are made per training row, at least 10,000 and at most 300,000 (15,000 if `max_leaf_nodes` is
    at most 64; 50 million values): two rows from the same leaf of a forest exchange some of their values. The teacher
    predicts their probabilities, at the temperature of least squared error on held-out rows. One tree is grown on
    them and pruned to `fidelity`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import ForestClassifier, distill
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ForestClassifier(oob_score=True).fit(X, y)
    >>> tree = distill(forest, X, y)
    >>> tree.tree_.n_leaves < forest.forest_.n_nodes / 20
    True
    """
    if hasattr(X, "fit") or hasattr(y, "fit"):
        raise ParameterError(
            f"{'X' if hasattr(X, 'fit') else 'y'} is a model; expected the teacher first: distill(teacher, X, y)."
        )
    if not is_number(fidelity):
        raise parameter_error(
            "fidelity", fidelity, "a number above 0, and 1 at most", "Pass fidelity=0.98, say."
        )
    leaves, depth = limit("max_leaf_nodes", max_leaf_nodes), limit("max_depth", max_depth)
    distillation = Distillation(
        fidelity,
        synthetic_rows=small_tree_rows(resolve_seed(random_state), leaves),
        max_leaf_nodes=leaves,
        max_depth=depth,
        slopes=resolve_slopes(slopes, 0),
    )
    student = TreeClassifier(random_state=random_state, n_jobs=n_jobs)
    X, groups = split_group_column(to_dense(X), groups)
    labels = read_classes(student, y)
    table = Table.read(X, labels, sample_weight=sample_weight, groups=groups)
    if table.n_rows != len(labels.codes):
        raise DataError("some rows have weight 0; expected weights above 0. Leave these rows out.")
    if len(labels.classes) < 2:
        raise DataError(
            f"y has the one class {labels.classes.item(0)!r}; expected two or more to tell apart."
        )
    seed, threads = resolve_seed(random_state), n_threads(n_jobs)
    rows = _Rows(X, y, {} if sample_weight is None else {"sample_weight": sample_weight}, table.group)
    teacher, fitted_here = _fitted(teacher, rows, seed, n_jobs)
    if not hasattr(teacher, "classes_"):
        raise ParameterError(
            f"the teacher, a {type(teacher).__name__}, has no classes_; expected the labels of the columns of its "
            "predict_proba. Set teacher.classes_, such as numpy.unique(y)."
        )
    known, found = np.asarray(teacher.classes_).tolist(), labels.classes.tolist()
    if known != found:
        raise DataError(
            f"the teacher has the classes {known}, and y has {found}: expected the same. Pass the rows it was "
            "fitted to."
        )
    # In canonical order, so that the tree does not depend on the order of the rows.
    ordered = CanonicalRows.of(table, Recipe(), threads)

    def predict(rows: NDArray[np.intp]) -> Floats:
        return np.array(teacher.predict_proba(recombine_rows(X, ordered.origin[rows])), dtype=np.float64)

    folds = min(_FOLDS, int(np.bincount(labels.codes).max()))  # at most the rows of the largest class
    shape = (table.n_rows, len(labels.classes))
    if held_out is None:
        held_out = _held_out(teacher, rows, folds, fitted_here)
    held_out = None if held_out is None else _checked(held_out, shape)
    held_out = None if held_out is None else held_out[ordered.origin]
    tree = distillation.fit(ordered.table, predict, held_out, threads)
    student._set_fitted_tree(Fitted(tree, table.names, table.class_weight), labels.classes)
    return student


class _Rows(NamedTuple):
    """The rows that a teacher is fitted to, the weights for its `fit`, and the group of each row."""

    X: Any
    y: Any
    weights: dict[str, Any]
    group: Counts | None

    def fit(self, estimator: Any) -> Any:
        """Fit an estimator, with the groups if its `fit` takes them."""
        options = dict(self.weights)
        if self.group is not None and has_fit_parameter(estimator, "groups"):
            options["groups"] = self.group
        return estimator.fit(self.X, self.y, **options)


def _fitted(teacher: Any, rows: _Rows, seed: int, n_jobs: int | None) -> tuple[Any, bool]:
    """Return the teacher if it is fitted, else a fitted clone, and whether it was fitted here; None is a forest."""
    if teacher is None:
        teacher = ForestClassifier(_TREES, oob_score=True, random_state=seed, n_jobs=n_jobs)
        return rows.fit(teacher), True
    if isinstance(teacher, type):
        raise ParameterError(
            f"the teacher is the class {teacher.__name__} itself; expected an instance: {teacher.__name__}()."
        )
    if not hasattr(teacher, "predict_proba"):
        raise ParameterError(
            f"the teacher is a {type(teacher).__name__}, which has no predict_proba; expected a classifier that gives "
            "probabilities, or None for a forest."
        )
    try:
        check_is_fitted(teacher)
    except NotFittedError:
        return _fit_clone(teacher, rows), True
    except TypeError:  # not a scikit-learn estimator: taken as fitted
        return teacher, False
    return teacher, False


def _fit_clone(teacher: Any, rows: _Rows) -> Any:
    """Fit a clone of the teacher, with out-of-bag probabilities if it can have them."""
    fitted = clone(teacher)
    if _lacks_out_of_bag(fitted):
        fitted.set_params(oob_score=True)
    return rows.fit(fitted)


def _lacks_out_of_bag(teacher: Any) -> bool:
    """Whether a teacher has enough models on bootstrap samples, but does not predict the rows outside these."""
    known = teacher.get_params()
    of_bags = bool(known.get("bootstrap")) and known.get("n_estimators", 0) >= _ENOUGH_TREES
    # Bagging of scikit-learn refuses oob_score together with warm_start.
    return of_bags and known.get("oob_score") is False and not known.get("warm_start")


def _held_out(teacher: Any, rows: _Rows, folds: int, fitted_here: bool) -> Any:
    """Return held-out probabilities of the teacher; None if there are none and it cannot be cloned."""
    takes_groups = rows.group is not None and has_fit_parameter(teacher, "groups")
    predicted = None
    if rows.group is None or (fitted_here and takes_groups):
        # Out-of-bag rows of any other teacher may belong to groups of which it knows other rows.
        predicted = getattr(teacher, "oob_decision_function_", None)
    if predicted is not None or not (hasattr(teacher, "get_params") and hasattr(teacher, "fit")):
        return predicted
    if rows.group is not None:
        folds = min(_FOLDS, len(np.unique(rows.group)))
    if folds < 2:
        return None
    if rows.group is not None:
        options = {"params": {"groups": rows.group}} if takes_groups else {}
        by_group = list(GroupKFold(folds).split(rows.X, rows.y, rows.group))
        return cross_val_predict(
            clone(teacher), rows.X, rows.y, cv=by_group, method="predict_proba", **options
        )
    if _lacks_out_of_bag(teacher):
        return _fit_clone(teacher, rows).oob_decision_function_
    return cross_val_predict(clone(teacher), rows.X, rows.y, cv=folds, method="predict_proba")


def _checked(predicted: Any, shape: tuple[int, int]) -> Floats:
    held_out = np.asarray(predicted, dtype=np.float64)
    if held_out.shape != shape:
        raise DataError(
            f"the held-out probabilities of the teacher have the shape {held_out.shape}, expected {shape}: one row per "
            "row of X, and one column per class. Pass the rows it was fitted to, or such probabilities as held_out."
        )
    return held_out
