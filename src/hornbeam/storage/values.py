"""Encode names, labels and settings as JSON values with their exact types, and decode them.

Values that JSON can express stay as they are: ``null``, ``true``, ``1``, ``1.0``, ``"one"``, a list. All else is an
object with the type as its key: ``{"float": "inf"}``, ``{"tuple": [1, 2]}``, ``{"dict": [["a", 1]]}``,
``{"array": [1, 2], "dtype": "int64"}``, ``{"step": "HGS", "parameters": {"alpha": 1.0}}``.
"""

from __future__ import annotations

import reprlib
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from hornbeam.errors import StorageError
from hornbeam.tree import Step
from hornbeam.typing import Category

LONGEST_TEXT = 65_536  # characters per name, category, label or setting
DEEPEST = 16  # nesting of settings
# dtypes of arrays
NUMBERS = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)

_SPELLED = {"nan": nan, "inf": inf, "-inf": -inf}


def encode_text(value: str, where: str) -> str:
    """Return a string that every JSON reader can read, or raise `StorageError`."""
    value = str.__str__(value)  # the plain text of a NumPy string or an enum member
    return decode_text(value, where)


def decode_text(value: object, where: str) -> str:
    """Return a string read from a file, or raise `StorageError`."""
    if type(value) is not str:
        raise StorageError(f"{where} is {show(value)}; expected a string")
    if len(value) > LONGEST_TEXT:
        raise StorageError(f"{where} has {len(value):,} characters; expected at most {LONGEST_TEXT:,}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise StorageError(
            f"{where} is {show(value)}, which holds half a surrogate pair and is no Unicode text; "
            "expected whole characters: rename it"
        ) from None
    return value


def encode_scalar(value: object, where: str) -> Any:
    """Encode a category or a label as JSON, with its exact type."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if isinstance(value, str):
        return encode_text(value, where)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise StorageError(f"{where} is {show(value)}; expected a number of 64 bits: make it a string")
        return int(value)
    if isinstance(value, float):
        return float(value) if isfinite(value) else {"float": repr(float(value))}
    raise StorageError(
        f"{where} is {show(value)}, of type {type(value).__name__}; expected a string, a number or a boolean: "
        "convert it, e.g. with str"
    )


def decode_scalar(value: object, where: str) -> Category:
    """Decode a category or a label from JSON."""
    if type(value) is str:
        return decode_text(value, where)
    if type(value) in (int, float, bool):
        return value  # type: ignore[return-value]
    if type(value) is dict and list(value) == ["float"] and value["float"] in _SPELLED:
        return _SPELLED[value["float"]]
    raise StorageError(f"{where} is {show(value)}; expected a string, a number or a boolean")


def encode(value: object, where: str, depth: int = 0) -> Any:
    """Encode a setting as JSON."""
    if depth > DEEPEST:
        raise StorageError(f"{where} is nested more than {DEEPEST} deep; expected a plain value")

    def inside(items: Any) -> list[Any]:
        return [encode(item, where, depth + 1) for item in items]

    match value:
        case None:
            return None
        case list():
            return inside(value)
        case tuple():
            return {"tuple": inside(value)}
        case dict():
            return {"dict": [inside(pair) for pair in value.items()]}
        case Step():
            return encode_step(value, where, depth + 1)
        case np.ndarray() if value.dtype.name in NUMBERS:
            return {"array": inside(value.tolist()), "dtype": value.dtype.name}
        case str() | bool() | int() | float() | np.generic():
            return encode_scalar(value, where)
        case _:
            raise StorageError(
                f"{where} is {show(value)}, of type {type(value).__name__}; expected a value that can be written "
                "down: None, booleans, numbers, strings, and lists, tuples, dicts or arrays of them"
            )


def encode_step(step: Step, where: str, depth: int = 0) -> dict[str, Any]:
    """Encode a step as JSON."""
    parameters = {
        encode_text(name, where): encode(value, f"{where}: {name}", depth) for name, value in step.parameters
    }
    return {"step": encode_text(step.name, where), "parameters": parameters}


def decode(value: object, where: str, depth: int = 0) -> Any:
    """Decode a setting from JSON."""
    if depth > DEEPEST:
        raise StorageError(f"{where} is nested more than {DEEPEST} deep; expected a plain value")

    def inside(items: list[Any]) -> list[Any]:
        return [decode(item, where, depth + 1) for item in items]

    match value:
        case None:
            return None
        case list():
            return inside(value)
        case {"tuple": list(items), **rest} if not rest:
            return tuple(inside(items))
        case {"dict": list(pairs), **rest} if not rest:
            return _dict(pairs, where, depth)
        case {"array": list(items), "dtype": str(dtype), **rest} if not rest and dtype in NUMBERS:
            return _array(inside(items), dtype, where)
        case {"step": str(), "parameters": dict()}:
            return decode_step(value, where, depth + 1)
        case _:
            return decode_scalar(value, where)


def decode_step(value: object, where: str, depth: int = 0) -> Step:
    """Decode a step from JSON."""
    match value:
        case {"step": name, "parameters": dict(parameters), **rest} if not rest:
            pairs = (
                (decode_text(key, where), decode(item, f"{where}: {show(key)}", depth))
                for key, item in parameters.items()
            )
            return Step(decode_text(name, where), tuple(pairs))
    raise StorageError(f"{where} is {show(value)}; expected a step and its parameters")


def _dict(pairs: list[Any], where: str, depth: int) -> dict[Any, Any]:
    made = {}
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2:
            raise StorageError(f"{where} has the entry {show(pair)}; expected a key and a value")
        key = _key(pair[0], where)
        if key in made:
            raise StorageError(f"{where} has the key {show(key)} twice; expected it once")
        made[key] = decode(pair[1], where, depth + 1)
    return made


def _key(value: object, where: str) -> Any:
    """Read the key of a dict: a plain value, or a tuple of plain values."""
    match value:
        case {"tuple": list(items), **rest} if not rest:
            return tuple(decode_scalar(item, where) for item in items)
    return decode_scalar(value, where)


def _array(items: list[Any], dtype: str, where: str) -> np.ndarray[Any, Any]:
    try:
        exact = np.array(items)
    except ValueError:  # rows of different lengths
        exact = np.empty(0, object)
    if exact.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            array = exact.astype(dtype)
        if np.array_equal(array, exact, equal_nan=True):
            return array
    raise StorageError(f"{where} is no array of {dtype}; expected rows of one length, and numbers that fit")


def show(value: object) -> str:
    """Return a value as text for an error message, shortened if it is long."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    return reprlib.repr(value)
