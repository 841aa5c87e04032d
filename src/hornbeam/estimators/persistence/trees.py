"""Codec of `TreeClassifier` and `TreeRegressor`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError, StorageError
from hornbeam.estimators.fit_tree import Fitted
from hornbeam.estimators.parameters.validators import resolve_bins
from hornbeam.estimators.persistence.labels import decode_class_weight, decode_classes, encode_classes
from hornbeam.estimators.persistence.parameters import (
    build_estimator,
    check_predict_parameters,
    encode_parameters,
)
from hornbeam.storage import Model
from hornbeam.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Counts

__all__ = ["pack", "tree_model", "unpack"]


def pack(estimator: Any) -> Model:
    """Convert an estimator into its tree and plain values."""
    names = estimator.tree_.schema.names if hasattr(estimator, "feature_names_in_") else None
    if estimator.tree_.is_regression:
        return tree_model(estimator.get_params(deep=False), Fitted(estimator.tree_, names))
    fitted = Fitted(estimator.tree_, names, estimator.class_weight_, estimator._shares)
    return tree_model(estimator.get_params(deep=False), fitted, estimator.classes_)


def tree_model(settings: Mapping[str, Any], fitted: Fitted, classes: NDArray[Any] | None = None) -> Model:
    """Return the model of a tree, from the parameters of its estimator and what was fitted.

    Examples
    --------
    >>> from hornbeam.recipe import PRESETS
    >>> from hornbeam.data import Table
    >>> tree = PRESETS["id3"].fit(Table.read([[0.0], [1.0]], [0, 1]))
    >>> tree_model({}, Fitted(tree, None), np.array([0, 1])).learned
    {'classes': 'int64', 'named': False}
    """
    encoded, named = encode_parameters(dict(sorted(settings.items()))), {"named": fitted.names is not None}
    if classes is None:
        return Model(fitted.tree, "TreeRegressor", encoded, named)
    learned = encode_classes(classes, fitted.class_weight) | named
    if fitted.shares is not None:
        learned["shares"] = fitted.shares
    return Model(fitted.tree, "TreeClassifier", encoded, learned)


def unpack(model: Model, cls: type[Any]) -> Any:
    """Convert a tree and plain values into an estimator."""
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
            estimator._set_fitted_tree(Fitted(tree, names, weight, shares), decode_classes(labels, dtype))
        case _:
            raise StorageError(
                "expected to have learned the type of the classes, and whether columns had names"
            )
    check_predict_parameters(estimator, tree.schema.classes)
    if not isinstance(estimator.preset, str):
        raise StorageError(f"preset is {estimator.preset!r:.80}; expected a name")
    try:
        resolve_bins(estimator.max_bins, None)  # candidates and edits use it
    except ParameterError as error:
        raise StorageError(str(error)) from error
    return estimator


def _shares(value: Any, tree: Tree) -> Counts | None:
    """Check the weight of known values per node, which distributes fractional rows."""
    if value is None:
        return None
    if isinstance(value, np.ndarray) and value.dtype == np.int64 and value.shape == (tree.n_nodes,):
        in_children = value - evidence_stopping(tree.skeleton, value)
        # The float sum comes first: it shows that the integer sums did not overflow.
        largest = max(value.sum(dtype=np.float64) / 2**12, value.max(), in_children.max())
        if value.min() >= 0 and largest < 2**50:
            return value
    raise StorageError(
        f"shares is {value!r:.80}; expected {tree.n_nodes} whole numbers, one per node, 0 or more and below 2**50"
    )
