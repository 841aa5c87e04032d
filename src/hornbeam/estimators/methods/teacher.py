"""A teacher of the user: the estimator that is passed as the parameter `teacher` of a tree."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from hornbeam.data.groups import split_group_column
from hornbeam.data.labels import read_labels
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.data.reading.frame import recombine_rows, take_rows, to_dense
from hornbeam.data.rows import is_collection, require_in_memory
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.data.weights import read_sample_weight, read_weights
from hornbeam.ensembles.distillation.taught import FittedTeacher
from hornbeam.errors import DataError, HornbeamError, ParameterError
from hornbeam.estimators.methods.initial_scores import fit_options, out_of_bag, predictions
from hornbeam.estimators.parameters.validators import teacher_name
from hornbeam.typing import Counts, Floats

_FOLDS = 5
_ENOUGH_TREES = 30  # each row is out of the bag of eleven of them on average


class Teacher(NamedTuple):
    """An estimator, fitted or not, and the rows of the tree in the containers that the user passed.

    `method` is the one that predicts. `group` is the number of the group of each row.
    """

    estimator: Any
    method: str
    X: Any
    y: NDArray[Any]
    weight: Floats | None
    group: Counts | None

    @classmethod
    def of(
        cls,
        tree: Any,
        rows: Table | Source,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        grow_rows: int | None = None,
    ) -> Self:
        """Return the teacher of an estimator of a tree; `rows` were read from the other arguments of its `fit`."""
        teacher = tree.teacher.estimator if isinstance(tree.teacher, FrozenEstimator) else tree.teacher
        name = type(teacher).__name__
        require_in_memory(X, f"a tree with the teacher {name}")
        if not isinstance(rows, Table) or isinstance(X, Table) or is_collection(X):
            raise ParameterError(
                f"X is a {type(X).__name__}, and a tree with the teacher {name} takes rows in memory alone; expected "
                "an array or a data frame. Pass one, or teacher='ensemble'."
            )
        if grow_rows is not None:
            raise ParameterError(
                f"grow_rows={grow_rows}: a tree with the teacher {name} is grown on all rows; expected None. Pass a "
                "sample of the rows, or teacher='ensemble'."
            )
        regression = rows.schema.is_regression
        if regression is hasattr(teacher, "predict_proba") or (
            regression and not hasattr(teacher, "predict")
        ):
            needed = "predict, and without predict_proba" if regression else "predict_proba"
            raise ParameterError(
                f"teacher is a {name}; expected {'a regressor' if regression else 'a classifier'} with {needed}. Pass "
                f"hornbeam.Forest{'Regressor' if regression else 'Classifier'}(), say."
            )
        X, _ = split_group_column(to_dense(X), groups)
        labels = None if regression else read_labels(y)
        y = read_numeric_target(y) if labels is None else labels.classes[labels.codes]
        class_weight = getattr(tree, "class_weight", None)
        kept = read_weights(sample_weight, len(y), class_weight=class_weight, labels=labels).kept
        weight = None if sample_weight is None else read_sample_weight(sample_weight, len(y))
        if kept is not None:  # the table has only rows with a weight above 0
            at = np.flatnonzero(kept)
            X, y, weight = take_rows(X, at), y[at], None if weight is None else weight[at]
        return cls(teacher, "predict" if regression else "predict_proba", X, y, weight, rows.group)

    def fit(self, order: Counts) -> FittedTeacher:
        """Fit a clone of the estimator unless it is fitted, and predict held-out rows.

        The rows of the result are numbered by `order`, their positions in X.
        """
        fitted_here = not self._is_fitted()
        with self._explained():
            teacher = self._fit_clone() if fitted_here else self.estimator
        n_outputs = self._n_outputs(teacher)

        def predict(rows: NDArray[np.intp]) -> Floats:
            with self._explained():
                return predictions(teacher, recombine_rows(self.X, order[rows]))

        with self._explained():
            held_out = self._held_out(teacher, fitted_here, (len(self.y), n_outputs))
        return FittedTeacher(
            predict, None if held_out is None else held_out[order], teacher_name(self.estimator)
        )

    def _is_fitted(self) -> bool:
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            return False
        except TypeError:  # not an estimator of scikit-learn: taken as fitted
            pass
        return True

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise errors of the estimator, which mostly cannot read such columns, as a `DataError` that names it."""
        try:
            yield
        except HornbeamError:
            raise
        except (ValueError, TypeError) as error:
            raise DataError(
                f"the teacher, a {type(self.estimator).__name__}, fails with these rows: {error!s:.300}. It is given "
                "the columns of X as they are: put what it needs, such as an encoder of categories, before it in a "
                "pipeline."
            ) from error

    def _fit_clone(self) -> Any:
        """Fit a clone of the estimator, with out-of-bag predictions if it can have them."""
        fitted = clone(self.estimator)
        if _lacks_out_of_bag(fitted):
            fitted.set_params(oob_score=True)
        return fitted.fit(self.X, self.y, **fit_options("teacher", fitted, self.weight, self.group))

    def _n_outputs(self, teacher: Any) -> int:
        """Return the number of columns of its predictions; an error if its classes are not those of y."""
        if self.method == "predict":
            return 1
        if not hasattr(teacher, "classes_"):
            raise ParameterError(
                f"teacher is a {type(teacher).__name__} without classes_; expected the labels of the columns of its "
                "predict_proba. Set teacher.classes_, such as numpy.unique(y)."
            )
        known, found = np.asarray(teacher.classes_).tolist(), np.unique(self.y).tolist()
        if known != found:
            raise DataError(
                f"teacher is a {type(teacher).__name__} with the classes {known}, and y has {found}: expected the "
                "same. Pass the rows it was fitted to, or a teacher that is not fitted."
            )
        return len(known)

    def _held_out(self, teacher: Any, fitted_here: bool, shape: tuple[int, int]) -> Floats | None:
        """Return predictions of rows by models fitted without them; None if the teacher cannot be cloned."""
        takes_groups = self.group is not None and has_fit_parameter(teacher, "groups")
        if self.group is None or (fitted_here and takes_groups):
            # Out-of-bag rows of any other teacher may belong to groups of which it has other rows.
            predicted = out_of_bag(teacher)
            if predicted is not None and predicted.shape == shape:
                return predicted
        if not (hasattr(teacher, "get_params") and hasattr(teacher, "fit")):
            return None
        if self.group is not None:
            most = len(np.unique(self.group))
        elif self.method == "predict":
            most = len(self.y)
        else:
            most = int(np.unique(self.y, return_counts=True)[1].max())  # the rows of the largest class
        if min(_FOLDS, most) < 2:
            return None
        folds: Any = min(_FOLDS, most)
        if self.group is not None:
            folds = list(GroupKFold(folds).split(self.X, self.y, self.group))
        elif _lacks_out_of_bag(teacher):
            return out_of_bag(self._fit_clone())
        weight = self.weight if has_fit_parameter(teacher, "sample_weight") else None
        options = fit_options("teacher", teacher, weight, self.group)
        predicted = cross_val_predict(
            clone(teacher), self.X, self.y, cv=folds, method=self.method, params=options
        )
        return np.asarray(predicted, np.float64).reshape(shape)


def _lacks_out_of_bag(teacher: Any) -> bool:
    """Whether a teacher has enough models on bootstrap samples, but does not predict the rows outside these."""
    known = teacher.get_params()
    of_bags = bool(known.get("bootstrap")) and known.get("n_estimators", 0) >= _ENOUGH_TREES
    # Bagging of scikit-learn refuses oob_score together with warm_start.
    return of_bags and known.get("oob_score") is False and not known.get("warm_start")
