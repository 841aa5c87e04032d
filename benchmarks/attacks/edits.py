"""Changes of plain values and of bytes, drawn at random and written down as JSON.

An edit of values is ``[what, path, value]``: "set" a value, "delete" it, "copy" the value of another path, "insert"
a value into a list, "repeat" an entry, "rename" a key. An edit of bytes is ``[what, place, value]`` with a place from
0, the beginning, to 1, the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

VALUES = [
    None, True, False, 0, 1, -1, 2, 7, 0.5, -0.5, 1.5, -0.0, 1e-300, 1e300, -1e300, 1e17, 5.5, "", "x", "inf", "nan",
    [], {}, [0], [None], [[]], {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"tuple": []},
    {"tuple": [1, -1]}, {"tuple": [0.5, 0.5]}, {"dict": []}, {"dict": [["a", 1]]}, {"array": [1.0], "dtype": "float64"},
    {"array": [], "dtype": "int64"}, {"array": [[1, 2]], "dtype": "uint8"}, {"step": "HGS", "parameters": {}},
    {"step": "HDP", "parameters": {"sweeps": 2**62}}, {"step": "CostComplexity", "parameters": {"alpha": 0.01}},
    {"step": "Costs", "parameters": {}}, {"step": "interval-calibration", "parameters": {"borrowed": 1e300, "own": 1}},
    {"step": "monotone", "parameters": {"signs": {"tuple": [1, 1, 1]}}}, "float64", "int8", "str1", "object", "string",
    "tree", "regression tree", "rules", "trees", "numeric", "nominal", "ordinal", "\ud800", "\x00", "a" * 300,
    2**31 - 1, -(2**31), 2**32, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**64 - 1, 100_000, 65_536,
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2, 3, 0.5, -0.5, 1e-300, 1e300, -1e300, 2**31 - 1, -(2**31), 2**52, 2**61, 2**62, 2**63 - 1, -(2**63),
    5e-324, 1e308, "nan", "inf", "-inf", 1.0000001, 0.9999999, -2,
]  # fmt: skip
SPELLED = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
WORDS = [
    "null",
    "true",
    "NaN",
    "Infinity",
    "-1",
    "1e999",
    "1.5",
    '"x"',
    "[]",
    "{}",
    "-0.0",
    "9" * 400,
    "18446744073709551615",
]


def paths(
    value: Any, content: Callable[[Any], Any] = lambda value: value, path: tuple[Any, ...] = ()
) -> list[tuple[Any, ...]]:
    """All places in a value, those of lists and objects too; `content` says what is inside a value."""
    inside, found = content(value), [path]
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(inside, dict):
        items = inside.items()
    elif isinstance(inside, list | tuple):
        items = enumerate(inside)
    for key, inner in items:
        found += paths(inner, content, (*path, key))
    return found


def draw_edit(rng: np.random.Generator, value: Any) -> list[Any]:
    """An edit of a value."""
    places = paths(value)[1:]
    # First a key of the outermost object, so that long lists do not take all of the edits.
    first = list(value)[rng.integers(len(value))]
    some = [place for place in places if place[0] == first]
    path = list(some[rng.integers(len(some))])
    match rng.integers(12):
        case 0:
            return ["delete", path]
        case 1:
            return ["copy", path, list(places[rng.integers(len(places))])]
        case 2:
            return ["insert", path, _value(rng)]
        case 3:
            return ["repeat", path, int(rng.choice([1, 2, 50]))]
        case 4:
            return ["rename", path, str(_name(rng, places))]
        case 5:
            return ["nudge", path, float(rng.choice([1, -1, 2, 0.001, -0.001, 1e6]))]
    return ["set", path, _value(rng)]


def draw_number(rng: np.random.Generator, arrays: dict[str, list[Any]]) -> list[Any]:
    """An edit of one number of an array, or of its length."""
    name = list(arrays)[rng.integers(len(arrays))]
    at = int(rng.integers(max(1, len(arrays[name]))))
    match rng.integers(10):
        case 0:
            return ["delete", [name, at]]
        case 1:
            return ["copy", [name, at], [name, int(rng.integers(max(1, len(arrays[name]))))]]
        case 2:
            return ["repeat", [name, at], 1]
        case 3 | 4:
            return ["nudge", [name, at], float(rng.choice([1, -1, 2, 1e-9, -1e-9, 0.1, 1e6]))]
    return ["set", [name, at], NUMBERS[rng.integers(len(NUMBERS))]]


def draw_bytes(rng: np.random.Generator) -> list[Any]:
    """An edit of the bytes of a file."""
    place = float(rng.random())
    match rng.integers(8):
        case 0:
            return ["truncate", place]
        case 1:
            return ["cut", place, int(rng.choice([1, 2, 8, 100]))]
        case 2:
            return ["word", place, WORDS[rng.integers(len(WORDS))]]
        case 3:
            return ["move", place, float(rng.random()), int(rng.choice([1, 8, 64, 1000]))]
        case 4:
            return ["nest", place, int(rng.choice([1, 20, 5000])), bool(rng.random() < 0.5)]
        case 5:
            return ["eight", place, NUMBERS[rng.integers(len(NUMBERS))]]
    return ["flip", place, int(rng.integers(8))]


def _value(rng: np.random.Generator) -> Any:
    return VALUES[rng.integers(len(VALUES))]


def _name(rng: np.random.Generator, places: list[tuple[Any, ...]]) -> Any:
    return places[rng.integers(len(places))][-1]


def apply(edit: Any, value: Any) -> None:
    """Change a value in place; an edit that makes no sense changes nothing."""
    match edit:
        case [str(what), [*path], *more] if path:
            holder = _at(value, path[:-1])
            if isinstance(holder, dict | list):
                _change(what, holder, path[-1], more, value)


def _at(value: Any, path: list[Any]) -> Any:
    for key in path:
        in_dict = isinstance(value, dict) and isinstance(key, str) and key in value
        in_list = isinstance(value, list) and type(key) is int and 0 <= key < len(value)
        if not in_dict and not in_list:
            return None
        value = value[key]
    return value


def _change(what: str, holder: Any, key: Any, more: list[Any], whole: Any) -> None:
    there = _at(holder, [key]) is not None or (isinstance(holder, dict) and key in holder)
    if isinstance(holder, list) and (type(key) is not int or not 0 <= key < len(holder)):
        return
    if isinstance(holder, dict) and not isinstance(key, str):
        return
    match what, more:
        case "set", [new]:
            holder[key] = new
        case "copy", [[*other]]:
            found = _at(whole, other)
            holder[key] = found if not isinstance(found, dict | list) else _twin(found)
        case "delete", _ if there or isinstance(holder, list):
            del holder[key]
        case "insert", [new]:
            inner = holder[key] if there else None
            if isinstance(inner, list):
                inner.append(new)
            elif isinstance(inner, dict):
                inner["more"] = new
        case "repeat", [int(times)] if isinstance(holder, list) and 0 < times <= 100:
            holder[key:key] = [holder[key]] * times
        case "rename", [str(name)] if isinstance(holder, dict) and there:
            holder[name] = holder.pop(key)
        case "nudge", [int() | float() as step] if there and type(holder[key]) in (int, float):
            moved = holder[key] + step if abs(step) != 2 else holder[key] * step
            whole_number = type(holder[key]) is int and moved == moved and abs(moved) < 2**63
            holder[key] = int(moved) if whole_number else moved


def _twin(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _twin(inner) for key, inner in value.items()}
    return [_twin(inner) for inner in value] if isinstance(value, list) else value


def numbers(values: list[Any]) -> list[Any]:
    """The numbers of an array, of which some are spelled."""
    return [SPELLED.get(one, one) if isinstance(one, str) else one for one in values]


def change_bytes(edit: Any, data: bytearray) -> None:
    """Change bytes in place; an edit that makes no sense changes nothing."""
    match edit:
        case [str(what), int() | float() as place, *more] if 0 <= place <= 1 and data:
            at = min(int(place * len(data)), len(data) - 1)
            _change_bytes(what, data, at, more)


def _change_bytes(what: str, data: bytearray, at: int, more: list[Any]) -> None:
    match what, more:
        case "truncate", _:
            del data[at:]
        case "cut", [int(length)]:
            del data[at : at + max(0, length)]
        case "flip", [int(bit)]:
            data[at] ^= 1 << (bit % 8)
        case "word", [str(word)]:
            if found := re.compile(rb"-?[0-9]+").search(data, at):
                data[found.start() : found.end()] = word.encode(errors="replace")
        case "move", [int() | float() as source, int(length)] if 0 <= source <= 1:
            begin = int(source * len(data))
            data[at:at] = bytes(data[begin : begin + min(max(0, length), 4096)])
        case "nest", [int(depth), bool(lists)]:
            data[at:at] = (b"[" if lists else b'{"a":') * min(max(0, depth), 100_000)
        case "eight", [number] if at // 4 * 4 + 8 <= len(data):
            number = SPELLED.get(number, number) if isinstance(number, str) else number
            kind = np.int64 if type(number) is int and -(2**63) <= number < 2**63 else np.float64
            if isinstance(number, int | float):
                data[at // 4 * 4 : at // 4 * 4 + 8] = np.array(number, kind).tobytes()
