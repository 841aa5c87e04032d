"""Class labels: the classes in sorted order, and a code for every row."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.reading.columns import as_data_error, check_arrow
from hornbeam.errors import DataError, SchemaError
from hornbeam.typing import Bools, Indices, Label


class Labels(NamedTuple):
    """The classes in sorted order, in the type of y, and the class code of every row."""

    classes: NDArray[Any]
    codes: Indices

    def take(self, rows: Bools) -> "Labels":
        """Return the labels of some rows; the classes stay."""
        return Labels(self.classes, self.codes[rows])

    def all_classes(self, known: tuple[Label, ...]) -> NDArray[Any]:
        """Return all classes of a schema, of which these labels may have only some."""
        return self.classes if len(known) == len(self.classes) else np.array(known)


def read_labels(y: Any) -> Labels:
    """Read the class labels of all rows from an array, a list or a series of any data frame library.

    Strings, integers, booleans or whole floats; categories count by value. Raises a `DataError` if labels are
    missing, continuous, or a mixture of strings and numbers.
    """
    with as_data_error("y"):
        return _read(y)


def _read(y: Any) -> Labels:
    if hasattr(y, "null_count") and hasattr(y, "validate"):
        check_arrow(y, "y")
    if hasattr(y, "combine_chunks"):
        y = y.combine_chunks()  # NumPy would turn the nulls of a chunked Arrow dictionary into labels
    if hasattr(y, "dictionary_decode"):
        return _read_dictionary(y)
    labels = _as_array(y)
    kind = labels.dtype.kind
    if kind == "O":
        labels = _from_objects(labels)
        kind = labels.dtype.kind
    if kind in "iu":
        return _read_integers(labels)
    if kind == "b":
        classes, codes = _read_integers(labels.view(np.uint8))
        return Labels(classes.astype(np.bool_), codes)
    if kind == "f":
        return _read_floats(labels)
    if kind in "OUT":
        return _read_strings(labels)
    if kind == "c":
        raise DataError(
            f"Unknown label type: y holds {labels.dtype}; expected class labels. Complex data not supported: "
            "name the classes."
        )
    raise DataError(
        f"Unknown label type: y holds values of type {labels.dtype}; expected strings, integers or booleans. "
        "Convert the labels to one of these."
    )


def match_labels(labels: Labels, classes: tuple[Label, ...]) -> Indices:
    """Return the codes of labels in a given order of classes."""
    position = {label: code for code, label in enumerate(classes)}
    found = labels.classes.tolist()
    unknown = [label for label in found if label not in position]
    if unknown:
        raise SchemaError(
            f"y has the label {unknown[0]!r}, but the tree was fitted with the classes {list(classes)}. "
            "Leave those rows out, or train with them."
        )
    return np.array([position[label] for label in found], dtype=np.int32)[labels.codes]


def _as_array(y: Any) -> NDArray[Any]:
    if np.ma.is_masked(y):
        raise _missing_error()
    labels = np.asarray(y)
    if labels.dtype.kind in "iuf" and isinstance(y, (list, tuple)) and labels.ndim == 1:
        types = set(map(type, y))
        # NumPy would merge True and 1, and round 2**63 beside -1.
        if not {bool, np.bool_}.isdisjoint(types) or (labels.dtype.kind == "f" and types == {int}):
            labels = _from_objects(np.array(y, dtype=object))
    if labels.dtype.kind == "U" and not isinstance(y, np.ndarray):
        # NumPy turns None, NaN and numbers among strings into text, so the types are checked on the objects.
        labels = _from_objects(np.array(y, dtype=object)).astype(labels.dtype)
    return as_column(labels, "label")


def as_column(target: NDArray[Any], what: str) -> NDArray[Any]:
    """Return a target of shape (n_rows,) or (n_rows, 1) as a 1-D array; raise a `DataError` for any other shape."""
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1:
        raise DataError(
            f"y should be a 1d array, got an array of shape {target.shape} instead. "
            f"Pass one {what} per row, and train one tree for each target. If these are the rows, X and y are swapped: "
            "X comes first."
        )
    return target


def _from_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Convert Python objects to the type they all have; strings stay objects."""
    types = set(map(type, labels.ravel().tolist()))
    names = sorted(t.__name__ for t in types)
    if not {"NoneType", "NAType", "NaTType"}.isdisjoint(names):
        raise _missing_error()
    if all(issubclass(t, str) for t in types):
        return labels
    if all(t is bool or t is np.bool_ for t in types):
        return labels.astype(np.bool_)
    if {bool, np.bool_}.isdisjoint(types):
        if all(issubclass(t, Integral) for t in types):
            return _as_integers(labels)
        if all(issubclass(t, Real) for t in types):
            return labels.astype(np.float64)
    elif all(issubclass(t, (Real, np.bool_)) for t in types):
        raise DataError(
            f"y mixes booleans with numbers: its types are {names}, and True equals 1. Expected either. "
            "Convert y to one type: y.astype(int), or y.astype(str) to keep them apart."
        )
    if any(isinstance(label, float) and label != label for label in labels.ravel()):
        raise _missing_error()
    if all(issubclass(t, (str, Real)) for t in types):
        raise DataError(f"Labels must be uniformly strings or numbers, got {names}. Convert y to one type.")
    raise DataError(
        f"Unknown label type: unknown. y holds values of type {names}; expected strings, integers or "
        "booleans. Convert the labels to one of these."
    )


def _as_integers(labels: NDArray[Any]) -> NDArray[Any]:
    """Convert whole numbers of any type to int64 or uint64."""
    low, high = min(labels.ravel(), default=0), max(labels.ravel(), default=0)
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return labels.astype(kind)
    raise DataError(
        "y has whole numbers that do not fit 64 bits; expected smaller ones. Number the classes from 0, or convert "
        "the labels to text: y.astype(str)."
    )


def _missing_error() -> DataError:
    return DataError("Input y contains NaN: some labels are missing. Leave out the rows without a label.")


def _read_dictionary(labels: Any) -> Labels:
    """Read an Arrow dictionary; its values are read once, not row by row."""
    if labels.null_count:
        raise _missing_error()
    places = labels.indices.to_numpy().astype(np.intp)
    occurring = np.flatnonzero(np.bincount(places, minlength=len(labels.dictionary)))
    classes, codes = read_labels(labels.dictionary.take(occurring))
    code_of = np.zeros(len(labels.dictionary), dtype=np.int32)
    code_of[occurring] = codes
    return Labels(classes, code_of[places])


def _read_integers(labels: NDArray[Any]) -> Labels:
    """Read integers by counting, or by sorting if their range is much larger than the number of rows."""
    if len(labels) == 0:
        return Labels(labels, np.zeros(0, dtype=np.int32))
    low, high = int(labels.min()), int(labels.max())
    if high - low > max(1_000, 2 * len(labels)) or high > np.iinfo(np.int64).max:
        return _read_sorted(labels)
    offsets = np.subtract(labels, low, dtype=np.int64)
    present = np.flatnonzero(np.bincount(offsets))
    classes = (present + low).astype(labels.dtype)
    if len(present) == high - low + 1:
        return Labels(classes, offsets.astype(np.int32))
    code_of = np.empty(high - low + 1, dtype=np.int32)
    code_of[present] = np.arange(len(present))
    return Labels(classes, code_of[offsets])


def _read_sorted(labels: NDArray[Any]) -> Labels:
    classes, codes = np.unique(labels, return_inverse=True)
    return Labels(classes, codes.astype(np.int32))


def _read_floats(labels: NDArray[Any]) -> Labels:
    if np.isnan(labels).any():
        raise _missing_error()
    if np.isinf(labels).any():
        raise DataError(
            f"Input y contains infinity or a value too large for {labels.dtype!r}. Pass class labels."
        )
    if (labels != np.rint(labels)).any():
        raise DataError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects "
            "discrete classes, on a regression target with continuous values. Fit a regressor, or cut it into "
            "classes first."
        )
    if len(labels) and np.abs(labels).max() < 2**53:
        classes, codes = _read_integers(labels.astype(np.int64))
        return Labels(classes.astype(labels.dtype), codes)
    return _read_sorted(labels)


def _read_strings(labels: NDArray[Any]) -> Labels:
    values = labels.tolist()
    code_of = {label: code for code, label in enumerate(sorted(set(values)))}
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
    return Labels(np.array(list(code_of), dtype=labels.dtype), codes)
