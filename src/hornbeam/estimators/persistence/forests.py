"""Codec of the forests.

The out-of-bag score is saved. The out-of-bag predictions are not: they are as long as the training data, and reveal
something about each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.ensembles import Forest
from hornbeam.errors import StorageError, TreeError
from hornbeam.estimators.persistence.labels import decode_class_weight, decode_classes, encode_classes
from hornbeam.estimators.persistence.parameters import (
    build_estimator,
    check_predict_parameters,
    decode_step,
    encode_parameters,
    encode_step,
    unexpected_state_error,
)
from hornbeam.storage import TreeCollection
from hornbeam.tree import Step, Tree

__all__ = ["pack", "unpack"]


def pack(estimator: Any) -> TreeCollection:
    """Convert an estimator into its trees and plain values."""
    forest = estimator.forest_
    learned = {
        "named": hasattr(estimator, "feature_names_in_"),
        "smoother": encode_step(estimator.smoother_),
    }
    if not forest.schema.is_regression:
        learned |= encode_classes(estimator.classes_, estimator.class_weight_)
    if forest.temperature != 1.0:
        learned["temperature"] = forest.temperature
    if hasattr(estimator, "oob_score_"):
        learned["oob_score"] = float(estimator.oob_score_)
    settings = encode_parameters(estimator.get_params(deep=False))
    return TreeCollection(forest.schema, forest.trees, type(estimator).__name__, settings, learned)


def unpack(collection: TreeCollection, cls: type[Any]) -> Any:
    """Convert trees and plain values into an estimator."""
    estimator, schema = build_estimator(cls, collection.settings), collection.schema
    own = {"named", "smoother"} | (set() if schema.is_regression else {"classes"})
    allowed = own | {"oob_score"} | (set() if schema.is_regression else {"class_weight", "temperature"})
    match collection.learned:
        case {"named": bool(named), "smoother": None | Step() as smoother, **rest} if (
            own <= collection.learned.keys() <= allowed
            and all(type(rest.get(name, 1.0)) is float for name in ("oob_score", "temperature"))
        ):
            forest = _forest(collection.trees, rest.get("temperature", 1.0))
            estimator._set_fitted(forest, schema.names if named else None)
            estimator.smoother_ = decode_step(smoother)
        case _:
            raise unexpected_state_error(cls, collection.learned, allowed)
    if not schema.is_regression:
        labels = schema.classes
        weight = decode_class_weight(rest.get("class_weight"), len(labels))
        estimator.classes_ = decode_classes(labels, rest["classes"])
        estimator.n_classes_ = len(labels)
        estimator.class_weight_ = np.ones(len(labels)) if weight is None else weight
    if "oob_score" in rest:
        estimator.oob_score_ = rest["oob_score"]
    check_predict_parameters(estimator)
    return estimator


def _forest(trees: tuple[Tree, ...], temperature: float) -> Forest:
    try:
        return Forest(trees, temperature)
    except TreeError as error:
        raise StorageError(str(error)) from error
