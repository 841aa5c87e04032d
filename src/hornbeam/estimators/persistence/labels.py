"""Codec of class labels and class weights: plain values that keep the dtype of the labels."""

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

_MOST_CHARACTERS = 2**22  # of an array of labels


def encode_classes(classes: NDArray[Any], class_weight: Floats | None = None) -> dict[str, Any]:
    """Return the dtype of the labels, and the class weights unless all are 1, as plain values."""
    encoded: dict[str, Any] = {"classes": _dtype_name(classes.dtype)}
    if class_weight is not None and (class_weight != 1).any():
        encoded["class_weight"] = tuple(class_weight.tolist())
    return encoded


def _dtype_name(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "U":
        return f"str{dtype.itemsize // 4}"
    return "string" if dtype.kind == "T" else dtype.name


def decode_class_weight(value: Any, n_classes: int) -> Floats | None:
    """Return the class weights; None if all are 1.

    Examples
    --------
    >>> decode_class_weight((1.0, 5.0), 2)
    array([1., 5.])
    """
    if value is None:
        return None
    match value:
        case [*weights] if len(weights) == n_classes and all(
            type(one) is float and 0 <= one < inf for one in weights
        ):
            return np.array(weights)
    raise StorageError(f"class_weight is {value!r:.80}; expected {n_classes} numbers, 0 or more and finite")


def decode_classes(labels: Sequence[Any], name: object) -> NDArray[Any]:
    """Return the labels as an array of the named dtype, which must hold every label unchanged."""
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
        raise StorageError(f"the classes do not fit an array of {name!r}; expected the type they had in fit")
    return classes
