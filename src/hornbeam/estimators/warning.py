"""Warnings that point to who called an estimator, however deep inside they are raised."""

import warnings
from pathlib import Path

__all__ = ["warn"]

_HERE = (str(Path(__file__).parent),)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called the estimator.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as heard:
    ...     warn("rows are few")
    >>> str(heard[0].message)
    'rows are few'
    """
    warnings.warn(message, category, skip_file_prefixes=_HERE)
