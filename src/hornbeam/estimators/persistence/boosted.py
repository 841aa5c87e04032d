"""Boosted trees and a ranker on the shelf: trees of a number, whatever they are added up to."""

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
    """Take boosted trees apart into their trees and plain values."""
    boosted = estimator.boosted_
    learned = {"named": hasattr(estimator, "feature_names_in_"), "start": boosted.start}
    if hasattr(estimator, "validation_losses_"):
        learned["validation_losses"] = estimator.validation_losses_
    if not boosted.schema.is_regression:
        learned |= encode_classes(estimator.classes_) | {"labels": boosted.schema.classes}
    of_trees = Schema(boosted.schema.features, (), Kind.NUMERIC)
    settings = encode_parameters(estimator.get_params(deep=False))
    return TreeCollection(of_trees, boosted.trees, type(estimator).__name__, settings, learned)


def unpack(grove: TreeCollection, cls: type[Any]) -> Any:
    """Put boosted trees together again."""
    estimator, names_classes = build_estimator(cls, grove.settings), cls.__name__ == "BoostedTreesClassifier"
    own = {"named", "start"} | ({"classes", "labels"} if names_classes else set())
    allowed = own | {"validation_losses"}
    match grove.learned:
        case {"named": bool(named), "start": np.ndarray() as start, **rest} if (
            own <= grove.learned.keys() <= allowed
        ):
            pass
        case _:
            raise unexpected_state_error(cls, grove.learned, allowed)
    schema = _labelled(grove.schema, rest["labels"]) if names_classes else grove.schema
    n_outputs = 1 if schema.n_classes in (0, 2) else schema.n_classes
    boosted = _boosted(grove, schema, start, n_outputs)
    estimator._set_fitted(boosted, schema.names if named else None)
    estimator.n_iter_ = len(boosted.rounds)
    if names_classes:
        estimator.classes_ = decode_classes(schema.classes, rest["classes"])
        estimator.n_classes_ = schema.n_classes
    if "validation_losses" in rest:
        estimator.validation_losses_ = _numbers("validation_losses", rest["validation_losses"], None)
    check_predict_parameters(estimator)
    if hasattr(estimator, "_loss"):
        _check_loss(estimator)
    return estimator


def _labelled(schema: Schema, labels: Any) -> Schema:
    """Give the columns their labels in the place of a number."""
    if type(labels) is not tuple or not labels or {type(one) for one in labels} - {str, int, float, bool}:
        raise StorageError(f"labels is {labels!r:.80}; expected strings, numbers or booleans, at least one")
    try:
        return Schema(schema.features, labels)
    except SchemaError as error:
        raise StorageError(str(error)) from error


def _boosted(grove: TreeCollection, schema: Schema, start: Floats, n_outputs: int) -> BoostedTrees:
    start = _numbers("start", start, n_outputs)
    if len(grove.trees) % n_outputs:
        raise StorageError(
            f"there are {len(grove.trees)} trees; expected a multiple of {n_outputs}, one a round for each output"
        )
    with np.errstate(over="ignore"):
        most = np.abs(start).sum() + sum(np.abs(tree.belief).max() for tree in grove.trees)
    if not np.isfinite(most):
        raise StorageError("the trees may add up to more than any number; expected scores that stay finite")
    return BoostedTrees(schema, start, tuple(batched(grove.trees, n_outputs)))


def _numbers(name: str, said: Any, length: int | None) -> Floats:
    is_list = isinstance(said, np.ndarray) and said.dtype == np.float64 and said.ndim == 1
    if is_list and np.isfinite(said).all() and length in (None, len(said)):
        numbers: Floats = said
        return numbers
    expected = "finite numbers" if length is None else f"{length} finite numbers"
    raise StorageError(f"{name} is {said!r:.80}; expected {expected}")


def _check_loss(estimator: Any) -> None:
    """A regressor answers by its loss, which its parameters name."""
    try:
        estimator._loss()
    except (TypeError, ValueError) as error:
        raise StorageError(str(error)) from error
