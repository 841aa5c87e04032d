"""The checkpoint: a file with the tree so far and its unfinished nodes, from which a new process can continue.

The file has a line with the name of the format, a line of JSON, and the arrays as bytes. It is written atomically, and
everything in it is checked when it is read: a damaged, foreign or forged file raises an error.
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
from hornbeam.data.files.addresses import require_disk
from hornbeam.data.files.atomic_write import open_regular, write_atomic
from hornbeam.data.hashes import fingerprint
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, StorageError
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.growing.levelwise.nodes import OpenNode
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes
from hornbeam.tree.tree import Step
from hornbeam.typing import Bools, Counts, Floats

_FORMAT = b"hornbeam checkpoint 1\n"  # increased when growing changes: no tree may mix two versions
_LONGEST_HEADER = 1 << 24
_NODES = dict.fromkeys(Nodes._fields, "<i4") | {
    "gain": "<f8",
    "rows": "<i8",
    "evidence": "<i8",
    "map_start": "<i8",
}
_UNFINISHED = {"node": "<i8", "lower": "<f8", "upper": "<f8"}
_ARRAYS = (
    _NODES
    | {f"opened_{name}": dtype for name, dtype in _UNFINISHED.items()}
    | {f"small_{name}": dtype for name, dtype in _UNFINISHED.items()}
)


class State(NamedTuple):
    """Nodes so far, open nodes to split, and small nodes whose rows are to be gathered."""

    nodes: Nodes
    opened: list[OpenNode]
    small: list[OpenNode]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint file, and the data and parameters that it belongs to (`about`, JSON values)."""

    path: Path
    about: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        path: str | PathLike[str],
        source: EncodedSource,
        bins: Bins,
        schema: Schema,
        unit: float | Floats,
        class_weight: Floats | None,
        step: Step,
    ) -> Self:
        """Return the checkpoint for everything that the tree depends on."""
        require_disk("checkpoint", path, "a file on a disk, which the next process sees too")
        about = {
            "the rows": source.fingerprint,
            "their bins and schema": fingerprint(repr(schema), bins.digest),
            "weights": [np.asarray(unit).tolist(), None if class_weight is None else class_weight.tolist()],
        }
        return cls(Path(path), about | dict(step.parameters))

    def write(self, state: State) -> None:
        """Write a state in place of the one before."""
        arrays = {name: np.asarray(getattr(state.nodes, name)) for name in _NODES}
        for kind in ("opened", "small"):
            open_nodes: list[OpenNode] = getattr(state, kind)
            arrays[f"{kind}_node"] = np.array([node.node for node in open_nodes], dtype=np.int64)
            arrays[f"{kind}_lower"] = np.array([node.node_range.lower for node in open_nodes])
            arrays[f"{kind}_upper"] = np.array([node.node_range.upper for node in open_nodes])
        parts = [np.ascontiguousarray(arrays[name], dtype).tobytes() for name, dtype in _ARRAYS.items()]
        header = {
            "about": self.about,
            "shapes": {name: list(arrays[name].shape) for name in _ARRAYS},
            "sha256": sha256(b"".join(parts)).hexdigest(),
        }
        write_atomic(self.path, [_FORMAT, json.dumps(header).encode(), b"\n", *parts])

    def read(self, spec: GrowthSpec, summary: RowSummary) -> State | None:
        """Read the state; None if the file does not exist.

        Raises
        ------
        ParameterError
            If it belongs to other data or parameters.
        StorageError
            If it is not a valid checkpoint.
        """
        try:
            return self._read(spec, summary)
        except StorageError as error:
            raise StorageError(
                f"{self.path}: {error}. Expected a checkpoint that this version of Hornbeam wrote: "
                "delete the file to begin anew, or name another"
            ) from error

    def remove(self) -> None:
        """Delete the file, if it exists."""
        self.path.unlink(missing_ok=True)

    def _read(self, spec: GrowthSpec, summary: RowSummary) -> State | None:
        try:
            found = open_regular(self.path)
        except FileNotFoundError:
            return None
        with found as file:
            if file.readline(len(_FORMAT)) != _FORMAT:
                raise StorageError("the file does not begin as a checkpoint does")
            header = _parse(file.readline(_LONGEST_HEADER))
            self._check_identity(header["about"])
            arrays = _read_arrays(header, file)
        nodes = Nodes(**{name: arrays[name] for name in Nodes._fields})
        depth = _check_nodes(nodes, spec, summary)
        opened, small = ([arrays[f"{kind}_{name}"] for name in _UNFINISHED] for kind in ("opened", "small"))
        for unfinished in (opened, small, map(np.append, opened, small)):  # no node may be in both lists
            _check_unfinished(nodes, spec, *unfinished)
        return State(nodes, _open_nodes(nodes, depth, *opened), _open_nodes(nodes, depth, *small))

    def _check_identity(self, about: Mapping[str, Any]) -> None:
        mine = json.loads(json.dumps(self.about))
        other = [name for name in {**mine, **about} if about.get(name) != mine.get(name)]
        if other:
            raise ParameterError(
                f"the checkpoint {self.path} belongs to another tree: {', '.join(other)} differ. Expected one of "
                "the same data and parameters: give them again, name another file, or delete this one to begin anew"
            )


def _open_nodes(nodes: Nodes, depth: Counts, node: Counts, lower: Floats, upper: Floats) -> list[OpenNode]:
    open_nodes = []
    for at, low, high in zip(node.tolist(), lower.tolist(), upper.tolist(), strict=True):
        node_range = NodeRange(0, int(nodes.rows[at]), int(depth[at]), low, high, path=_path(nodes, at))
        open_nodes.append(OpenNode(at, node_range, nodes.evidence[at]))
    return open_nodes


def _path(nodes: Nodes, node: int) -> tuple[int, ...]:
    """Return the features that split the ancestors of a node, the root's first."""
    above: list[int] = []
    while (node := int(nodes.parent[node])) >= 0:
        above.append(int(nodes.feature[node]))
    return tuple(reversed(above))


def _parse(line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StorageError("its header is not JSON") from error
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
    """Read the arrays after the header; their sizes must fill the file."""
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


# ---- checks of nodes from a file -----------------------------------------------------------------------


def _check_nodes(nodes: Nodes, spec: GrowthSpec, summary: RowSummary) -> Counts:
    """Refuse nodes that do not form a tree of these columns and rows; return the depth of each node."""
    n = len(nodes.parent)
    same_length = all(len(getattr(nodes, name)) == n for name in Nodes._fields if name != "map")
    _expect(n > 0 and same_length, "arrays of one length, one entry per node")
    _expect(nodes.evidence.shape[1] == spec.n_channels, "evidence of every class, or weight and sum")
    n_children = _check_shape(nodes)
    _check_splits(nodes, n_children, spec)
    _check_counts(nodes, n_children, summary)
    depth = np.zeros(n, dtype=np.int64)
    for node, parent in enumerate(nodes.parent[1:].tolist(), start=1):
        depth[node] = depth[parent] + 1
    return depth


def _check_unfinished(
    nodes: Nodes, spec: GrowthSpec, unfinished: Counts, lower: Floats, upper: Floats
) -> None:
    """Refuse unfinished nodes that are inner nodes, that occur twice, or that have invalid bounds."""
    _expect(len(unfinished) == len(lower) == len(upper), "two bounds per unfinished node")
    _expect((unfinished >= 0) & (unfinished < len(nodes.parent)), "unfinished nodes among the nodes")
    _expect(nodes.feature[unfinished] < 0, "unfinished nodes without a split")
    _expect(len(np.unique(unfinished)) == len(unfinished), "each unfinished node once")
    least, most = spec.bounds
    _expect((lower >= least) & (lower <= upper) & (upper <= most), f"bounds from {least:g} to {most:g}")


def _check_shape(nodes: Nodes) -> Counts:
    """Check the order: the root first, parents before children, two or more adjacent siblings."""
    n, parent, slot = len(nodes.parent), nodes.parent, nodes.slot
    _expect(parent[0] == -1 and slot[0] == 0, "the root first")
    _expect((parent[1:] >= 0) & (parent[1:] < np.arange(1, n)), "parents before their children")
    follows = (parent[1:] == parent[:-1]) & (slot[1:] == slot[:-1] + 1)
    first = slot[1:] == 0
    _expect(follows | first, "adjacent siblings")
    _expect(len(np.unique(parent[1:][first])) == np.count_nonzero(first), "adjacent children of each node")
    n_children = np.bincount(parent[1:], minlength=n)
    _expect(n_children != 1, "two children or more per split")
    return n_children


def _check_splits(nodes: Nodes, n_children: Counts, spec: GrowthSpec) -> None:
    inner = n_children > 0
    _expect((nodes.feature >= 0) == inner, "a split where there are children")
    _expect((nodes.feature >= -1) & (nodes.feature < len(spec.nominal)), "splits of these features")
    _expect(
        (nodes.missing_slot >= -1) & (nodes.missing_slot < np.maximum(n_children, 1)), "slots of children"
    )
    _expect(np.isfinite(nodes.gain) == inner, "a gain where there is a split")
    n_codes, is_nominal = spec.n_codes, spec.nominal > 0
    ordered, mapped = (np.flatnonzero(inner)[is_nominal[nodes.feature[inner]] == kind] for kind in (0, 1))
    left, right = nodes.left[ordered], nodes.right[ordered]
    _expect((left >= 0) & (left < right) & (right <= n_codes[nodes.feature[ordered]]), "cuts between codes")
    _expect(n_children[ordered] <= 3, "two or three children of an ordered split")
    _expect(np.delete(nodes.map_start, mapped) == -1, "slots of categories at splits of nominal features")
    _expect(np.delete(nodes.left, ordered) == -1, "cuts at splits of ordered features")
    for node in mapped.tolist():
        begin, end = int(nodes.map_start[node]), int(nodes.map_start[node] + n_codes[nodes.feature[node]])
        _expect(0 <= begin <= end <= len(nodes.map), "slots of every category")
        slots = nodes.map[begin:end]
        _expect((slots >= -1) & (slots < n_children[node]), "slots of children")


def _check_counts(nodes: Nodes, n_children: Counts, summary: RowSummary) -> None:
    """Check that the rows of a node are those of its children, and that the root has all rows."""
    _expect(
        nodes.rows[0] == summary.n_rows and (nodes.evidence[0] == summary.counts).all(),
        "all rows in the root",
    )
    weights = nodes.evidence[:, :1] if summary.sums else nodes.evidence  # a sum may be negative
    for values in (nodes.rows, weights):
        _expect((values >= 0) & (values <= values[0]), "counts within the root's")
    for values in (nodes.rows, nodes.evidence):
        below = np.zeros_like(values)
        np.add.at(below, nodes.parent[1:], values[1:])
        inner = n_children > 0
        _expect(below[inner] == values[inner], "children that add up to their parent")


def _expect(holds: Bools | bool | np.bool_, what: str) -> None:
    if not np.all(holds):
        raise StorageError(f"its nodes do not form a tree of these rows; expected {what}")
