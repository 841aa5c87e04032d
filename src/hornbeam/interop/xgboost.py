"""Trees from XGBoost."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema, generated_names
from hornbeam.errors import InteropError
from hornbeam.interop.imported_tree import ImportedTree, check_index, not_fitted_error, skeleton_from_binary
from hornbeam.interop.input_conventions import OTHER_CATEGORY, InputConventions, below
from hornbeam.typing import Category

type _Json = dict[str, Any]


def from_xgboost(model: Any, *, index: int = 0) -> ImportedTree:
    """Import one tree of an XGBoost model.

    Parameters
    ----------
    model : Booster or XGBModel
        Fitted, with trees as base learners.
    index : int, default 0
        Number of the tree; a round of a multiclass model has one tree per class.

    Returns
    -------
    ImportedTree
        It sends every row to the same leaf as the model: XGBoost rounds a value to float32 and compares it with the
        threshold; missing values go to the learned side; categories that are not in the set of a split, unseen ones
        included, go left. XGBoost stores no class counts: `ImportedTree.count` builds a tree from rows. The `nodes`
        are the numbers that ``predict(..., pred_leaf=True)`` returns.

    Raises
    ------
    InteropError
        If the tree does not exist, or the model is linear or has a missing value other than NaN.

    Notes
    -----
    If the model was trained on a data frame, the categories are the values of its columns; such a model refuses
    unseen values, and here they stop at the first split on the feature. Otherwise the categories are integers.

    Examples
    --------
    >>> import xgboost
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = xgboost.XGBClassifier(n_estimators=1, max_depth=1, min_child_weight=0).fit(X, y)
    >>> from_xgboost(model).count(X, y).evidence.tolist()
    [[2, 2], [2, 0], [0, 2]]
    """
    learner, trees = _read(model)
    tree = trees[check_index(index, len(trees))]
    return _imported_tree(tree, _conventions(model, learner, trees))


def imported_trees(model: Any) -> tuple[ImportedTree, ...]:
    """Import all trees of an XGBoost model."""
    learner, trees = _read(model)
    conventions = _conventions(model, learner, trees)
    return tuple(_imported_tree(tree, conventions) for tree in trees)


def n_rounds(model: Any) -> int:
    """Return the number of boosting rounds."""
    return int(_booster(model).num_boosted_rounds())


def _booster(model: Any) -> Any:
    if hasattr(model, "save_raw"):
        return model
    try:
        return model.get_booster()
    except AttributeError:  # also that of a model that is not fitted
        raise not_fitted_error(model, "a Booster of XGBoost, or a fitted XGBModel") from None


def _read(model: Any) -> tuple[_Json, list[_Json]]:
    booster = _booster(model)
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise InteropError(f"missing={missing} in the model, expected NaN. Turn those values into NaN first.")
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    booster = learner["gradient_booster"]
    booster = booster.get("gbtree", booster)  # a dart booster contains one
    if "trees" not in booster["model"]:
        raise InteropError(f"The model is a {booster.get('name')} booster, expected trees: train a gbtree.")
    learner["model"] = booster["model"]
    return learner, booster["model"]["trees"]


def _conventions(model: Any, learner: _Json, trees: list[_Json]) -> InputConventions:
    n_features = int(learner["learner_model_param"]["num_feature"])
    names = tuple(learner["feature_names"]) or generated_names(n_features)
    features = [Feature(name) for name in names]
    integer_coded = set()
    for i, categories in _frame_categories(learner["model"]).items():
        features[i] = Feature(names[i], Kind.NOMINAL, categories)
    for i, codes in _tested_categories(trees).items():
        if features[i].is_numeric:
            features[i] = Feature(names[i], Kind.NOMINAL, (*sorted(codes), OTHER_CATEGORY))
            integer_coded.add(i)
    classes = tuple(np.asarray(getattr(model, "classes_", ())).tolist())
    return InputConventions(Schema(tuple(features), classes), frozenset(integer_coded), "floor")


def _frame_categories(model: _Json) -> dict[int, tuple[Category, ...]]:
    """Categories of each column of a data frame, in the order of their codes."""
    categories: dict[int, tuple[Category, ...]] = {}
    for i, encoded in enumerate(model.get("cats", {}).get("enc", ())):
        values = encoded["values"]
        if "offsets" in encoded:
            text = bytes(value % 256 for value in values)
            values = [text[begin:end].decode() for begin, end in pairwise(encoded["offsets"])]
        if values:
            categories[i] = tuple(values)
    return categories


def _tested_categories(trees: list[_Json]) -> dict[int, set[int]]:
    tested: dict[int, set[int]] = {}
    for tree in trees:
        for node, right in _right_categories(tree).items():
            tested.setdefault(tree["split_indices"][node], set()).update(right)
    return tested


def _right_categories(tree: _Json) -> dict[int, list[int]]:
    """Categories that go right at each nominal split."""
    ranges = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    return {node: tree["categories"][begin : begin + size] for node, begin, size in ranges}


def _imported_tree(tree: _Json, conventions: InputConventions) -> ImportedTree:
    feature = np.array(tree["split_indices"])
    skeleton, order = skeleton_from_binary(
        np.array(tree["left_children"]),
        np.array(tree["right_children"]),
        feature,
        below(np.array(tree["split_conditions"], np.float32)),
        np.array(tree["default_left"], np.bool_),
        {
            node: _slots(right, conventions, int(feature[node]))
            for node, right in _right_categories(tree).items()
        },
    )
    return ImportedTree("xgboost", conventions, skeleton, order.astype(np.int32))


def _slots(right: list[int], conventions: InputConventions, feature: int) -> NDArray[Any]:
    categories = conventions.schema.features[feature].categories
    if feature in conventions.integer_coded:
        return np.append(np.isin(np.array(categories[:-1]), right), False).astype(np.int32)
    return np.isin(np.arange(len(categories)), right).astype(np.int32)
