"""The base class of displays of one class's probabilities."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.plots.canvas import class_number
from hornbeam.typing import Label

__all__ = ["OneClassDisplay"]


class OneClassDisplay(ABC):
    """A figure of the predicted probabilities of one class against all others."""

    @classmethod
    @abstractmethod
    def from_predictions(
        cls,
        y: Any,
        predicted: Any,
        *,
        positive: Label | None = None,
        name: str | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Draw given probabilities of one class."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Label | None = None,
        name: str | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Predict with a fitted classifier, and draw the probabilities.

        Parameters
        ----------
        estimator : classifier
            Fitted, with ``predict_proba`` and ``classes_``.
        X : array-like or data frame
            Rows that are not in the training data.
        y : array-like of shape (n_rows,)
            Their classes.
        positive : label, optional
            The class of interest, against all others; the last one if not given.
        name : str, optional
            Name in the figure; the estimator's class if not given.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : keywords of `from_predictions`
            Bins, weights and other settings.

        Returns
        -------
        display
            The drawn display.
        """
        if not hasattr(estimator, "predict_proba") or not hasattr(estimator, "classes_"):
            raise ParameterError(
                f"This is a {type(estimator).__name__}; expected a fitted classifier, with predict_proba and classes_. "
                "Pass probabilities of other models to from_predictions."
            )
        classes = np.asarray(estimator.classes_).tolist()
        number = class_number(classes, positive)
        predicted = estimator.predict_proba(X)[:, number]
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, predicted, positive=classes[number], name=name, ax=ax, **settings)
