"""What a model file says, whichever way it is written: a header of plain values, and flat arrays.

The header has the format's name and version, four sizes, the features, the classes, the history and the
estimator. The arrays are those of the tree that cannot be derived: level order gives parents and first
children, the categories of the tested feature give ``slot_start``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import StorageError
from hornbeam.storage.model import Model
from hornbeam.storage.values import encode, encode_scalar, encode_step, encode_text, show
from hornbeam.tree import Tree

__all__ = [
    "ARRAYS",
    "DEEPEST",
    "OF_SKELETON",
    "VERSION",
    "Array",
    "Sizes",
    "arrays_of",
    "fingerprint",
    "header_of",
    "sizes_of",
]

VERSION = (1, 1)  # a reader of 1.x reads every 1.y; what 1.y adds may be left unread
KINDS = {
    "tree": (1, 0),
    "measured tree": (1, 1),
}  # classes, or a number; each with the version that brought it

MOST = {"n_nodes": 2**24, "n_classes": 2**16, "n_features": 2**17, "n_slots": 2**28}
MOST_CELLS = 2**28  # nodes times classes
DEEPEST = 2**16


class Sizes(NamedTuple):
    """The four sizes that every length follows from."""

    n_nodes: int
    n_classes: int
    n_features: int
    n_slots: int

    @property
    def n_channels(self) -> int:
        """Columns of evidence: the classes; without, weight, sum and squares."""
        return self.n_classes or 3

    @property
    def n_answers(self) -> int:
        """Columns of belief: the classes; without, the mean."""
        return self.n_classes or 1


class Array(NamedTuple):
    """An array of the file: its type, and of what it has an entry for each."""

    dtype: str
    per: tuple[str, ...]

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """Return the shape that the sizes give."""
        return tuple(getattr(sizes, size) for size in self.per)


_NODE, _SLOT = ("n_nodes",), ("n_slots",)
ARRAYS = {
    "n_children": Array("<i4", _NODE),
    "feature": Array("<i4", _NODE),
    "threshold": Array("<f8", _NODE),
    "missing_slot": Array("<i4", _NODE),
    "slot_of": Array("<i4", _SLOT),
    "rows": Array("<i8", _NODE),
    "evidence": Array("<i8", ("n_nodes", "n_channels")),
    "unit": Array("<f8", ("n_channels",)),
    "gain": Array("<f8", _NODE),
    "belief": Array("<f8", ("n_nodes", "n_answers")),
    "borrowed": Array("<f8", _NODE),
}
OF_SKELETON = ("n_children", "feature", "threshold", "missing_slot", "slot_of")
_KEYS = {
    "format",
    "version",
    "kind",
    *MOST,
    "features",
    "classes",
    "history",
    "estimator",
}
_OPTIONAL = {"sha256"}


def arrays_of(tree: Tree) -> dict[str, NDArray[Any]]:
    """Collect the arrays of a tree, in the order and the types of the file."""
    skeleton = tree.skeleton
    if tree.depth > DEEPEST:
        raise StorageError(f"the tree is {tree.depth:,} deep; expected at most {DEEPEST:,}: set max_depth")
    return {
        name: np.ascontiguousarray(getattr(skeleton if name in OF_SKELETON else tree, name), array.dtype)
        for name, array in ARRAYS.items()
    }


def header_of(model: Model) -> dict[str, Any]:
    """Write down everything but the arrays, in the order of the file."""
    tree, schema = model.tree, model.tree.schema
    sizes = Sizes(tree.n_nodes, schema.n_classes, schema.n_features, len(tree.skeleton.slot_of))
    kind = "measured tree" if tree.is_measured else "tree"
    header = {
        "format": "hornbeam",
        "version": list(KINDS[kind]),
        "sha256": "",
        "kind": kind,
        **sizes._asdict(),
        "features": [_feature(feature) for feature in schema.features],
        "classes": [encode_scalar(label, "a class") for label in schema.classes],
        "history": [encode_step(step, "history") for step in tree.history],
        "estimator": _estimator(model),
    }
    _check_sizes(sizes)
    header["sha256"] = fingerprint(header, tree)
    return header


def _feature(feature: Feature) -> dict[str, Any]:
    where = f"feature {feature.name!r}"
    said: dict[str, Any] = {"name": encode_text(feature.name, where), "kind": feature.kind.value}
    if feature.kind is not Kind.NUMERIC:
        said["categories"] = [encode_scalar(value, f"a category of {where}") for value in feature.categories]
    return said


def _estimator(model: Model) -> dict[str, Any] | None:
    if model.estimator is None:
        return None
    name = model.estimator

    def written(values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: encode(values[key], f"{name}'s {key}") for key in sorted(values)}

    return {"name": name, "settings": written(model.settings), "learned": written(model.learned)}


def fingerprint(header: Mapping[str, Any], tree: Tree) -> str:
    """Hash what a file says, not how it says it: text and tensors of one model have the same."""
    said = {key: value for key, value in header.items() if key not in _OPTIONAL}
    sha = hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode())
    for name, array in arrays_of(tree).items():
        if array.dtype.kind == "f":
            array = np.where(array == array, array, np.nan)  # every NaN is the same one
        sha.update(f"\n{name} {array.size}\n".encode())
        sha.update(array.data)
    return sha.hexdigest()


def sizes_of(header: Mapping[str, Any]) -> Sizes:
    """Read the sizes of a file, once it is known to be one of ours.

    Raises
    ------
    StorageError
        Not our format, a newer one, keys that are missing or unknown, or sizes beyond the limits.
    """
    if header.get("format") != "hornbeam":
        raise StorageError(
            f"format is {show(header.get('format'))}; expected 'hornbeam': this is no model of ours"
        )
    match header.get("version"):
        case [int(major), int(minor)] if bool not in (type(major), type(minor)) and minor >= 0:
            pass
        case version:
            raise StorageError(f"version is {show(version)}; expected two numbers like {list(VERSION)}")
    if major != VERSION[0]:
        raise StorageError(
            f"version is {major}.{minor}; this Hornbeam reads {VERSION[0]}.x: load it with the Hornbeam that "
            "wrote it, or a newer one"
        )
    missing = _KEYS - header.keys()
    if missing:
        raise StorageError(f"{min(missing)} is missing; expected {', '.join(sorted(_KEYS))}")
    unknown = header.keys() - _KEYS - _OPTIONAL
    if unknown and minor <= VERSION[1]:
        raise StorageError(
            f"{show(min(unknown))} is no key of version {major}.{minor}: delete it if you added it"
        )
    kind = header["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise StorageError(f"kind is {show(kind)}; expected 'tree': a newer Hornbeam may know it")
    sizes = Sizes(*(header[name] for name in MOST))
    _check_sizes(sizes)
    if kind == "measured tree" and sizes.n_classes:
        raise StorageError(
            f"n_classes is {sizes.n_classes}; expected 0: the target of a measured tree is a number"
        )
    return sizes


def _check_sizes(sizes: Sizes) -> None:
    for (name, most), size in zip(MOST.items(), sizes, strict=True):
        if type(size) is not int or not 0 <= size <= most:
            raise StorageError(f"{name} is {show(size)}; expected a whole number from 0 to {most:,}")
    cells = sizes.n_nodes * sizes.n_classes
    if cells > MOST_CELLS:
        raise StorageError(f"n_nodes times n_classes is {cells:,}; expected at most {MOST_CELLS:,}")
