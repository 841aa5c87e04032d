"""Content of a model file in both formats: a header of plain values, and flat arrays.

The header has the format's name and version, sizes, features, classes, history, decision rule
unless it takes the most probable class, and the estimator. The arrays are those of the tree that cannot be
derived: level order gives parents and first children, the categories of the tested feature give ``slot_start``.
Of several trees each array is the concatenation over trees; two more arrays have the number of nodes
and the index of the history of each tree. Where nodes have slopes there are the arrays of their terms too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature
from hornbeam.errors import StorageError, TreeError
from hornbeam.smoothing.replay import check_history
from hornbeam.storage.limits import (
    DEEPEST,
    KINDS,
    SEVERAL,
    SLOPED,
    VERSION,
    WITH_SLOPES,
    Sizes,
    check_sizes,
    limits,
)
from hornbeam.storage.model import Model
from hornbeam.storage.values import encode, encode_scalar, encode_step, encode_text
from hornbeam.tree.tree import Tree


class Array(NamedTuple):
    """An array in the file: dtype, and what its axis runs over (nodes, trees, slots, terms)."""

    dtype: str
    per: tuple[str, ...]

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """Return the shape for these sizes."""
        return tuple(getattr(sizes, size) for size in self.per)


_NODE, _SLOT, _TERM = ("n_nodes",), ("n_slots",), ("n_terms",)
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
    "belief": Array("<f8", ("n_nodes", "n_outputs")),
    "borrowed": Array("<f8", _NODE),
}
OF_SKELETON = ("n_children", "feature", "threshold", "missing_slot", "slot_of")
OF_SLOPES = {
    "slope_node": Array("<i4", _TERM),
    "slope_feature": Array("<i4", _TERM),
    "slope_category": Array("<i4", _TERM),
    "slope_low": Array("<f8", _TERM),
    "slope_high": Array("<f8", _TERM),
    "slope_centre": Array("<f8", _TERM),
    "slope": Array("<f8", ("n_terms", "n_outputs")),
}  # in the order of the fields of `Slopes`
OF_COLLECTION = {
    "tree_nodes": Array("<i4", ("n_trees",)),
    "tree_history": Array("<i4", ("n_trees",)),
    **ARRAYS,
    "unit": Array("<f8", ("n_trees", "n_channels")),
}


def arrays_for(kind: str) -> dict[str, Array]:
    """Return the arrays of a file of this kind, in order."""
    arrays = OF_COLLECTION if kind in SEVERAL else ARRAYS
    return arrays | OF_SLOPES if kind in SLOPED else arrays


def arrays_of(model: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model, in the order and dtypes of the file."""
    for tree in model.trees:
        if tree.depth > DEEPEST:
            raise StorageError(
                f"the tree is {tree.depth:,} deep; expected at most {DEEPEST:,}: set max_depth"
            )
    if not model.is_several:
        return {
            name: np.ascontiguousarray(_of_tree(model.tree, name), array.dtype)
            for name, array in ARRAYS.items()
        } | _slopes(model.trees)
    of_trees: dict[str, Any] = {
        "tree_nodes": [tree.n_nodes for tree in model.trees],
        "tree_history": _histories(model.trees)[1],
    }
    for name, array in ARRAYS.items():
        of_trees[name] = np.concatenate(
            [np.empty(0, array.dtype), *(_of_tree(tree, name).ravel() for tree in model.trees)]
        )
    sizes = _sizes(model)
    return {
        name: np.asarray(of_trees[name], array.dtype).reshape(array.shape(sizes))
        for name, array in OF_COLLECTION.items()
    } | _slopes(model.trees)


def _slopes(trees: tuple[Tree, ...]) -> dict[str, NDArray[Any]]:
    """The arrays of all terms; nodes are numbered through all trees."""
    if not any(len(tree.slopes) for tree in trees):
        return {}
    first = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    parts = [tree.slopes.arrays for tree in trees]
    moved = [(part[0] + begin, *part[1:]) for part, begin in zip(parts, first, strict=False)]
    return {
        name: np.ascontiguousarray(np.concatenate(arrays), array.dtype)
        for (name, array), arrays in zip(OF_SLOPES.items(), zip(*moved, strict=True), strict=True)
    }


def _of_tree(tree: Tree, name: str) -> NDArray[Any]:
    array: NDArray[Any] = getattr(tree.skeleton if name in OF_SKELETON else tree, name)
    return array


def _histories(trees: tuple[Tree, ...]) -> tuple[list[Any], list[int]]:
    """The distinct histories of the trees in order of appearance, and the index of each tree's history."""
    content = [json.dumps([encode_step(step, "history") for step in tree.history]) for tree in trees]
    place = {history: at for at, history in enumerate(dict.fromkeys(content))}
    return [json.loads(history) for history in place], [place[history] for history in content]


def _check_histories(model: Model) -> None:
    """Raise `StorageError` for a history that could not be loaded."""
    for tree in model.trees:
        try:
            check_history(tree.history, model.schema)
        except TreeError as error:
            raise StorageError(
                f"{error}. Hornbeam has a smoother of that name: choose another name for a step of your own."
            ) from error


def _sizes(model: Model) -> Sizes:
    n_nodes = sum(tree.n_nodes for tree in model.trees)
    n_slots = sum(len(tree.skeleton.slot_of) for tree in model.trees)
    n_terms = sum(len(tree.slopes) for tree in model.trees)
    return Sizes(n_nodes, model.schema.n_classes, model.schema.n_features, n_slots, len(model.trees), n_terms)


def _kind(model: Model) -> str:
    """The kind of a file. Slopes make another one, because a reader that ignored them would predict otherwise."""
    kind = f"{model.kind}{WITH_SLOPES}" if any(len(tree.slopes) for tree in model.trees) else model.kind
    if kind not in KINDS:
        raise StorageError(
            "the tree of the rules has slopes; expected none: make rules of a tree without slopes"
        )
    return kind


def header_of(model: Model, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the header, in the order of the file."""
    schema, kind, sizes = model.schema, _kind(model), _sizes(model)
    most = limits(kind)
    _check_histories(model)
    histories, _ = _histories(model.trees)
    decision = None if model.is_several else _decision(model)
    header = {
        "format": "hornbeam",
        "version": list(VERSION),
        "sha256": "",
        "kind": kind,
        **{name: size for name, size in sizes._asdict().items() if name in most},
        "features": [_feature(feature) for feature in schema.features],
        "classes": [encode_scalar(label, "a class") for label in schema.classes],
        "history": histories if kind in SEVERAL else histories[0],
        **({} if decision is None else {"decision": decision}),
        "estimator": _estimator(model),
    }
    check_sizes(sizes, most)
    header["sha256"] = fingerprint(header, arrays)
    return header


def _feature(feature: Feature) -> dict[str, Any]:
    where = f"feature {feature.name!r}"
    content: dict[str, Any] = {"name": encode_text(feature.name, where), "kind": feature.kind.value}
    if not feature.is_numeric:
        content["categories"] = [
            encode_scalar(value, f"a category of {where}") for value in feature.categories
        ]
    return content


def _decision(model: Model) -> dict[str, Any] | None:
    """Encode the decision rule of a model as plain lists; None for the default rule."""
    decision = model.tree.decision
    if decision.is_default and model.settings.get("costs") is None and not model.learned.get("class_weight"):
        return None
    costs, weight = decision.costs, decision.class_weight
    return {
        "costs": None if costs is None else costs.matrix.tolist(),
        "class_weight": None if weight is None else weight.tolist(),
    }


def _estimator(model: Model) -> dict[str, Any] | None:
    if model.estimator is None:
        return None
    name = model.estimator

    def written(values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: encode(values[key], f"{name}'s {key}") for key in sorted(values)}

    return {"name": name, "settings": written(model.settings), "learned": written(model.learned)}


def fingerprint(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hash the content of a file; JSON and safetensors of one model have the same hash."""
    content = {key: value for key, value in header.items() if key != "sha256"}
    sha = hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
    for name, form in arrays_for(header["kind"]).items():
        array = np.ascontiguousarray(arrays[name], form.dtype)
        if array.dtype.kind == "f":
            array = np.where(array == array, array, np.nan).astype(form.dtype)  # all NaNs hash equally
        sha.update(f"\n{name} {array.size}\n".encode())
        sha.update(array.data)
    return sha.hexdigest()
