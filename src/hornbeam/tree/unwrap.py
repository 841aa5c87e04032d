"""The model inside a scikit-learn search or pipeline."""

from typing import Any, NamedTuple

from hornbeam.errors import ParameterError

__all__ = ["Unwrapped", "unwrap"]


class Unwrapped(NamedTuple):
    """A model, and the steps of its pipeline that transform the rows.

    Parameters
    ----------
    model : object
    before : object or None
        The pipeline without the model; None if it has no other steps.
    """

    model: Any
    before: Any = None

    @property
    def pipeline_error(self) -> str:
        """Text for errors where the rows cannot be transformed: what was found, expected and to do."""
        steps = ", ".join(repr(name) for name, _ in self.before.steps)
        return (
            f"a Pipeline with the steps {steps} before its model; expected the model alone. Pass pipeline[-1], which "
            "takes the rows that pipeline[:-1].transform(X) returns"
        )


def unwrap(model: Any) -> Unwrapped:
    """Return the best model of a fitted search, the last step of a pipeline, or the model itself.

    Raises
    ------
    ParameterError
        If a search has no best model.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from hornbeam import TreeClassifier
    >>> search = GridSearchCV(TreeClassifier(), {"max_depth": [1]}, cv=2)
    >>> unwrap(search.fit([[0], [1]] * 4, [0, 1] * 4)).model
    TreeClassifier(max_depth=1)
    """
    if hasattr(model, "best_estimator_"):
        return unwrap(model.best_estimator_)
    if hasattr(model, "refit") and hasattr(model, "estimator"):
        raise ParameterError(
            f"this {type(model).__name__} has no best_estimator_; expected a fitted search with refit=True: call fit "
            "first."
        )
    if hasattr(model, "named_steps") and hasattr(model, "steps"):
        before = [step for step in model.steps[:-1] if step[1] not in (None, "passthrough")]
        last = unwrap(model.steps[-1][1])
        return Unwrapped(last.model, model[:-1] if before else last.before)
    return Unwrapped(model)
