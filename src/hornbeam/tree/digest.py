"""The digest of a tree: a content hash of everything its predictions and intervals depend on.

A digest is the SHA-256, in hexadecimal, of these bytes:

1. the tag ``hornbeam tree 1``;
2. the schema: name, kind and categories of each feature, then the classes; then ``numeric`` in regression;
3. the arrays of the skeleton, in the order of its fields;
4. ``evidence``, ``unit``, ``belief``, ``borrowed``;
5. the costs of the decision rule, multiplied by the class weights, unless it takes the most probable class;
6. the arrays of the slopes, in the order of their fields, if there are any.

Each value has a type tag and a length, so two different schemas never have the same bytes: ``1``, ``1.0``,
``True`` and ``"1"`` are four different labels. Arrays are little-endian and of fixed width; -0.0 is written as 0.0 and
every NaN with the same bits. Left out are ``rows`` (two equal rows are the same as one row of weight 2), ``gain`` and
``history`` (they do not change a prediction).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.errors import SchemaError
from hornbeam.typing import Floats

_TAG = b"hornbeam tree 1"


def digest(
    schema: Schema,
    arrays: Iterable[NDArray[Any]],
    costs: Floats | None = None,
    slopes: Sequence[NDArray[Any]] = (),
) -> str:
    """Compute the digest of a tree; `Tree.digest` caches it.

    `arrays` are those of items 3 and 4 above, `costs` that of item 5, `slopes` those of item 6. `SchemaError` if the
    ``repr`` of a class label shows its address in memory instead of its value.
    """
    sha = hashlib.sha256(_TAG)
    sha.update(_schema_bytes(schema))
    _add_arrays(sha, arrays)
    if costs is not None:
        sha.update(b"decision")
        sha.update(_canonical(costs).data)
    if slopes:
        sha.update(b"slopes")
        _add_arrays(sha, slopes)
    return sha.hexdigest()


def _add_arrays(sha: hashlib._Hash, arrays: Iterable[NDArray[Any]]) -> None:
    for array in arrays:
        canonical = _canonical(array)
        sha.update(_length(canonical.size))
        sha.update(canonical.data)


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
        pieces.append(_value_bytes(schema.target_kind.value))
    return b"".join(pieces)


def _values_bytes(values: Iterable[object]) -> bytes:
    pieces = [_value_bytes(value) for value in values]
    return _length(len(pieces)) + b"".join(pieces)


def _value_bytes(value: object) -> bytes:
    """Encode a name, category or label as type tag, length and bytes."""
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
