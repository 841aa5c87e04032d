"""A ForestClassifier or a ForestRegressor on the shelf.

What it answered to the rows of `fit` out of bag stays behind: it is as long as they are, and says something of each
of them. Its score comes along.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.ensembles import Forest
from hornbeam.errors import StorageError, TreeError
from hornbeam.estimators.shelf_labels import class_weight_of, classes_of, said_of_classes
from hornbeam.estimators.shelf_settings import as_step, check_answering, from_step, made, plain, unlearnable
from hornbeam.storage import Grove
from hornbeam.tree import Step, Tree

__all__ = ["pack", "unpack"]


def pack(estimator: Any) -> Grove:
    """Take a forest apart into its trees and plain values."""
    forest = estimator.forest_
    learned = {
        "named": hasattr(estimator, "feature_names_in_"),
        "smoother": as_step(estimator.smoother_),
    }
    if not forest.schema.is_measured:
        learned |= said_of_classes(estimator.classes_, estimator.class_weight_)
    if forest.temperature != 1.0:
        learned["temperature"] = forest.temperature
    if hasattr(estimator, "oob_score_"):
        learned["oob_score"] = float(estimator.oob_score_)
    settings = plain(estimator.get_params(deep=False))
    return Grove(forest.schema, forest.trees, type(estimator).__name__, settings, learned)


def unpack(grove: Grove, cls: type[Any]) -> Any:
    """Put a forest together again."""
    estimator, schema = made(cls, grove.settings), grove.schema
    own = {"named", "smoother"} | (set() if schema.is_measured else {"classes"})
    allowed = own | {"oob_score"} | (set() if schema.is_measured else {"class_weight", "temperature"})
    match grove.learned:
        case {"named": bool(named), "smoother": None | Step() as smoother, **rest} if (
            own <= grove.learned.keys() <= allowed
            and all(type(rest.get(name, 1.0)) is float for name in ("oob_score", "temperature"))
        ):
            forest = _forest(grove.trees, rest.get("temperature", 1.0))
            estimator._remember(forest, schema.names if named else None)
            estimator.smoother_ = from_step(smoother)
        case _:
            raise unlearnable(cls, grove.learned, allowed)
    if not schema.is_measured:
        labels = schema.classes
        weight = class_weight_of(rest.get("class_weight"), len(labels))
        estimator.classes_ = classes_of(labels, rest["classes"])
        estimator.n_classes_ = len(labels)
        estimator.class_weight_ = np.ones(len(labels)) if weight is None else weight
    if "oob_score" in rest:
        estimator.oob_score_ = rest["oob_score"]
    check_answering(estimator)
    return estimator


def _forest(trees: tuple[Tree, ...], temperature: float) -> Forest:
    try:
        return Forest(trees, temperature)
    except TreeError as error:
        raise StorageError(str(error)) from error
