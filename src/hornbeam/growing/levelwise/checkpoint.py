"""The checkpoint: the tree so far and its unfinished nodes, in one file that a new process can go on from.

The file is a line that names the format, a line of JSON and the arrays as they lie in memory. It is written
whole or not at all, and read without trust: a file that is damaged, foreign or forged is refused in words.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.files.atomic_write import replace
from hornbeam.data.files.regular_file import open_regular
from hornbeam.data.fingerprint import fingerprint
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, StorageError
from hornbeam.growing.levelwise.checkpoint_checks import check_nodes, check_waiting
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.growing.levelwise.open_node import OpenNode
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes
from hornbeam.tree.tree import Step
from hornbeam.typing import Counts, Floats

__all__ = ["Checkpoint", "State"]

_FORMAT = (
    b"hornbeam checkpoint 1\n"  # the next number when growing changes, so that no tree is half old, half new
)
_LONGEST_HEADER = 1 << 24
_NODES = dict.fromkeys(Nodes._fields, "<i4") | {
    "gain": "<f8",
    "rows": "<i8",
    "evidence": "<i8",
    "map_start": "<i8",
}
_WAITING = {"node": "<i8", "lower": "<f8", "upper": "<f8"}
_ARRAYS = (
    _NODES
    | {f"opened_{name}": dtype for name, dtype in _WAITING.items()}
    | {f"small_{name}": dtype for name, dtype in _WAITING.items()}
)


class State(NamedTuple):
    """Nodes made so far, those that wait to be asked, and those that wait for their rows."""

    nodes: Nodes
    opened: list[OpenNode]
    small: list[OpenNode]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file, and whose tree it holds.

    Parameters
    ----------
    path : Path
        The file.
    about : mapping of str to JSON values
        What must be the same to go on: the data, the parameters.
    """

    path: Path
    about: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        path: str | PathLike[str],
        source: EncodedSource,
        bins: Bins,
        schema: Schema,
        unit: float,
        class_weight: Floats | None,
        step: Step,
    ) -> Self:
        """Name the file and everything the tree depends on."""
        about = {
            "the rows": source.fingerprint,
            "their bins and schema": fingerprint(repr(schema), bins.digest),
            "weights": [unit, None if class_weight is None else class_weight.tolist()],
        }
        return cls(Path(path), about | dict(step.parameters))

    def write(self, state: State) -> None:
        """Put this state in the place of the one before."""
        arrays = {name: np.asarray(getattr(state.nodes, name)) for name in _NODES}
        for kind in ("opened", "small"):
            sprouts: list[OpenNode] = getattr(state, kind)
            arrays[f"{kind}_node"] = np.array([s.node for s in sprouts], dtype=np.int64)
            arrays[f"{kind}_lower"] = np.array([s.block.lower for s in sprouts])
            arrays[f"{kind}_upper"] = np.array([s.block.upper for s in sprouts])
        parts = [np.ascontiguousarray(arrays[name], dtype).tobytes() for name, dtype in _ARRAYS.items()]
        header = {
            "about": self.about,
            "shapes": {name: list(arrays[name].shape) for name in _ARRAYS},
            "sha256": sha256(b"".join(parts)).hexdigest(),
        }
        replace(self.path, [_FORMAT, json.dumps(header).encode(), b"\n", *parts])

    def read(self, terms: GrowthSpec, survey: RowSummary) -> State | None:
        """Read the state; None if there is no file.

        Raises
        ------
        ParameterError
            If it belongs to other data or parameters.
        StorageError
            If it is no sound checkpoint.
        """
        try:
            return self._read(terms, survey)
        except StorageError as error:
            raise StorageError(
                f"{self.path}: {error}. Expected a checkpoint that this version of Hornbeam wrote: "
                "delete the file to begin anew, or name another"
            ) from error

    def remove(self) -> None:
        """Delete the file, if it is there: the tree is done."""
        self.path.unlink(missing_ok=True)

    def _read(self, terms: GrowthSpec, survey: RowSummary) -> State | None:
        try:
            found = open_regular(self.path)
        except FileNotFoundError:
            return None
        with found as file:
            if file.readline(len(_FORMAT)) != _FORMAT:
                raise StorageError("the file does not begin as a checkpoint does")
            header = _parse(file.readline(_LONGEST_HEADER))
            self._check_owner(header["about"])
            arrays = _read_arrays(header, file)
        nodes = Nodes(**{name: arrays[name] for name in Nodes._fields})
        depth = check_nodes(nodes, terms, survey)
        opened, small = ([arrays[f"{kind}_{name}"] for name in _WAITING] for kind in ("opened", "small"))
        check_waiting(nodes, *opened)
        check_waiting(nodes, *small)
        check_waiting(nodes, *map(np.append, opened, small))  # none is both
        return State(nodes, _open_nodes(nodes, depth, *opened), _open_nodes(nodes, depth, *small))

    def _check_owner(self, about: Mapping[str, Any]) -> None:
        mine = json.loads(json.dumps(self.about))
        other = [name for name in mine if about.get(name) != mine[name]]
        if other:
            raise ParameterError(
                f"the checkpoint {self.path} belongs to another tree: {', '.join(other)} differ. Expected one of "
                "the same data and parameters: give them again, name another file, or delete this one to begin anew"
            )


def _open_nodes(nodes: Nodes, depth: Counts, node: Counts, lower: Floats, upper: Floats) -> list[OpenNode]:
    return [
        OpenNode(at, NodeRange(0, int(nodes.rows[at]), int(depth[at]), low, high), nodes.evidence[at])
        for at, low, high in zip(node.tolist(), lower.tolist(), upper.tolist(), strict=True)
    ]


def _parse(line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StorageError("its header is no JSON") from error
    match header:
        case {"about": dict(), "shapes": dict() as shapes, "sha256": str()} if list(shapes) == list(_ARRAYS):
            if all(_is_shape(shape, 1 + (name == "evidence")) for name, shape in shapes.items()):
                return header  # type: ignore[no-any-return]
    raise StorageError("its header lacks something, or has too much")


def _is_shape(shape: object, n_dimensions: int) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) == n_dimensions
        and all(type(n) is int and 0 <= n < 2**32 for n in shape)
    )


def _read_arrays(header: dict[str, Any], file: BinaryIO) -> dict[str, Any]:
    """Read the arrays behind the header, once their sizes are known to fill the file."""
    shapes: dict[str, list[int]] = header["shapes"]
    sizes = [prod(shapes[name]) * np.dtype(dtype).itemsize for name, dtype in _ARRAYS.items()]
    left = os.fstat(file.fileno()).st_size - file.tell()
    if sum(sizes) != left:
        raise StorageError(
            f"there are {left:,} bytes of arrays; expected {sum(sizes):,}: the file is damaged or not whole"
        )
    body = file.read(left)
    if sha256(body).hexdigest() != header["sha256"]:
        raise StorageError("its arrays are not those that were written: the file is damaged or not whole")
    arrays, begin = {}, 0
    for (name, dtype), size in zip(_ARRAYS.items(), sizes, strict=True):
        native = np.dtype(dtype).newbyteorder("=")
        arrays[name] = np.frombuffer(body[begin : begin + size], dtype).astype(native).reshape(shapes[name])
        begin += size
    return arrays
