"""Initial scores of boosting from the predictions of another estimator, the parameter `init`."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from hornbeam.data.table import Table
from hornbeam.data.weights import read_sample_weight
from hornbeam.ensembles.boosting.losses import Loss
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.estimators.parameters.validators import parameter_error
from hornbeam.typing import Bools, Floats


class InitialScores(NamedTuple):
    """A fitted clone of `init`, and the initial scores of the training rows.

    `scores` is of shape (n_outputs, n_rows). `out_of_bag` is whether every row was predicted by models fitted without
    it.
    """

    estimator: Any
    scores: Floats
    out_of_bag: bool

    @classmethod
    def fit(
        cls,
        init: Any,
        X: Any,
        y: NDArray[Any],
        sample_weight: Any,
        loss: Loss,
        classes: NDArray[Any] | None = None,
        *,
        groups: Any = None,
    ) -> Self | None:
        """Fit a clone of `init`, and predict its rows; None without `init`. Rows of weight 0 have no scores.

        Predictions are out of bag where the clone draws bootstrap samples: a full tree predicts the rows that it was
        grown on nearly perfectly, which leaves nothing to boost.

        Parameters
        ----------
        init : estimator or None
        X, y, sample_weight
            The rows, with class labels or numbers as the target.
        loss : Loss
        classes : array or None
            The class labels in their order; None if the target is numeric.
        groups : array-like or None
            Groups of rows, for a clone whose `fit` accepts them.
        """
        if init is None:
            return None
        estimator = _fitted(init, X, y, sample_weight, classes, groups)
        predicted, known = predictions(estimator, X), out_of_bag(estimator)
        if sample_weight is not None:
            kept = read_sample_weight(sample_weight, len(predicted)) > 0
            if known is not None and len(known) == len(kept):  # forests of Hornbeam left them out
                known = known[kept]
            predicted = predicted[kept]
        if known is not None:  # NaN for a row in every sample
            predicted = np.where(np.isnan(known), predicted, known)
        return cls(estimator, _scores(estimator, predicted, loss), known is not None)


def predicted_scores(estimator: Any, X: Any, loss: Loss) -> Floats:
    """Compute the scores of a fitted `init` for new rows; of shape (n_outputs, n_rows)."""
    if isinstance(X, Table) and not hasattr(estimator, "_read"):
        raise ParameterError(
            f"X is a path of files or a Source, and init is a {type(estimator).__name__}, which takes rows in memory "
            "alone; expected an array or a data frame. Read the files first (pandas.read_parquet, say)."
        )
    return _scores(estimator, predictions(estimator, X), loss)


def _fitted(
    init: Any, X: Any, y: NDArray[Any], sample_weight: Any, classes: NDArray[Any] | None, groups: Any
) -> Any:
    needed, kind = ("predict", "regressor") if classes is None else ("predict_proba", "classifier")
    is_estimator = not isinstance(init, type) and all(
        hasattr(init, name) for name in ("fit", "get_params", needed)
    )
    if not is_estimator or is_classifier(init) is (classes is None):
        expected = f"a {kind} with {needed}, or None to start from a constant"
        raise parameter_error("init", init, expected, f"Pass hornbeam.Forest{kind.capitalize()}(), say.")
    estimator = clone(init)
    parameters = estimator.get_params(deep=False)
    if parameters.get("bootstrap") is True and parameters.get("oob_score") is False:
        estimator.set_params(oob_score=True)
    estimator.fit(X, y, **fit_options("init", estimator, sample_weight, groups))
    fitted: Any = getattr(estimator, "classes_", classes)
    if classes is not None and not np.array_equal(fitted, classes):
        raise ParameterError(
            f"init is a {type(init).__name__} fitted to the classes {shown(list(fitted))}; expected those "
            f"of y, {shown(list(classes))}. Pass an init that is fitted here, or one fitted to all classes of y."
        )
    return estimator


def fit_options(name: str, estimator: Any, sample_weight: Any, groups: Any) -> dict[str, Any]:
    """Return the weights, and the groups if its `fit` takes them, for the estimator that is the parameter `name`."""
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    if options and not has_fit_parameter(estimator, "sample_weight"):
        raise ParameterError(
            f"{name} is a {type(estimator).__name__}, whose fit takes no sample_weight; expected one that does. Pass "
            f"another {name}, or no weights."
        )
    if groups is not None and has_fit_parameter(estimator, "groups"):
        options["groups"] = groups
    return options


def predictions(estimator: Any, X: Any) -> Floats:
    """Predict probabilities, or numbers as one column."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X), np.float64)
    return np.asarray(estimator.predict(X), np.float64).reshape(-1, 1)


def out_of_bag(estimator: Any) -> Floats | None:
    """Return the out-of-bag predictions in the shape of the others; None if there are none."""
    for name in ("oob_decision_function_", "oob_prediction_"):
        if hasattr(estimator, name):
            predicted = np.array(getattr(estimator, name), np.float64)
            predicted[_in_every_sample(estimator, len(predicted))] = np.nan
            return predicted.reshape(len(predicted), -1)
    return None


def _in_every_sample(estimator: Any, n_rows: int) -> Bools:
    """Find rows without out-of-bag predictions: scikit-learn reports 0 for them, Hornbeam NaN."""
    found = np.full(n_rows, hasattr(estimator, "estimators_samples_"))
    for sample in getattr(estimator, "estimators_samples_", ()):
        found &= np.bincount(sample, minlength=n_rows) > 0
    return found


def _scores(estimator: Any, predicted: Floats, loss: Loss) -> Floats:
    scores = loss.scores_of(predicted)
    if not (np.abs(scores) <= loss.max_score).all():
        raise DataError(
            f"init is a {type(estimator).__name__} that predicts NaN or numbers beyond {loss.max_score:g}; expected "
            "finite ones. Pass another init."
        )
    return scores
