"""Codec of the boosting estimators: regression trees, and the start scores they are added to."""

from __future__ import annotations

from itertools import batched
from typing import Any

import numpy as np

from hornbeam.data.schema import Kind, Schema
from hornbeam.ensembles import BoostedTrees
from hornbeam.errors import SchemaError, StorageError
from hornbeam.estimators.persistence.labels import decode_classes, encode_classes
from hornbeam.estimators.persistence.parameters import (
    build_estimator,
    check_predict_parameters,
    encode_parameters,
    unexpected_state_error,
)
from hornbeam.storage import TreeCollection
from hornbeam.typing import Floats

__all__ = ["pack", "unpack"]


def pack(estimator: Any) -> TreeCollection:
    """Convert an estimator into its trees and plain values."""
    boosted = estimator.boosted_
    learned = {"named": hasattr(estimator, "feature_names_in_"), "start": boosted.start}
    if hasattr(estimator, "validation_losses_"):
        learned["validation_losses"] = estimator.validation_losses_
    if not boosted.schema.is_regression:
        learned |= encode_classes(estimator.classes_) | {"labels": boosted.schema.classes}
    tree_schema = Schema(boosted.schema.features, (), Kind.NUMERIC)
    settings = encode_parameters(estimator.get_params(deep=False))
    return TreeCollection(tree_schema, boosted.trees, type(estimator).__name__, settings, learned)


def unpack(collection: TreeCollection, cls: type[Any]) -> Any:
    """Convert trees and plain values into an estimator."""
    estimator, is_classifier = (
        build_estimator(cls, collection.settings),
        cls.__name__ == "BoostedTreesClassifier",
    )
    own = {"named", "start"} | ({"classes", "labels"} if is_classifier else set())
    allowed = own | {"validation_losses"}
    match collection.learned:
        case {"named": bool(named), "start": np.ndarray() as start, **rest} if (
            own <= collection.learned.keys() <= allowed
        ):
            pass
        case _:
            raise unexpected_state_error(cls, collection.learned, allowed)
    schema = _labelled(collection.schema, rest["labels"]) if is_classifier else collection.schema
    n_outputs = 1 if schema.n_classes in (0, 2) else schema.n_classes
    boosted = _boosted(collection, schema, start, n_outputs)
    estimator._set_fitted(boosted, schema.names if named else None)
    estimator.n_iter_ = len(boosted.rounds)
    if is_classifier:
        estimator.classes_ = decode_classes(schema.classes, rest["classes"])
        estimator.n_classes_ = schema.n_classes
    if "validation_losses" in rest:
        estimator.validation_losses_ = _finite("validation_losses", rest["validation_losses"], None)
    check_predict_parameters(estimator)
    if hasattr(estimator, "_loss"):
        _check_loss(estimator)
    return estimator


def _labelled(schema: Schema, labels: Any) -> Schema:
    """Return the schema with class labels as the target."""
    if type(labels) is not tuple or not labels or set(map(type, labels)) - {str, int, float, bool}:
        raise StorageError(f"labels is {labels!r:.80}; expected strings, numbers or booleans, at least one")
    try:
        return Schema(schema.features, labels)
    except SchemaError as error:
        raise StorageError(str(error)) from error


def _boosted(collection: TreeCollection, schema: Schema, start: Floats, n_outputs: int) -> BoostedTrees:
    start = _finite("start", start, n_outputs)
    if len(collection.trees) % n_outputs:
        raise StorageError(
            f"there are {len(collection.trees)} trees; expected a multiple of {n_outputs}, one per round and output"
        )
    with np.errstate(over="ignore"):
        bound = np.abs(start).sum() + sum(np.abs(tree.belief).max() for tree in collection.trees)
    if not np.isfinite(bound):
        raise StorageError("the trees may add up to more than any number; expected scores that stay finite")
    return BoostedTrees(schema, start, tuple(batched(collection.trees, n_outputs)))


def _finite(name: str, value: Any, length: int | None) -> Floats:
    is_vector = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1
    if is_vector and np.isfinite(value).all() and length in (None, len(value)):
        vector: Floats = value
        return vector
    expected = "finite numbers" if length is None else f"{length} finite numbers"
    raise StorageError(f"{name} is {value!r:.80}; expected {expected}")


def _check_loss(estimator: Any) -> None:
    """Raise `StorageError` for a wrong loss: a regressor needs it to predict."""
    try:
        estimator._loss()
    except (TypeError, ValueError) as error:
        raise StorageError(str(error)) from error
