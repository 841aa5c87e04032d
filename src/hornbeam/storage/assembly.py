"""From a header and arrays to a model, believing nothing.

Sizes are compared with limits before arrays are looked at, arrays with sizes before they are made into a tree, and
`hornbeam.tree.check` sees the tree before anybody else does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import DataError, SchemaError, StorageError, TreeError
from hornbeam.storage.layout import ARRAYS, DEEPEST, OF_SKELETON, Sizes, fingerprint, sizes_of
from hornbeam.storage.model import Model
from hornbeam.storage.values import decode, decode_scalar, decode_step, decode_text, show
from hornbeam.tree import Skeleton, Step, Tree

__all__ = ["model_of"]


def model_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Model:
    """Make the model that a header and arrays describe; types and shapes of the arrays were checked.

    Raises
    ------
    StorageError
        Whatever is not sound; the message names it.
    """
    sizes = sizes_of(header)
    try:
        schema = _schema(header, sizes)
        tree = _tree(schema, sizes, arrays, _history(header["history"]))
    except (DataError, SchemaError, TreeError) as error:
        raise StorageError(str(error)) from error
    if tree.depth > DEEPEST:
        raise StorageError(f"the tree is {tree.depth:,} deep; expected at most {DEEPEST:,}")
    model = Model(tree, *_shell(header["estimator"]))
    stated = header.get("sha256")
    if stated is not None and stated != fingerprint(header, tree):
        raise StorageError(
            f"sha256 is {show(stated)}, but the content has another: the file was changed since it was saved. "
            "Take the original, or delete the entry sha256 to accept the change"
        )
    return model


def _schema(header: Mapping[str, Any], sizes: Sizes) -> Schema:
    features = _listed("features", header["features"], sizes.n_features)
    classes = _listed("classes", header["classes"], sizes.n_classes)
    return Schema(
        tuple(map(_read_feature, features)),
        tuple(decode_scalar(label, "a class") for label in classes),
        Kind.NUMERIC if header["kind"] == "measured tree" else Kind.NOMINAL,
    )


def _listed(name: str, value: object, length: int) -> list[Any]:
    if type(value) is not list or len(value) != length:
        found = f"has {len(value):,} entries" if type(value) is list else f"is {show(value)}"
        raise StorageError(f"{name} {found}; expected a list of {length:,}")
    return value


def _read_feature(said: object) -> Feature:
    match said:
        case {"name": name, "kind": "numeric", **rest} if not rest:
            return Feature(decode_text(name, "a feature's name"))
        case {"name": name, "kind": "nominal" | "ordinal" as kind, "categories": list(values), **rest} if (
            not rest
        ):
            name = decode_text(name, "a feature's name")
            where = f"a category of feature {show(name)}"
            return Feature(name, Kind(kind), tuple(decode_scalar(value, where) for value in values))
    raise StorageError(
        f"a feature is {show(said)}; expected its name and kind, and the categories of one that is not numeric"
    )


def _history(said: object) -> tuple[Step, ...]:
    if type(said) is not list:
        raise StorageError(f"history is {show(said)}; expected a list of steps")
    return tuple(decode_step(step, "history") for step in said)


def _shell(said: object) -> tuple[Any, ...]:
    match said:
        case None:
            return ()
        case {"name": name, "settings": dict(settings), "learned": dict(learned), **rest} if not rest:
            name = decode_text(name, "the estimator's name")
            return name, _read_settings(settings, name), _read_settings(learned, name)
    raise StorageError(f"estimator is {show(said)}; expected null, or a name, settings and what was learned")


def _read_settings(said: dict[str, Any], name: str) -> dict[str, Any]:
    return {decode_text(key, name): decode(value, f"{name}'s {show(key)}") for key, value in said.items()}


def _tree(
    schema: Schema, sizes: Sizes, arrays: Mapping[str, NDArray[Any]], history: tuple[Step, ...]
) -> Tree:
    feature = arrays["feature"]
    if sizes.n_nodes and not -1 <= feature.min() <= feature.max() < sizes.n_features:
        raise StorageError(
            f"feature runs from {feature.min()} to {feature.max()}; expected -1 to n_features - 1"
        )
    # One entry more, so that -1, the feature of a leaf, finds no categories there.
    width = [len(f.categories) if f.kind is Kind.NOMINAL else 0 for f in schema.features] + [0]
    slot_start = np.concatenate(([0], np.cumsum(np.array(width)[feature])))
    if slot_start[-1] != sizes.n_slots:
        raise StorageError(
            f"n_slots is {sizes.n_slots:,}; expected {slot_start[-1]:,}, one for each category of each nominal test"
        )
    skeleton = Skeleton.of(**{name: arrays[name] for name in OF_SKELETON}, slot_start=slot_start)
    rest = {name: arrays[name] for name in ARRAYS if name not in OF_SKELETON}
    return Tree(schema, skeleton, **rest, history=history)
