"""Warnings that point to who called an estimator, however deep inside they are raised."""

import warnings
from pathlib import Path

import sklearn

from hornbeam.errors import HornbeamWarning

__all__ = ["warn"]

# Our own methods, and what scikit-learn puts around `fit` for callbacks.
_INSIDE = (str(Path(__file__).parent), str(Path(sklearn.__file__).parent / "callback"))


def warn(message: str, category: type[Warning] = HornbeamWarning) -> None:
    """Warn whoever called the estimator.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as heard:
    ...     warn("rows are few")
    >>> str(heard[0].message)
    'rows are few'
    """
    warnings.warn(message, category, skip_file_prefixes=_INSIDE)
