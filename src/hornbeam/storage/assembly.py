"""Build a model from the header and arrays of a file, with every value checked.

Sizes are compared with limits before arrays are read, arrays with sizes before they become a tree, and
`hornbeam.tree.check` checks the tree before it is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import inf, isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import DataError, ParameterError, SchemaError, StorageError, TreeError, warn
from hornbeam.smoothing.replay import check_history, known_part
from hornbeam.storage.earlier import present_estimator, present_parameters, present_step
from hornbeam.storage.layout import ARRAYS, OF_SKELETON, OF_SLOPES, fingerprint
from hornbeam.storage.limits import DEEPEST, MOST_NODES, REGRESSION, SEVERAL, VERSION, Sizes, sizes_of
from hornbeam.storage.model import Model
from hornbeam.storage.values import decode, decode_scalar, decode_step, decode_text, show
from hornbeam.tree import Costs, DecisionRule, Skeleton, Slopes, Step
from hornbeam.tree.edit import with_decision
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats, Label


def model_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Model:
    """Build the model described by a header and arrays with checked types and shapes.

    A file without fingerprint gets a warning: it may have been changed by hand.
    """
    sizes, kind = sizes_of(header), header["kind"]
    if "decision" in header and kind in (*SEVERAL, *REGRESSION):
        raise StorageError(
            f"there is a decision in a file of kind {kind!r}; expected it with one tree of classes"
        )
    try:
        schema = _schema(header, sizes)
        name, settings, learned = _estimator(header["estimator"])
        native = {
            name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()
        }
        trees = tuple(_trees(schema, sizes, native, header))
        if kind not in SEVERAL:
            decision = decode_decision(header.get("decision"), schema.classes, name, settings, learned)
            trees = (with_decision(trees[0], decision),)
    except (DataError, SchemaError, TreeError) as error:
        raise StorageError(str(error)) from error
    content: Literal["trees", "tree", "rules"] = "trees" if kind in SEVERAL else "tree"
    model = Model(schema, trees, name, settings, learned, "rules" if kind == "rules" else content)
    stated = header.get("sha256")
    if stated is not None and stated != fingerprint(header, arrays):
        raise StorageError(
            f"sha256 is {show(stated)}, but the content has another: the file was changed since it was saved. "
            "Take the original, or delete the entry sha256 to accept the change"
        )
    if stated is None:
        warn(
            "the file has no sha256, so a change by hand cannot be detected. If a split was changed, counts and "
            "predictions are still those of the old one: change it with `edit(X, y)` of the estimator instead. If the "
            "file is right, save it again."
        )
    return model


def _schema(header: Mapping[str, Any], sizes: Sizes) -> Schema:
    features = _listed("features", header["features"], sizes.n_features)
    classes = _listed("classes", header["classes"], sizes.n_classes)
    return Schema(
        tuple(map(_read_feature, features)),
        tuple(decode_scalar(label, "a class") for label in classes),
        Kind.NUMERIC if header["kind"] in REGRESSION else Kind.NOMINAL,
    )


def _listed(name: str, value: object, length: int) -> list[Any]:
    if type(value) is not list or len(value) != length:
        found = f"has {len(value):,} entries" if type(value) is list else f"is {show(value)}"
        raise StorageError(f"{name} {found}; expected a list of {length:,}")
    return value


def _read_feature(content: object) -> Feature:
    match content:
        case {"name": name, "kind": "numeric", **rest} if not rest:
            return Feature(decode_text(name, "a feature's name"))
        case {"name": name, "kind": "nominal" | "ordinal" as kind, "categories": list(values), **rest} if (
            not rest
        ):
            name = decode_text(name, "a feature's name")
            where = f"a category of feature {show(name)}"
            return Feature(name, Kind(kind), tuple(decode_scalar(value, where) for value in values))
    raise StorageError(
        f"a feature is {show(content)}; expected its name and kind, and the categories of one that is not numeric"
    )


def _history(content: object, schema: Schema, newer: bool) -> tuple[Step, ...]:
    if type(content) is not list:
        raise StorageError(f"history is {show(content)}; expected a list of steps")
    history = tuple(present_step(decode_step(step, "history")) for step in content)
    if newer:  # keys added by a newer version are ignored
        history = tuple(_without_unknown(known_part(step)) for step in history)
    check_history(history, schema)
    for step in history:
        if step.name == "recount":
            _check_class_weight(dict(step.parameters).get("class_weight"), schema)
    return history


def _without_unknown(step: Step) -> Step:
    if step.name != "grow":
        return step
    from hornbeam.growing.settings import GrowthSettings

    return Step(step.name, tuple(one for one in step.parameters if one[0] in GrowthSettings.__slots__))


def _check_class_weight(value: object, schema: Schema) -> None:
    """Refuse class weights of a recount that are not a number from 0 for each class."""
    if value is not None and not (
        type(value) is tuple
        and len(value) == schema.n_classes
        and all(type(one) in (int, float) and 0 <= one < inf for one in value)
    ):
        raise StorageError(
            f"class_weight of the step 'recount' is {show(value)}; expected a number for each class"
        )


def _estimator(content: object) -> tuple[str | None, dict[str, Any], dict[str, Any]]:
    match content:
        case None:
            return None, {}, {}
        case {"name": name, "settings": dict(settings), "learned": dict(learned), **rest} if not rest:
            name = decode_text(name, "the estimator's name")
            settings = present_parameters(_read_settings(settings, name))
            return present_estimator(name), settings, _read_settings(learned, name)
    raise StorageError(
        f"estimator is {show(content)}; expected null, or a name, settings and what was learned"
    )


def _read_settings(content: dict[str, Any], name: str) -> dict[str, Any]:
    return {decode_text(key, name): decode(value, f"{name}'s {show(key)}") for key, value in content.items()}


def _trees(
    schema: Schema, sizes: Sizes, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]
) -> Iterator[Tree]:
    slot_start = _slot_start(schema, sizes, arrays["feature"])
    newer = header["version"][1] > VERSION[1]
    slopes = Slopes(*[arrays[name] for name in OF_SLOPES]) if "slope" in arrays else Slopes.none()
    if header["kind"] not in SEVERAL:
        yield _tree(schema, arrays, slot_start, _history(header["history"], schema, newer), slopes)
        return
    if type(header["history"]) is not list:
        raise StorageError(f"history is {show(header['history'])}; expected a list of histories")
    histories = [_history(steps, schema, newer) for steps in header["history"]]
    which = arrays["tree_history"]
    if sizes.n_trees and not 0 <= which.min() <= which.max() < len(histories):
        raise StorageError(
            f"tree_history runs from {which.min()} to {which.max()}; expected 0 to {len(histories) - 1}, the histories"
        )
    for at, (begin, end) in enumerate(pairwise(_bounds(arrays["tree_nodes"], sizes.n_nodes))):
        first, last = slot_start[begin], slot_start[end]
        part = {name: arrays[name][begin:end] for name, array in ARRAYS.items() if array.per[0] == "n_nodes"}
        part |= {"slot_of": arrays["slot_of"][first:last], "unit": arrays["unit"][at]}
        try:
            own = slopes.of_nodes(begin, end)
            yield _tree(schema, part, slot_start[begin : end + 1] - first, histories[which[at]], own)
        except (StorageError, TreeError) as error:
            raise StorageError(f"tree {at}: {error}") from error


def _bounds(tree_nodes: NDArray[Any], n_nodes: int) -> list[int]:
    """First node of each tree, and the total number of nodes."""
    if len(tree_nodes) and not 1 <= tree_nodes.min() <= tree_nodes.max() <= MOST_NODES:
        raise StorageError(
            f"tree_nodes runs from {tree_nodes.min()} to {tree_nodes.max()}; expected 1 to {MOST_NODES:,} nodes a tree"
        )
    bounds = [0, *np.cumsum(tree_nodes, dtype=np.int64).tolist()]
    if bounds[-1] != n_nodes:
        raise StorageError(f"tree_nodes adds up to {bounds[-1]:,}; expected {n_nodes:,}, which is n_nodes")
    return bounds


def _slot_start(schema: Schema, sizes: Sizes, feature: NDArray[Any]) -> NDArray[Any]:
    """First slot of each node, from the numbers of categories of the split features."""
    if sizes.n_nodes and not -1 <= feature.min() <= feature.max() < sizes.n_features:
        raise StorageError(
            f"feature runs from {feature.min()} to {feature.max()}; expected -1 to n_features - 1"
        )
    # One more entry, so that index -1, the feature of a leaf, has 0 categories.
    width = [len(f.categories) if f.is_nominal else 0 for f in schema.features] + [0]
    slot_start = np.concatenate(([0], np.cumsum(np.array(width)[feature])))
    if slot_start[-1] != sizes.n_slots:
        raise StorageError(
            f"n_slots is {sizes.n_slots:,}; expected {slot_start[-1]:,}, one for each category of each nominal test"
        )
    return slot_start


def _tree(
    schema: Schema,
    arrays: Mapping[str, NDArray[Any]],
    slot_start: NDArray[Any],
    history: tuple[Step, ...],
    slopes: Slopes,
) -> Tree:
    skeleton = Skeleton.of(**{name: arrays[name] for name in OF_SKELETON}, slot_start=slot_start)
    rest: dict[str, Any] = {name: arrays[name] for name in ARRAYS if name not in OF_SKELETON}
    tree = Tree(schema, skeleton, **rest, history=history, slopes=slopes)
    if tree.depth > DEEPEST:
        raise StorageError(f"the tree is {tree.depth:,} deep; expected at most {DEEPEST:,}")
    return tree


def decode_decision(
    content: object,
    classes: tuple[Label, ...],
    estimator: str | None,
    settings: Mapping[str, Any],
    learned: Mapping[str, Any],
) -> DecisionRule:
    """Decode the decision rule of a tree; before version 1.3 it is in the estimator's settings."""
    k = len(classes)
    match content:
        case {"costs": costs, "class_weight": weight, **rest} if not rest:
            if costs is not None:
                if type(costs) is not list or len(costs) != k:
                    raise StorageError(f"costs are {show(costs)}; expected {k} lists")
                costs = Costs(np.array([_numbers(row, k, "a row of costs", "finite") for row in costs]))
            return DecisionRule(costs, _weights(weight, k))
        case None if estimator == "TreeClassifier":
            try:
                costs = settings.get("costs")
                costs = None if costs is None else Costs.of(costs, classes)
            except ParameterError as error:
                raise StorageError(str(error)) from error
            return DecisionRule(costs, _weights(learned.get("class_weight"), k))
        case None:
            return DecisionRule()
    raise StorageError(f"decision is {show(content)}; expected costs and class_weight, each null or a list")


def _weights(content: object, k: int) -> Floats | None:
    return (
        None if content is None else _numbers(content, k, "class_weight", "0 or more and finite", least=0.0)
    )


def _numbers(content: object, k: int, name: str, expected_range: str, least: float = -inf) -> Floats:
    """Read a list of finite numbers, each at least `least`."""

    def sound(one: object) -> bool:
        return isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one) and one >= least

    match content:
        case [*numbers] if len(numbers) == k and all(map(sound, numbers)):
            return np.array(numbers, np.float64)
    raise StorageError(f"{name} is {show(content)}; expected {k} numbers, {expected_range}")
