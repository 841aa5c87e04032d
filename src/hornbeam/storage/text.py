"""Models as JSON: strict, flat, in lines that a diff can compare.

The arrays are flat lists: one line per node for classes, one line per nominal split for slots, one line per leaf
for terms of slopes, else sixteen nodes of one level per line. NaN is null, an infinity is "inf" or "-inf", other
numbers are the shortest decimals that read back exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf, isinf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import StorageError
from hornbeam.storage.assembly import model_of
from hornbeam.storage.layout import ARRAYS, OF_SLOPES, Array, arrays_for, arrays_of, header_of
from hornbeam.storage.limits import SEVERAL, VERSION, sizes_of
from hornbeam.storage.model import Model
from hornbeam.storage.values import show
from hornbeam.tree.tree import Tree

# Together they keep reading below 256 MB for any text: four bytes per character of text that is not
# Latin, 32 per number, 200 per object.
LARGEST = 2**24  # bytes
MOST_VALUES = 2**21
MOST_BRACKETS = 2**18

_LONGEST_NUMBER = 32  # characters; the longest number written has 24
_NODES_A_LINE = 16
_BLOCKS = ("features", "classes", "history")  # one entry per line
_AS_TENSORS = "save it as '*.safetensors', a form made for large trees"
_SPELLED = {None: nan, "inf": inf, "-inf": -inf}


class TooLargeForTextError(StorageError):
    """Error for a model too large for JSON; safetensors can hold it."""


def write_text(model: Model) -> bytes:
    """Encode a model as JSON; the same model gives the same bytes."""
    n_values = sum(array.size for array in arrays_of(model).values())
    if n_values > MOST_VALUES:  # before the arrays become text, which takes 50 times their memory
        raise _too_large(n_values, "values", MOST_VALUES, _AS_TENSORS, TooLargeForTextError)
    data = ("\n".join(_lines(model)) + "\n").encode()
    _check_size(data, _AS_TENSORS, TooLargeForTextError)
    return data


def _lines(model: Model) -> Iterator[str]:
    arrays = arrays_of(model)
    yield "{"
    for key, value in header_of(model, arrays).items():
        if key in _BLOCKS and value:
            yield from _block(f'  "{key}": [', map(_json, value), "  ],")
        elif key == "estimator" and value:
            yield f'  "estimator": {{"name": {_json(value["name"])},'
            yield from _block('  "settings": {', _entries(value["settings"]), "  },")
            yield from _block('  "learned": {', _entries(value["learned"]), "  }},")
        else:
            yield f'  "{key}": {_json(value)},'
    yield '  "tree": {'
    last = list(arrays)[-1]
    for name, array in arrays.items():
        words = _words(array.ravel())
        starts = _starts(name, model.tree, len(words))
        rows = (", ".join(words[begin:end]) for begin, end in pairwise(starts))
        yield from _block(f'  "{name}": [', rows, "  ]" if name == last else "  ],")
    yield "  }"
    yield "}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _entries(content: dict[str, Any]) -> list[str]:
    return [f"{_json(key)}: {_json(value)}" for key, value in content.items()]


def _block(head: str, entries: Iterable[str], tail: str) -> Iterator[str]:
    yield head
    lines = [f"    {entry}" for entry in entries]
    if lines:
        yield ",\n".join(lines)
    yield tail


def _words(values: NDArray[Any]) -> list[str]:
    words = list(map(repr, values.tolist()))
    for at in np.flatnonzero(~np.isfinite(values)).tolist():
        words[at] = {"nan": "null"}.get(words[at], f'"{words[at]}"')
    return words


def _starts(name: str, tree: Tree, length: int) -> list[int]:
    """First entry of each line of an array, and the number of entries."""
    skeleton = tree.skeleton
    columns = {"n_channels": tree.schema.n_channels, "n_outputs": tree.schema.n_outputs}.get(
        (ARRAYS | OF_SLOPES)[name].per[-1]
    )
    if columns is not None:
        return list(range(0, length + 1, columns))
    if name in OF_SLOPES:
        return [*np.unique(tree.slopes.node, return_index=True)[1].tolist(), length]
    if name == "slot_of":
        return sorted(set(skeleton.slot_start.tolist()))
    # A level begins a line, so that a deep split does not change the lines above it.
    levels = pairwise(skeleton.levels)
    return [at for begin, end in levels for at in range(begin, end, _NODES_A_LINE)] + [length]


def read_text(data: bytes) -> Model:
    """Decode a model with one tree from JSON."""
    document = parse(data)
    tree = document.pop("tree", None)
    sizes = sizes_of(document)
    if document["kind"] in SEVERAL:
        raise StorageError(f"kind is {document['kind']!r} in a text; expected one tree: several are tensors")
    forms = arrays_for(document["kind"])
    if type(tree) is not dict or forms.keys() - tree.keys():
        raise StorageError(f"tree is {show(tree)}; expected the arrays {', '.join(forms)}")
    unknown = tree.keys() - forms.keys()
    if unknown and document["version"][1] <= VERSION[1]:
        raise StorageError(f"tree has {show(min(unknown))}; expected only the arrays {', '.join(forms)}")
    arrays = {name: _array(name, tree.pop(name), array, array.shape(sizes)) for name, array in forms.items()}
    return model_of(document, arrays)


def parse(data: bytes) -> dict[str, Any]:
    """Parse one JSON object strictly: no duplicate keys, no NaN, no number out of range, bounded sizes."""
    _check_size(data, "no file of ours is larger")
    try:
        text = data.decode()
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except UnicodeDecodeError as error:
        raise StorageError(f"byte {error.start} is no UTF-8; expected JSON text") from None
    except json.JSONDecodeError as error:
        expected = "expected a model that hornbeam.save wrote, and all of it"
        raise StorageError(f"line {error.lineno} is no JSON: {error.msg}; {expected}") from None
    except RecursionError:
        raise StorageError("lists or objects are nested too deep; expected a few levels") from None
    if type(document) is not dict:
        raise StorageError(f"the file holds {show(document)}; expected a JSON object")
    return document


def _check_size(data: bytes, advice: str, kind: type[StorageError] = StorageError) -> None:
    for what, size, most in (
        ("bytes", len(data), LARGEST),
        ("values", data.count(b","), MOST_VALUES),
        ("lists and objects", data.count(b"[") + data.count(b"{"), MOST_BRACKETS),
    ):
        if size > most:
            raise _too_large(size, what, most, advice, kind)


def _too_large(size: int, what: str, most: int, advice: str, kind: type[StorageError]) -> StorageError:
    return kind(f"the text has {size:,} {what}; expected at most {most:,}: {advice}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise StorageError(f"{show(key)} is given twice; expected every key once")
            seen.add(key)
    return made


def _integer(word: str) -> int:
    value = int(word) if len(word) <= _LONGEST_NUMBER else 2**64
    if not -(2**63) <= value < 2**64:
        raise StorageError(f"the number {word[:40]} does not fit 64 bits")
    return value


def _float(word: str) -> float:
    value = float(word) if len(word) <= _LONGEST_NUMBER else inf
    if isinf(value):
        raise StorageError(f"the number {word[:40]} is too long, or beyond every float")
    return value


def _constant(word: str) -> None:
    raise StorageError(
        f'{word} is no JSON; expected null for a missing number, "inf" or "-inf" for an infinite one'
    )


def _array(name: str, values: object, array: Array, shape: tuple[int, ...]) -> NDArray[Any]:
    length = int(np.prod(shape))
    if type(values) is not list or len(values) != length:
        found = f"has {len(values):,} entries" if type(values) is list else f"is {show(values)}"
        raise StorageError(f"{name} {found}; expected a list of {length:,}")
    types = set(map(type, values))
    if array.dtype == "<f8":
        if types - {int, float}:
            _check_spelled(name, values)
            values = [_SPELLED.get(value, value) for value in values]
        return np.array(values, np.float64).reshape(shape)
    if types - {int}:
        at = next(at for at, value in enumerate(values) if type(value) is not int)
        raise StorageError(f"{name}[{at}] is {show(values[at])}; expected a whole number")
    bounds = np.iinfo(array.dtype)
    if values and not bounds.min <= min(values) <= max(values) <= bounds.max:
        raise StorageError(
            f"{name} has numbers from {min(values)} to {max(values)}; expected {bounds.bits} bits"
        )
    return np.array(values, array.dtype).reshape(shape)


def _check_spelled(name: str, values: list[Any]) -> None:
    for at, value in enumerate(values):
        if type(value) not in (int, float) and not (type(value) in (str, type(None)) and value in _SPELLED):
            raise StorageError(f'{name}[{at}] is {show(value)}; expected a number, null, "inf" or "-inf"')
