"""Trees from LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema, generated_names
from hornbeam.errors import InteropError
from hornbeam.interop.imported_tree import ImportedTree, check_index, not_fitted_error, skeleton_from_binary
from hornbeam.interop.input_conventions import OTHER_CATEGORY, InputConventions
from hornbeam.typing import Bools, Category

# Bits of decision_type: nominal split, missing values go left, and two bits for the type of missing value.
_NOMINAL, _DEFAULT_LEFT = 1, 2
_MISSING_ZERO, _MISSING_NAN = 1, 2
_ZERO = float(np.float32(1e-35))

type _Section = dict[str, str]


def from_lightgbm(model: Any, *, index: int = 0) -> ImportedTree:
    """Import one tree of a LightGBM model.

    Parameters
    ----------
    model : Booster or LGBMModel
        Fitted.
    index : int, default 0
        Number of the tree; a round of a multiclass model has one tree per class.

    Returns
    -------
    ImportedTree
        It sends every row to the same leaf as the model. Missing values follow LightGBM's type of the feature: none
        (they are read as 0), zero (0 is missing too) or NaN. Negative, unseen and missing categories go right.
        LightGBM stores no class counts: `ImportedTree.count` builds a tree from rows. The `nodes` are the numbers
        that ``predict(..., pred_leaf=True)`` returns, -1 for inner nodes.

    Raises
    ------
    InteropError
        If the tree does not exist, or the model does not say which columns of the data frame are categorical.

    Notes
    -----
    If the model was trained on a data frame, the categories are the values of its columns; otherwise they are
    integers, to which LightGBM truncates all values. LightGBM replaces spaces in names by underscores, and converts
    arrays of integers to float32, which is not exact above 2**24.

    Examples
    --------
    >>> import lightgbm
    >>> X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat(["no", "yes"], 10)
    >>> model = lightgbm.LGBMClassifier(n_estimators=1, min_child_samples=5, verbose=-1).fit(X, y)
    >>> from_lightgbm(model).count(X, y).evidence.tolist()
    [[10, 10], [10, 0], [0, 10]]
    """
    booster = _booster(model)
    n_trees, width = int(booster.num_trees()), int(booster.num_model_per_iteration())
    index = check_index(index, n_trees)
    text = booster.model_to_string(num_iteration=1, start_iteration=index // width)
    return _imported_trees(model, booster, text)[index % width]


def imported_trees(model: Any) -> tuple[ImportedTree, ...]:
    """Import all trees of a LightGBM model."""
    booster = _booster(model)
    return _imported_trees(model, booster, booster.model_to_string())


def n_rounds(model: Any) -> int:
    """Return the number of boosting rounds."""
    return int(_booster(model).current_iteration())


def _booster(model: Any) -> Any:
    booster = model if hasattr(model, "model_to_string") else getattr(model, "booster_", None)
    if booster is None:
        raise not_fitted_error(model, "a Booster of LightGBM, or a fitted LGBMModel")
    return booster


def _imported_trees(model: Any, booster: Any, text: str) -> tuple[ImportedTree, ...]:
    head, *parts = text.partition("\nend of trees")[0].split("\nTree=")
    sections = [_section(part) for part in parts]
    conventions = _conventions(model, booster, _section(head), text, sections)
    return tuple(_imported_tree(section, conventions) for section in sections)


def _section(text: str) -> _Section:
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, _, value in pairs}


def _numbers[T: np.generic](section: _Section, key: str, dtype: type[T]) -> NDArray[T]:
    return np.array(section.get(key, "").split(), dtype)


def _conventions(
    model: Any, booster: Any, head: _Section, text: str, sections: list[_Section]
) -> InputConventions:
    infos = head["feature_infos"].split(" ")
    names = tuple(booster.feature_name())
    if names == tuple(f"Column_{i}" for i in range(len(names))):
        names = generated_names(len(names))
    frame_categories = _frame_categories(booster, text)
    features, integer_coded = [], set()
    for i, (name, info) in enumerate(zip(names, infos, strict=True)):
        if i in frame_categories:
            features.append(Feature(name, Kind.NOMINAL, (*frame_categories[i], OTHER_CATEGORY)))
        elif info == "none" or info.startswith("["):
            features.append(Feature(name))
        else:
            codes = sorted(code for code in map(int, info.split(":")) if code >= 0)
            features.append(Feature(name, Kind.NOMINAL, (*codes, OTHER_CATEGORY)))
            integer_coded.add(i)
    classes = tuple(np.asarray(getattr(model, "classes_", ())).tolist())
    zero = frozenset(_zero_is_missing(sections))
    return InputConventions(Schema(tuple(features), classes), frozenset(integer_coded), "trunc", zero, _ZERO)


def _frame_categories(booster: Any, text: str) -> dict[int, tuple[Category, ...]]:
    """Categories of each column of a data frame, in the order of their codes."""
    values = booster.pandas_categorical
    if not values:
        return {}
    listed = text.partition("[categorical_feature: ")[2].partition("]")[0]
    columns = [int(column) for column in listed.split(",") if column]
    if len(columns) != len(values):
        raise InteropError(
            f"The model has {len(columns)} categorical features, {len(values)} of them from columns of a data "
            "frame that hold categories, and the model does not say which. Train it with all of them as categories."
        )
    return {column: tuple(categories) for column, categories in zip(columns, values, strict=True)}


def _zero_is_missing(sections: list[_Section]) -> set[int]:
    zero: set[int] = set()
    other: set[int] = set()
    for section in sections:
        feature, kind = (
            _numbers(section, "split_feature", np.intp),
            _numbers(section, "decision_type", np.uint8),
        )
        numeric, is_zero = kind & _NOMINAL == 0, kind >> 2 & 3 == _MISSING_ZERO
        zero |= set(feature[numeric & is_zero].tolist())
        other |= set(feature[numeric & ~is_zero].tolist())
    if zero & other:
        raise InteropError(
            f"Zero is a missing value of feature {min(zero & other)} in some tests and a number in others; "
            "expected one or the other. Train the model in one go."
        )
    return zero


def _imported_tree(section: _Section, conventions: InputConventions) -> ImportedTree:
    kind = _numbers(section, "decision_type", np.uint8)
    n_inner, n_leaves = len(kind), int(section["num_leaves"])
    leaves = np.full(n_leaves, -1)

    def children(side: str) -> NDArray[Any]:
        """Return the children; leaf i, which LightGBM writes as ~i, is numbered after the inner nodes."""
        child = _numbers(section, side, np.int64)
        return np.concatenate((np.where(child < 0, n_inner + ~child, child), leaves))

    feature = _numbers(section, "split_feature", np.int64)
    threshold = _numbers(section, "threshold", np.float64)
    skeleton, order = skeleton_from_binary(
        children("left_child"),
        children("right_child"),
        np.concatenate((feature, leaves)),
        np.concatenate((_around_zero(threshold), np.zeros(n_leaves))),
        np.concatenate((_missing_left(kind, threshold), np.zeros(n_leaves, np.bool_))),
        {
            node: _slots(section, int(threshold[node]), conventions, int(feature[node]))
            for node in np.flatnonzero(kind & _NOMINAL).tolist()
        },
    )
    nodes = np.where(order >= n_inner, order - n_inner, -1).astype(np.int32)
    return ImportedTree("lightgbm", conventions, skeleton, nodes)


def _around_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move thresholds close to zero outside the range that LightGBM reads as 0."""
    near = np.abs(threshold) <= _ZERO
    return np.where(near, np.where(threshold < 0, np.nextafter(-_ZERO, -1.0), _ZERO), threshold)


def _missing_left(kind: NDArray[np.uint8], threshold: NDArray[np.float64]) -> Bools:
    """Return whether missing values go left: like 0 if training had none; a missing category goes right."""
    left: Bools = np.where(kind >> 2 & 3 == 0, threshold >= 0.0, kind & _DEFAULT_LEFT != 0)
    left &= kind & _NOMINAL == 0
    return left


def _slots(section: _Section, set_index: int, conventions: InputConventions, feature: int) -> NDArray[Any]:
    """Return the slot of each category: left if its bit is set, right otherwise."""
    begin, end = _numbers(section, "cat_boundaries", np.intp)[set_index : set_index + 2]
    words = _numbers(section, "cat_threshold", np.uint32)[begin:end]
    left = np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))
    categories = conventions.schema.features[feature].categories[:-1]
    codes = np.array(categories) if feature in conventions.integer_coded else np.arange(len(categories))
    return np.append(~np.isin(codes, left), True).astype(np.int32)
