"""Models as safetensors, for large trees and ensembles: eight bytes of length, a JSON header, the arrays.

Any safetensors reader can open the arrays; the rest of the model is JSON in the metadata entry ``hornbeam``.
"""

from __future__ import annotations

import json
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import StorageError
from hornbeam.storage.assembly import model_of
from hornbeam.storage.layout import arrays_for, arrays_of, header_of
from hornbeam.storage.limits import VERSION, sizes_of
from hornbeam.storage.model import Model
from hornbeam.storage.text import LARGEST as LONGEST
from hornbeam.storage.text import parse
from hornbeam.storage.values import show

LARGEST = 2**32  # bytes


_TYPES = {"<i4": "I32", "<i8": "I64", "<f8": "F64"}


def are_tensors(start: bytes) -> bool:
    """Return whether a file starts like safetensors: its length, in eight bytes, has zeros."""
    return b"\0" in start[:8]


def write_tensors(model: Model) -> list[Any]:
    """Encode a model as safetensors, in parts to be written in order."""
    arrays = arrays_of(model)
    header = header_of(model, arrays)
    forms = arrays_for(header["kind"])
    entries: dict[str, Any] = {"__metadata__": {"hornbeam": json.dumps(header, ensure_ascii=False)}}
    begin = 0
    # So that each array is aligned to its width.
    wide_first = sorted(arrays, key=lambda name: -arrays[name].itemsize)
    for name in wide_first:
        array = arrays[name]
        end = begin + array.nbytes
        entries[name] = {
            "dtype": _TYPES[forms[name].dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
        begin = end
    head = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return [len(head).to_bytes(8, "little"), head, *(arrays[name].data for name in wide_first)]


class Outline(NamedTuple):
    """The checked header of a file, and the places of its arrays."""

    header: dict[str, Any]
    entries: dict[str, Any]
    n_bytes: int

    def model(self, body: bytes | memoryview) -> Model:
        """Build the model; its arrays are views of the bytes after the header."""
        if len(body) != self.n_bytes:
            raise StorageError(f"there are {len(body):,} bytes of arrays; expected {self.n_bytes:,}")
        arrays = {
            name: _array(self.entries[name], array.dtype, memoryview(body))
            for name, array in arrays_for(self.header["kind"]).items()
        }
        return model_of(self.header, arrays)


def read_tensors(data: bytes) -> Model:
    """Decode a model from safetensors; its arrays are views of the data."""
    end = 8 + head_length(data[:8], len(data))
    return read_head(data[:end], len(data)).model(memoryview(data)[end:])


def head_length(start: bytes, size: int) -> int:
    """Read the length of the header from the first eight bytes of a file."""
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > size - 8:
        raise StorageError(f"the header should have {length:,} bytes; the file has {size:,}: it is not whole")
    if length > LONGEST:
        raise StorageError(f"the header has {length:,} bytes; expected at most {LONGEST:,}")
    return length


def read_head(head: bytes, size: int) -> Outline:
    """Check the header of a file, including its first eight bytes, without the arrays."""
    entries = parse(head[8:])
    metadata = entries.pop("__metadata__", None)
    match metadata:
        case {"hornbeam": str(text)}:
            header = parse(text.encode(errors="surrogatepass"))
        case _:
            raise StorageError("__metadata__ has no text 'hornbeam'; expected the header of a model")
    sizes = sizes_of(header)
    forms = arrays_for(header["kind"])
    if forms.keys() - entries.keys():
        raise StorageError(f"there are the arrays {show(list(entries))}; expected {', '.join(forms)}")
    unknown = entries.keys() - forms.keys()
    if unknown and header["version"][1] <= VERSION[1]:
        raise StorageError(f"there is an array {show(min(unknown))}; expected only {', '.join(forms)}")
    n_bytes = size - len(head)
    _check_cover(entries, n_bytes)
    for name, array in forms.items():
        _check_form(name, entries[name], array.dtype, array.shape(sizes))
    return Outline(header, entries, n_bytes)


def _check_cover(entries: dict[str, Any], length: int) -> None:
    """Check that the arrays are contiguous and fill the file."""
    at = 0
    for name, begin, end in sorted(
        ((name, *_offsets(name, entry)) for name, entry in entries.items()), key=_place
    ):
        if begin != at:
            raise StorageError(
                f"{show(name)} begins at byte {begin:,}; expected {at:,}, where the one before ends"
            )
        at = end
    if at != length:
        raise StorageError(f"the arrays end at byte {at:,}; the file has {length:,} bytes for them")


def _place(entry: tuple[str, int, int]) -> tuple[int, int]:
    return entry[1:]


def _offsets(name: str, entry: object) -> tuple[int, int]:
    match entry:
        case {"dtype": str(), "shape": list(), "data_offsets": [int(begin), int(end)], **rest} if not rest:
            if 0 <= begin <= end:
                return begin, end
    raise StorageError(f"{show(name)} is {show(entry)}; expected dtype, shape and data_offsets")


def _check_form(name: str, entry: dict[str, Any], dtype: str, shape: tuple[int, ...]) -> None:
    begin, end = entry["data_offsets"]
    expected = {"dtype": _TYPES[dtype], "shape": list(shape)}
    found = {key: entry[key] for key in expected}
    if found != expected or end - begin != prod(shape) * np.dtype(dtype).itemsize:
        raise StorageError(f"{name} is {show(found)} in {end - begin:,} bytes; expected {expected}")


def _array(entry: dict[str, Any], dtype: str, body: memoryview) -> NDArray[Any]:
    begin, end = entry["data_offsets"]
    flat = np.frombuffer(body[begin:end], dtype)
    # Other writers may not align arrays, and the machine may have the other byte order.
    return np.require(flat, np.dtype(dtype).newbyteorder("="), "A").reshape(entry["shape"])
