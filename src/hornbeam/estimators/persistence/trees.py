"""A TreeClassifier or a TreeRegressor on the shelf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import StorageError
from hornbeam.estimators.persistence.labels import decode_class_weight, decode_classes, encode_classes
from hornbeam.estimators.persistence.parameters import (
    build_estimator,
    check_predict_parameters,
    encode_parameters,
)
from hornbeam.storage import Model
from hornbeam.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Counts, Floats

__all__ = ["model_of", "pack", "unpack"]


def pack(estimator: Any) -> Model:
    """Take an estimator apart into its tree and plain values."""
    name, settings = type(estimator).__name__, estimator.get_params(deep=False)
    tree, named = estimator.tree_, hasattr(estimator, "feature_names_in_")
    if tree.is_regression:
        return Model(tree, name, encode_parameters(settings), {"named": named})
    weight, shares = estimator.class_weight_, estimator._shares
    return model_of(name, settings, tree, estimator.classes_, named, weight, shares)


def model_of(
    name: str,
    settings: Mapping[str, Any],
    tree: Tree,
    classes: NDArray[Any],
    named: bool,
    class_weight: Floats | None,
    shares: Counts | None,
) -> Model:
    """Make what a file holds of what an estimator was told and what it learned.

    Examples
    --------
    >>> from hornbeam.recipe import PRESETS
    >>> from hornbeam.data import Table
    >>> tree = PRESETS["id3"].fit(Table.read([[0.0], [1.0]], [0, 1]))
    >>> model_of("TreeClassifier", {}, tree, np.array([0, 1]), False, None, None).learned
    {'classes': 'int64', 'named': False}
    """
    learned = encode_classes(classes, class_weight) | {"named": named}
    if shares is not None:
        learned["shares"] = shares
    return Model(tree, name, encode_parameters(settings), learned)


def unpack(model: Model, cls: type[Any]) -> Any:
    """Put an estimator together again."""
    estimator, tree = build_estimator(cls, model.settings), model.tree
    match model.learned:
        case {"named": bool(named), **rest} if tree.is_regression and not rest:
            estimator._set_fitted(tree, tree.schema.names if named else None)
        case {"classes": str(dtype), "named": bool(named), **rest} if rest.keys() <= {
            "class_weight",
            "shares",
        }:
            names, labels = tree.schema.names if named else None, tree.schema.classes
            weight = decode_class_weight(rest.get("class_weight"), len(labels))
            shares = _shares(rest.get("shares"), tree)
            estimator._set_fitted_tree(tree, decode_classes(labels, dtype), names, weight, shares)
        case _:
            raise StorageError(
                "expected to have learned the type of the classes, and whether columns had names"
            )
    check_predict_parameters(estimator, tree.schema.classes)
    return estimator


def _shares(said: Any, tree: Tree) -> Counts | None:
    """Read what missing values are shared by where they go to every child."""
    if said is None:
        return None
    if isinstance(said, np.ndarray) and said.dtype == np.int64 and said.shape == (tree.n_nodes,):
        family = said - evidence_stopping(tree.skeleton, said)
        # The first so that none of the others wraps.
        sums = max(said.sum(dtype=np.float64) / 2**12, said.max(), family.max())
        if said.min() >= 0 and sums < 2**50:
            return said
    raise StorageError(
        f"shares is {said!r:.80}; expected {tree.n_nodes} whole numbers, one a node, 0 or more and below 2**50"
    )
