"""Labels and their weights as plain values, and back in the type they had."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import StorageError
from hornbeam.storage.values import NUMBERS
from hornbeam.typing import Floats

__all__ = ["decode_class_weight", "decode_classes", "encode_classes"]

_MOST_CHARACTERS = 2**22  # of an array of labels


def encode_classes(classes: NDArray[Any], class_weight: Floats | None = None) -> dict[str, Any]:
    """Say of which type an array of labels is, and what the classes weigh unless all are alike.

    Examples
    --------
    >>> encode_classes(np.array(["no", "yes"]), np.array([1.0, 5.0]))
    {'classes': 'str3', 'class_weight': (1.0, 5.0)}
    """
    said: dict[str, Any] = {"classes": _dtype_name(classes.dtype)}
    if class_weight is not None and (class_weight != 1).any():
        said["class_weight"] = tuple(class_weight.tolist())
    return said


def _dtype_name(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "U":
        return f"str{dtype.itemsize // 4}"
    return "string" if dtype.kind == "T" else dtype.name


def decode_class_weight(said: Any, n_classes: int) -> Floats | None:
    """Read the weights that `predict` decides with; None for all alike.

    Examples
    --------
    >>> decode_class_weight((1.0, 5.0), 2)
    array([1., 5.])
    """
    if said is None:
        return None
    match said:
        case [*weights] if len(weights) == n_classes and all(
            type(one) is float and 0 <= one < inf for one in weights
        ):
            return np.array(weights)
    raise StorageError(f"class_weight is {said!r:.80}; expected {n_classes} numbers, 0 or more and finite")


def decode_classes(labels: Sequence[Any], name: object) -> NDArray[Any]:
    """Make the array of labels; it must give back every label as it is.

    Raises
    ------
    StorageError
        If the name is of no type that labels can have, or not of theirs.

    Examples
    --------
    >>> decode_classes(["no", "yes"], "str5")
    array(['no', 'yes'], dtype='<U5')
    """
    labels = list(labels)
    if type(name) is not str:
        raise StorageError(f"the type of the classes is {name!r:.80}; expected its name, such as 'int64'")
    width = re.fullmatch(r"str([1-9][0-9]{0,6})", name)
    dtype: Any = None
    if name in NUMBERS or name == "object":
        dtype = np.dtype(name)
    elif name == "string":
        dtype = np.dtypes.StringDType()
    elif width and int(width[1]) * len(labels) <= _MOST_CHARACTERS:
        dtype = np.dtype(f"U{width[1]}")
    try:
        classes = np.array(labels, dtype)
    except (TypeError, ValueError, OverflowError):
        classes = np.empty(0)
    back = classes.tolist()
    if dtype is None or back != labels or list(map(type, back)) != list(map(type, labels)):
        raise StorageError(f"the classes are no array of {name!r}; expected the type they had in fit")
    return classes
