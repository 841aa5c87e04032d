"""What every classifier of this house has for scikit-learn, whatever is inside."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from hornbeam.typing import Floats

__all__ = ["Shell"]


class Shell(ClassifierMixin, BaseEstimator):
    """A classifier with a page in the documentation, and with logarithms of its probabilities."""

    _doc_link_module = "hornbeam"
    _doc_link_template = (
        "https://hornbeam.readthedocs.io/en/stable/api/generated/hornbeam.{estimator_name}.html"
    )

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
