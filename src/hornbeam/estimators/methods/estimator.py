"""What every estimator of this house has for scikit-learn, whatever is inside."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from hornbeam.typing import Floats

__all__ = ["ClassifierMethods", "HornbeamEstimator"]


class HornbeamEstimator(BaseEstimator):
    """An estimator with a page in the documentation."""

    _doc_link_module = "hornbeam"
    _doc_link_template = (
        "https://hornbeam.readthedocs.io/en/stable/api/generated/hornbeam.{estimator_name}.html"
    )

    def __copy__(self) -> Self:
        """Share what was learned; a deep copy does not."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return plain values, which pickle and skops can store."""
        from hornbeam.estimators.persistence.state import to_plain  # loaded for those who store

        return to_plain(self, super().__getstate__())

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take back what `__getstate__` returned."""
        from hornbeam.estimators.persistence.state import from_plain

        super().__setstate__(from_plain(state))


class ClassifierMethods(ClassifierMixin, HornbeamEstimator):
    """A classifier, with logarithms of its probabilities."""

    def predict_log_proba(self, X: Any) -> Floats:
        """Estimate the logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Minus infinity for what is impossible.
        """
        with np.errstate(divide="ignore"):
            logarithm: Floats = np.log(self.predict_proba(X))
        return logarithm
