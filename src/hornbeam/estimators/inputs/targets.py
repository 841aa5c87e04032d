"""Reading of the target `y`, with the checks that scikit-learn expects."""

from typing import Any

from sklearn.exceptions import DataConversionWarning

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.errors import DataError, warn
from hornbeam.typing import Floats

__all__ = ["read_classes", "read_numeric"]


def read_classes(estimator: Any, y: Any) -> Labels:
    """Read class labels."""
    _check(estimator, y, "label")
    return read_labels(y)


def read_numeric(estimator: Any, y: Any) -> Floats:
    """Read a numeric target."""
    _check(estimator, y, "number")
    return read_numeric_target(y)


def _check(estimator: Any, y: Any, what: str) -> None:
    if y is None:
        name = type(estimator).__name__
        raise DataError(f"{name} requires y to be passed, but the target y is None. Pass one {what} per row.")
    if isinstance(y, str):
        raise DataError(
            f"y is a str; expected one {what} per row. The name of a column is for rows in files; of a frame, pass "
            "the column itself and X without it."
        )
    shape = getattr(y, "shape", ())
    if isinstance(shape, tuple) and shape[1:] == (1,):
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
        )
