"""One readable tree that carries what a forest, or any other model, knows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.reading.frame import dense, recombine_rows
from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.distillation.distillation import Distillation
from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
from hornbeam.errors import DataError, ParameterError
from hornbeam.estimators.forest_classifier import ForestClassifier
from hornbeam.estimators.inputs.targets import read_classes
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.estimators.parameters.validators import is_number, limit, parameter_error, seed_of
from hornbeam.estimators.tree_classifier import TreeClassifier
from hornbeam.recipe import Recipe
from hornbeam.typing import Floats

__all__ = ["distill"]

_TREES = 200
_FOLDS = 5


def distill(
    teacher: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    fidelity: float = 0.98,
    max_leaf_nodes: int | None = None,
    held_out: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> TreeClassifier:
    """Teach one tree what a forest, a boosted model or anybody else with `predict_proba` knows.

    Parameters
    ----------
    teacher : classifier or None
        One that is fitted is asked as it is; another is cloned and fitted first. None: a forest of 200 trees.
    X : array-like or data frame of shape (n_rows, n_features)
        Real rows, best those that the teacher was fitted to.
    y : array-like of shape (n_rows,)
        Their classes: the evidence of the tree.
    sample_weight : array-like of shape (n_rows,), default=None
        A row of weight 2 counts as two rows. A teacher that is fitted first gets them too.
    fidelity : float, default=0.98
        How much of what the largest tree could tell apart must be kept; less, and the tree is smaller.
    max_leaf_nodes : int, default=None
        Leaves at most, whatever `fidelity` asks for: of the subtrees that are the best of their size, the largest
        that is within.
    held_out : array-like of shape (n_rows, n_classes), default=None
        The teacher's probabilities of these rows as if it had not been fitted to them; they choose a temperature.
        None: its probabilities out of bag (`oob_decision_function_`) if it has such, else those of clones of it in
        five folds.
    random_state : int, RandomState instance or None, default=None
        Another number, other new rows. None is 0: the same rows give the same tree.
    n_jobs : int, default=None
        Threads; -1 for all cores. The tree does not depend on them.

    Returns
    -------
    TreeClassifier
        Fitted: it can be read, explained, reported, saved and exported like any other. Its evidence is that of the real
        rows; `update` and `forget` are not for it, whose probabilities are more than its evidence.

    Notes
    -----
    New rows are drawn near the real ones, thirty for each: two rows that end in the same leaf of a forest exchange some
    of their values. The teacher labels them with its probabilities, at the temperature that has the least squared
    error on rows it was not fitted to. One tree is grown on them and pruned to `fidelity`.

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
    if not is_number(fidelity):
        raise parameter_error(
            "fidelity", fidelity, "a number above 0, and 1 at most", "Pass fidelity=0.98, say."
        )
    distillation = Distillation(
        fidelity,
        synthetic_rows=SyntheticRows(seed=seed_of(random_state)),
        max_leaf_nodes=limit("max_leaf_nodes", max_leaf_nodes),
    )
    student = TreeClassifier(random_state=random_state, n_jobs=n_jobs)
    X, labels = dense(X), read_classes(student, y)
    table = Table.read(X, labels, sample_weight=sample_weight)
    if table.n_rows != len(labels.codes):
        raise DataError("some rows weigh 0; expected weights above 0. Leave these rows out.")
    if len(labels.classes) < 2:
        raise DataError(
            f"y has the one class {labels.classes.item(0)!r}; expected two or more to tell apart."
        )
    seed, threads = seed_of(random_state), n_threads(n_jobs)
    teacher = _fitted(teacher, X, y, sample_weight, seed, n_jobs)
    if not hasattr(teacher, "classes_"):
        raise ParameterError(
            f"the teacher, a {type(teacher).__name__}, has no classes_; expected the labels of the columns of its "
            "predict_proba. Set teacher.classes_, such as numpy.unique(y)."
        )
    known, found = np.asarray(teacher.classes_).tolist(), labels.classes.tolist()
    if known != found:
        raise DataError(
            f"the teacher knows the classes {known}, and y has {found}: expected the same. Pass the rows it was "
            "fitted to."
        )
    # In an order that they themselves decide, so that the tree does not depend on the one they came in.
    ordered = CanonicalRows.of(table, Recipe(), threads)

    def ask(rows: NDArray[np.intp]) -> Floats:
        return np.array(teacher.predict_proba(recombine_rows(X, ordered.origin[rows])), dtype=np.float64)

    folds = min(_FOLDS, int(np.bincount(labels.codes).max()))  # more than rows of a class cannot be made
    honest = _held_out(teacher, X, y, held_out, folds, (table.n_rows, len(labels.classes)))
    tree = distillation.fit(ordered.table, ask, None if honest is None else honest[ordered.origin], threads)
    student._learn(tree, labels.classes, table.names, table.class_weight, None)
    return student


def _fitted(teacher: Any, X: Any, y: Any, sample_weight: Any, seed: int, n_jobs: int | None) -> Any:
    """The teacher itself if it is fitted, else a clone that is; None stands for a forest."""
    if teacher is None:
        forest = ForestClassifier(_TREES, oob_score=True, random_state=seed, n_jobs=n_jobs)
        return forest.fit(X, y, sample_weight=sample_weight)
    if isinstance(teacher, type):
        raise ParameterError(
            f"the teacher is the class {teacher.__name__} itself; expected one of its kind: {teacher.__name__}()."
        )
    if not hasattr(teacher, "predict_proba"):
        raise ParameterError(
            f"the teacher is a {type(teacher).__name__}, which has no predict_proba; expected a classifier that gives "
            "probabilities, or None for a forest."
        )
    try:
        check_is_fitted(teacher)
    except NotFittedError:
        return clone(teacher).fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    except TypeError:  # not of scikit-learn's kind: whoever answers is fitted
        return teacher
    return teacher


def _held_out(teacher: Any, X: Any, y: Any, told: Any, folds: int, shape: tuple[int, int]) -> Floats | None:
    """What the teacher, or a clone of it, answers to rows it has not seen; None if nobody can tell."""
    answers = getattr(teacher, "oob_decision_function_", None) if told is None else told
    if answers is None and folds > 1 and hasattr(teacher, "get_params") and hasattr(teacher, "fit"):
        answers = cross_val_predict(clone(teacher), X, y, cv=folds, method="predict_proba")
    if answers is None:
        return None
    held_out = np.asarray(answers, dtype=np.float64)
    if held_out.shape != shape:
        raise DataError(
            f"the answers of the teacher to rows it has not seen are of shape {held_out.shape}, expected {shape}: a "
            "row each and a column for each class. Pass the rows it was fitted to, or such answers as held_out."
        )
    return held_out
