"""Trees from LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema, generated_names
from hornbeam.errors import InteropError
from hornbeam.interop.imported_tree import ImportedTree, skeleton_from_binary
from hornbeam.interop.input_conventions import OTHER_CATEGORY, InputConventions
from hornbeam.typing import Bools, Category

__all__ = ["from_lightgbm"]

# Bits of decision_type: nominal, missing goes left, and in two bits what is missing.
_NOMINAL, _DEFAULT_LEFT = 1, 2
_MISSING_ZERO, _MISSING_NAN = 1, 2
_ZERO = float(np.float32(1e-35))

type _Section = dict[str, str]


def from_lightgbm(model: Any, tree: int = 0) -> ImportedTree:
    """Take one tree out of a LightGBM model.

    Parameters
    ----------
    model : Booster or LGBMModel
        Fitted.
    tree : int, default 0
        Which tree; a round of a multiclass model has one for each class.

    Returns
    -------
    ImportedTree
        It sends every row where the model does: missing values by the type LightGBM has for the feature
        (none, where they are 0; zero, where 0 is one of them; NaN), and categories that are negative, unseen
        or missing to the right. LightGBM keeps no class counts: `ImportedTree.count` makes a tree of it. Its
        `nodes` are the numbers that ``predict(..., pred_leaf=True)`` gives, -1 on inner nodes.

    Raises
    ------
    InteropError
        If there is no such tree, or the categories of the data frame cannot be told apart.

    Notes
    -----
    Of a model trained on a data frame the categories are the values of its columns; of any other, whole
    numbers, to which LightGBM cuts whatever it gets. LightGBM turns spaces in names into underscores, and
    arrays of integers into float32, beyond 2**24 not exactly.

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
    if not 0 <= tree < n_trees:
        raise InteropError(f"The model has no tree {tree}, expected one of its {n_trees}, counted from 0.")
    text = booster.model_to_string(num_iteration=1, start_iteration=tree // width)
    return _imported_trees(model, booster, text)[tree % width]


def imported_trees(model: Any) -> tuple[ImportedTree, ...]:
    """Take every tree out of a LightGBM model."""
    booster = _booster(model)
    return _imported_trees(model, booster, booster.model_to_string())


def n_rounds(model: Any) -> int:
    """Count the rounds of boosting."""
    return int(_booster(model).current_iteration())


def _booster(model: Any) -> Any:
    return model if hasattr(model, "model_to_string") else model.booster_


def _imported_trees(model: Any, booster: Any, text: str) -> tuple[ImportedTree, ...]:
    head, *parts = text.partition("\nend of trees")[0].split("\nTree=")
    sections = [_section(part) for part in parts]
    reading = _conventions(model, booster, _section(head), text, sections)
    return tuple(_imported_tree(section, reading) for section in sections)


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
    framed = _framed_categories(booster, text)
    features, numbered = [], set()
    for i, (name, info) in enumerate(zip(names, infos, strict=True)):
        if i in framed:
            features.append(Feature(name, Kind.NOMINAL, (*framed[i], OTHER_CATEGORY)))
        elif info == "none" or info.startswith("["):
            features.append(Feature(name))
        else:
            known = sorted(code for code in map(int, info.split(":")) if code >= 0)
            features.append(Feature(name, Kind.NOMINAL, (*known, OTHER_CATEGORY)))
            numbered.add(i)
    classes = tuple(np.asarray(getattr(model, "classes_", ())).tolist())
    zero = frozenset(_zero_is_missing(sections))
    return InputConventions(Schema(tuple(features), classes), frozenset(numbered), np.trunc, zero, _ZERO)


def _framed_categories(booster: Any, text: str) -> dict[int, tuple[Category, ...]]:
    """The categories of each column that came from a data frame, in the order of their codes."""
    values = booster.pandas_categorical
    if not values:
        return {}
    listed = text.partition("[categorical_feature: ")[2].partition("]")[0]
    columns = [int(column) for column in listed.split(",") if column]
    if len(columns) != len(values):
        raise InteropError(
            f"The model has {len(columns)} categorical features, {len(values)} of them from columns of a data "
            "frame that hold categories; which ones it does not say. Train it with all of them as categories."
        )
    return {column: tuple(known) for column, known in zip(columns, values, strict=True)}


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


def _imported_tree(section: _Section, reading: InputConventions) -> ImportedTree:
    kind = _numbers(section, "decision_type", np.uint8)
    n_inner, n_leaves = len(kind), int(section["num_leaves"])
    leaves = np.full(n_leaves, -1)

    def numbered(side: str) -> NDArray[Any]:
        """The children: leaf i, which LightGBM writes as ~i, stands behind the inner nodes."""
        child = _numbers(section, side, np.int64)
        return np.concatenate((np.where(child < 0, n_inner + ~child, child), leaves))

    feature = _numbers(section, "split_feature", np.int64)
    threshold = _numbers(section, "threshold", np.float64)
    skeleton, order = skeleton_from_binary(
        numbered("left_child"),
        numbered("right_child"),
        np.concatenate((feature, leaves)),
        np.concatenate((_around_zero(threshold), np.zeros(n_leaves))),
        np.concatenate((_missing_left(kind, threshold), np.zeros(n_leaves, np.bool_))),
        {
            node: _slots(section, int(threshold[node]), reading, int(feature[node]))
            for node in np.flatnonzero(kind & _NOMINAL).tolist()
        },
    )
    nodes = np.where(order >= n_inner, order - n_inner, -1).astype(np.int32)
    return ImportedTree("lightgbm", reading, skeleton, nodes)


def _around_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move thresholds so near to zero that LightGBM, which reads all values there as 0, does not see them."""
    near = np.abs(threshold) <= _ZERO
    return np.where(near, np.where(threshold < 0, np.nextafter(-_ZERO, -1.0), _ZERO), threshold)


def _missing_left(kind: NDArray[np.uint8], threshold: NDArray[np.float64]) -> Bools:
    """A missing value is 0 where training saw none; a missing category goes right."""
    left: Bools = np.where(kind >> 2 & 3 == 0, threshold >= 0.0, kind & _DEFAULT_LEFT != 0)
    left &= kind & _NOMINAL == 0
    return left


def _slots(section: _Section, at: int, reading: InputConventions, feature: int) -> NDArray[Any]:
    """The categories whose bit is set go left, all others right."""
    begin, end = _numbers(section, "cat_boundaries", np.intp)[at : at + 2]
    words = _numbers(section, "cat_threshold", np.uint32)[begin:end]
    chosen = np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))
    categories = reading.schema.features[feature].categories[:-1]
    codes = np.array(categories) if feature in reading.numbered else np.arange(len(categories))
    return np.append(~np.isin(codes, chosen), True).astype(np.int32)
