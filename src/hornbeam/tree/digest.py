"""The name of a tree as a value.

A digest is the SHA-256, in hexadecimal, of a canonical stream of bytes that holds everything a prediction and
its interval depend on, and nothing else:

1. the tag ``hornbeam tree 1``;
2. the schema: of each feature the name, the kind and the categories, then the classes; ``numeric`` if the target is;
3. the arrays of the skeleton, in the order of its fields;
4. ``evidence``, ``unit``, ``belief``, ``borrowed``;
5. the costs of the decision rule, class weights multiplied in, unless it takes the most probable class.

Each value carries a type tag and each piece its length, so no two schemas share a stream: ``1``, ``1.0``,
``True`` and ``"1"`` are four labels. Arrays are little-endian and of fixed width; -0.0 is written as 0.0 and
every NaN as the same one. Left out are ``rows`` (a row given twice equals a row of weight 2), ``gain`` and
``history`` (how a tree was made is not what it is).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import SchemaError

if TYPE_CHECKING:
    from hornbeam.data.schema import Schema
    from hornbeam.tree.tree import Tree

__all__ = ["digest"]

_TAG = b"hornbeam tree 1"


def digest(tree: Tree) -> str:
    """Compute the digest of a tree; `Tree.digest` keeps it.

    Raises
    ------
    SchemaError
        If a class label is an object that shows its place in memory instead of its value.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Schema
    >>> from hornbeam.tree import Skeleton, Tree
    >>> def leaf(*classes):
    ...     return Tree.raw(Schema((), classes), Skeleton.leaf(), np.array([[3, 1]]))
    >>> digest(leaf("no", "yes")) == digest(leaf("no", "yes"))
    True
    >>> digest(leaf(0, 1)) == digest(leaf(False, True))
    False
    """
    sha = hashlib.sha256(_TAG)
    sha.update(_schema_bytes(tree.schema))
    skeleton = tree.skeleton
    for array in (
        skeleton.parent,
        skeleton.first_child,
        skeleton.n_children,
        skeleton.feature,
        skeleton.threshold,
        skeleton.slot_start,
        skeleton.slot_of.astype(np.int32, copy=False),
        skeleton.missing_slot,
        tree.evidence,
        tree.unit,
        tree.belief,
        tree.borrowed,
    ):
        canonical = _canonical(array)
        sha.update(_length(canonical.size))
        sha.update(canonical.data)
    if tree.decision.loss is not None:
        sha.update(b"decision")
        sha.update(_canonical(tree.decision.loss.matrix).data)
    return sha.hexdigest()


def _canonical(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "f":
        array = array + 0.0  # -0.0 becomes 0.0
        array[array != array] = np.nan
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _schema_bytes(schema: Schema) -> bytes:
    pieces = [_length(len(schema.features))]
    for feature in schema.features:
        pieces += [_value_bytes(feature.name), _value_bytes(feature.kind.value)]
        pieces.append(_values_bytes(feature.categories))
    pieces.append(_values_bytes(schema.classes))
    if schema.is_regression:
        pieces.append(_value_bytes(schema.target.value))
    return b"".join(pieces)


def _values_bytes(values: Iterable[object]) -> bytes:
    pieces = [_value_bytes(value) for value in values]
    return _length(len(pieces)) + b"".join(pieces)


def _value_bytes(value: object) -> bytes:
    """Write a name, category or label as type tag, length and bytes."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    match value:
        case str():
            tag, body = b"s", value.encode("utf-8", "surrogatepass")
        case bool():
            tag, body = b"b", b"\1" if value else b"\0"
        case int():
            tag, body = b"i", str(int(value)).encode()
        case float():
            tag, body = b"f", _canonical(np.array([value])).tobytes()
        case tuple():
            tag, body = b"t", _values_bytes(value)
        case _:
            tag, body = b"o", _object_bytes(value)
    return tag + _length(len(body)) + body


def _object_bytes(value: object) -> bytes:
    kind = type(value)
    if kind.__repr__ is object.__repr__:
        raise SchemaError(
            f"class label {value!r} does not show its value, expected one that does: "
            "use strings, numbers or booleans"
        )
    return f"{kind.__module__}.{kind.__qualname__}:{value!r}".encode("utf-8", "surrogatepass")


def _length(n: int) -> bytes:
    return n.to_bytes(8, "little")
