"""Codec of estimators: trees, parameters, and what was learned beside the trees, as a `Model` of plain values.

The out-of-bag score of a forest is saved. Its out-of-bag predictions are not: they are as long as the training data,
and reveal something about each row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import batched
from types import NoneType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Kind, Schema
from hornbeam.errors import ParameterError, SchemaError, StorageError, TreeError
from hornbeam.estimators.fit_tree import Fitted
from hornbeam.estimators.parameters.validators import is_named, resolve_bins, teacher_name
from hornbeam.estimators.persistence.distribution import (
    decode_distribution,
    decode_forest_distribution,
    encode_distribution,
    encode_forest_distribution,
)
from hornbeam.estimators.persistence.labels import decode_class_weight, decode_classes, encode_classes
from hornbeam.estimators.persistence.parameters import (
    build_estimator,
    check_predict_parameters,
    decode_step,
    encode_parameters,
    encode_step,
)
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.storage.model import Model
from hornbeam.tree import Step
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Counts, Floats

# Module and kind of file of each estimator. A module is imported on demand: a tree alone is read and written without
# scikit-learn.
REGISTRY = {
    "TreeClassifier": ("tree_classifier", "tree"),
    "TreeRegressor": ("tree_regressor", "regression tree"),
    "RuleClassifier": ("rule_classifier", "rules"),
    "ForestClassifier": ("forest_classifier", "trees"),
    "ForestRegressor": ("forest_regressor", "regression trees"),
    "BoostedTreesClassifier": ("boosted_classifier", "regression trees"),
    "BoostedTreesRegressor": ("boosted_regressor", "regression trees"),
    "BoostedTreesRanker": ("ranker", "regression trees"),
    "SmoothedClassifier": ("smoothed_classifier", "trees"),
    "AdaBoostClassifier": ("adaboost_classifier", "trees"),
}


class _Entry(NamedTuple):
    """Something that estimators learn, with its type in a file."""

    name: str
    type: Any = object  # object: its decoder checks it
    optional: bool = False
    of_classes: bool = False  # only classifiers have it


_CLASS_WEIGHT = _Entry("class_weight", optional=True, of_classes=True)


class _Family(NamedTuple):
    """Estimators with the same fitted attribute."""

    content: Literal["tree", "trees", "rules"]
    entries: tuple[_Entry, ...]  # what they learn, beside what all do
    encode: Callable[[Any], dict[str, Any]]  # those entries of an estimator
    restore: Callable[[Any, Model], Any]  # set attributes of an estimator, and return the fitted object


def pack_estimator(estimator: Any, name: str) -> Model:
    """Convert a fitted estimator, or an instance of a subclass, into trees and plain values."""
    family, settings = _FAMILIES[estimator._fitted], estimator.get_params(deep=False)
    if family.content == "rules":
        settings["estimator"] = _encode_source(estimator.estimator, estimator.source_tree_)
    elif family.content == "trees" and not isinstance(settings.get("estimator"), (str, NoneType)):
        settings["estimator"] = teacher_name(settings["estimator"])
    if family.content == "trees" and settings.get("costs", 0) is None:
        del settings["costs"]  # as before it existed
    names, classes = (getattr(estimator, one, None) for one in ("feature_names_in_", "classes_"))
    learned = _common(names, classes, getattr(estimator, "class_weight_", None)) | family.encode(estimator)
    fitted = getattr(estimator, "source_tree_", getattr(estimator, estimator._fitted))
    schema = fitted.schema if "start" not in learned else Schema(fitted.schema.features, (), Kind.NUMERIC)
    trees = getattr(fitted, "trees", (fitted,))
    return Model(schema, trees, name, encode_parameters(settings), learned, family.content)


def tree_model(settings: Mapping[str, Any], fitted: Fitted, classes: NDArray[Any] | None = None) -> Model:
    """Return the model that `pack_estimator` returns for the estimator of a tree.

    Examples
    --------
    >>> from hornbeam.recipe import PRESETS
    >>> from hornbeam.tree import Table
    >>> tree = PRESETS["id3"].fit(Table.read([[0.0], [1.0]], [0, 1]))
    >>> tree_model({}, Fitted(tree, None), np.array([0, 1])).learned
    {'named': False, 'classes': 'int64'}
    """
    learned = _common(fitted.names, classes, fitted.class_weight)
    if fitted.shares is not None:
        learned["shares"] = fitted.shares
    learned |= encode_distribution(fitted.distribution)
    name = "TreeRegressor" if classes is None else "TreeClassifier"
    return Model.of(fitted.tree, name, encode_parameters(settings), learned)


def _common(names: Any, classes: NDArray[Any] | None, class_weight: Floats | None) -> dict[str, Any]:
    """Return what estimators of all families learn."""
    learned = {"named": names is not None}
    return learned if classes is None else learned | encode_classes(classes, class_weight)


def unpack_estimator(model: Model, cls: type[Any]) -> Any:
    """Convert trees and plain values into an estimator.

    Raises
    ------
    StorageError
        If the file has parameters that the estimator has not, or other things are learned.
    """
    family, settings, learned = _FAMILIES[cls._fitted], dict(model.settings), model.learned
    inner = settings.pop("estimator", None) if family.content == "rules" else None
    estimator = build_estimator(cls, settings)
    if family.content == "rules":
        estimator.estimator = _decode_source(inner, model.tree)
    _check_learned(cls, learned)
    fitted = family.restore(estimator, model)
    labels = fitted.schema.classes
    estimator._set_fitted(fitted, fitted.schema.names if learned["named"] else None)
    if labels:
        estimator.classes_ = decode_classes(labels, learned["classes"])
        estimator.n_classes_ = len(labels)
        if _CLASS_WEIGHT in family.entries:
            weight = decode_class_weight(learned.get("class_weight"), len(labels))
            estimator.class_weight_ = np.ones(len(labels)) if weight is None else weight
    check_predict_parameters(estimator, labels)
    return estimator


def _check_learned(cls: type[Any], learned: Mapping[str, Any]) -> None:
    """Raise `StorageError` unless a file has what estimators of a class learn, in the right types."""
    every = (_Entry("named", bool), _Entry("classes", of_classes=True), *_FAMILIES[cls._fitted].entries)
    is_classifier = hasattr(cls, "predict_proba")
    entries = {one.name: one for one in every if is_classifier or not one.of_classes}
    required = {name for name, one in entries.items() if not one.optional}
    if required <= learned.keys() <= entries.keys() and all(
        isinstance(value, entries[name].type) for name, value in learned.items()
    ):
        return
    found = sorted(map(str, learned))  # a hostile file may have numbers for keys
    raise StorageError(
        f"a {cls.__name__} has learned {found!r:.80}; expected to have learned {', '.join(sorted(entries))}"
    )


def _encode_tree(estimator: Any) -> dict[str, Any]:
    shares = {} if estimator._shares is None else {"shares": estimator._shares}
    return shares | encode_distribution(estimator._distribution)


def _restore_tree(estimator: Any, model: Model) -> Tree:
    if not isinstance(estimator.preset, str):
        raise StorageError(f"preset is {estimator.preset!r:.80}; expected a name")
    try:
        resolve_bins(estimator.max_bins, None)  # candidates and edits use it
    except ParameterError as error:
        raise StorageError(str(error)) from error
    if (
        is_distilled(model.tree)
        and is_named(estimator.preset, "default")
        and is_named(estimator.slopes, "auto")
        and is_named(estimator.teacher, "auto")
    ):  # a file of 0.1.0rc1: by these parameters, a fit would make a tree without a teacher
        estimator.teacher = "unknown"
    distribution = decode_distribution(model.learned.get("distribution"), model.tree)
    if model.schema.is_regression:
        estimator._distribution = distribution
    else:
        estimator._shares = _shares(model.learned.get("shares"), model.tree)
    return model.tree


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


def _encode_forest(estimator: Any) -> dict[str, Any]:
    learned = {"smoother": encode_step(estimator.smoother_)}
    if estimator.forest_.temperature != 1.0:
        learned["temperature"] = estimator.forest_.temperature
    if hasattr(estimator, "oob_score_"):
        learned["oob_score"] = float(estimator.oob_score_)
    return learned | encode_forest_distribution(estimator._distribution)


def _restore_forest(estimator: Any, model: Model) -> Any:
    from hornbeam.ensembles import Forest  # slow to import

    estimator.smoother_ = decode_step(model.learned["smoother"])
    if "oob_score" in model.learned:
        estimator.oob_score_ = model.learned["oob_score"]
    if model.schema.is_regression:
        estimator._distribution = decode_forest_distribution(model.learned.get("distribution"), model.trees)
    try:
        return Forest(model.trees, model.learned.get("temperature", 1.0))
    except TreeError as error:
        raise StorageError(str(error)) from error


def _encode_voting(estimator: Any) -> dict[str, Any]:
    return {"weights": estimator.voting_.weights, "errors": estimator.voting_.errors}


def _restore_voting(_: Any, model: Model) -> Any:
    from hornbeam.ensembles import VotingTrees

    weights, errors = (_finite(name, model.learned[name], len(model.trees)) for name in ("weights", "errors"))
    try:
        return VotingTrees(model.trees, weights, errors)
    except TreeError as error:
        raise StorageError(str(error)) from error


def _encode_smoothed(estimator: Any) -> dict[str, Any]:
    reading = estimator._reading
    return {
        "reading": Step.of(
            "reading",
            integer_coded=tuple(sorted(reading.integer_coded)),
            to_integer=reading.to_integer,
            zero_is_missing=tuple(sorted(reading.zero_is_missing)),
            zero=float(reading.zero),
            impurity=estimator._impurity,
        )
    }


def _restore_smoothed(estimator: Any, model: Model) -> Any:
    from hornbeam.ensembles import Forest
    from hornbeam.interop.input_conventions import InputConventions

    found, columns = dict(model.learned["reading"].parameters), range(model.schema.n_features)
    match found:
        case {
            "integer_coded": tuple(coded),
            "to_integer": "trunc" | "floor" as rounding,
            "zero_is_missing": tuple(zeros),
            "zero": float(zero),
            "impurity": "gini" | "entropy" as impurity,
        } if (
            len(found) == 5
            and zero >= 0
            and all(type(one) is int and one in columns for one in coded + zeros)
        ):
            estimator._reading = InputConventions(
                model.schema, frozenset(coded), rounding, frozenset(zeros), zero
            )
            estimator._impurity = impurity
        case _:
            raise StorageError(
                f"the reading is {model.learned['reading']!s:.80}; expected how another library reads its columns"
            )
    return Forest(model.trees)


def _encode_boosted(estimator: Any) -> dict[str, Any]:
    boosted = estimator.boosted_
    learned: dict[str, Any] = {"start": boosted.start}
    if hasattr(estimator, "validation_losses_"):
        learned["validation_losses"] = estimator.validation_losses_
    if not boosted.schema.is_regression:
        learned["labels"] = boosted.schema.classes
    return learned


def _restore_boosted(estimator: Any, model: Model) -> Any:
    from hornbeam.ensembles import BoostedTrees

    learned, trees, schema = model.learned, model.trees, model.schema
    if "labels" in learned:
        schema = _labelled(schema, learned["labels"])
    n_outputs = 1 if schema.n_classes in (0, 2) else schema.n_classes
    start = _finite("start", learned["start"], n_outputs)
    if len(trees) % n_outputs:
        raise StorageError(
            f"there are {len(trees)} trees; expected a multiple of {n_outputs}, one per round and output"
        )
    with np.errstate(over="ignore"):
        bound = np.abs(start).sum() + sum(np.abs(tree.belief).max() for tree in trees)
    if not np.isfinite(bound):
        raise StorageError("the trees may add up to more than any number; expected scores that stay finite")
    if "validation_losses" in learned:
        estimator.validation_losses_ = _finite("validation_losses", learned["validation_losses"], None)
    estimator.n_iter_ = len(trees) // n_outputs
    if hasattr(estimator, "loss"):  # a regressor needs it to predict
        try:
            estimator._loss()
        except (TypeError, ValueError) as error:
            raise StorageError(str(error)) from error
    return BoostedTrees(schema, start, tuple(batched(trees, n_outputs)))


def _labelled(schema: Schema, labels: Any) -> Schema:
    """Return the schema with class labels as the target."""
    if type(labels) is not tuple or not labels or set(map(type, labels)) - {str, int, float, bool}:
        raise StorageError(f"labels is {labels!r:.80}; expected strings, numbers or booleans, at least one")
    try:
        return Schema(schema.features, labels)
    except SchemaError as error:
        raise StorageError(str(error)) from error


def _finite(name: str, value: Any, length: int | None) -> Floats:
    is_vector = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1
    if is_vector and np.isfinite(value).all() and length in (None, len(value)):
        vector: Floats = value
        return vector
    expected = "finite numbers" if length is None else f"{length} finite numbers"
    raise StorageError(f"{name} is {value!r:.80}; expected {expected}")


def _encode_source(estimator: Any, tree: Tree) -> Any:
    """Encode the parameter `estimator` of rules; a tree that was passed is the tree of the file."""
    from sklearn.frozen import FrozenEstimator

    kind = estimator_class("TreeClassifier")
    if type(estimator) is kind:
        return Step.of("TreeClassifier", **encode_parameters(estimator.get_params(deep=False)))
    if isinstance(estimator, Tree) and estimator.digest == tree.digest:
        return Step.of("Tree")
    inner: Any = estimator.estimator if isinstance(estimator, FrozenEstimator) else None
    if type(inner) is kind and inner.tree_.digest == tree.digest:
        model = pack_estimator(inner, "TreeClassifier")
        return Step.of("FrozenEstimator", settings=dict(model.settings), learned=dict(model.learned))
    return estimator  # None, or an object that storage refuses


def _decode_source(encoded: Any, tree: Tree) -> Any:
    """Return the parameter `estimator` of the rules of a file with this tree."""
    from sklearn.frozen import FrozenEstimator

    kind = estimator_class("TreeClassifier")
    match encoded:
        case None:
            return None
        case Step("Tree", ()):
            return tree
        case Step("TreeClassifier", parameters):
            return build_estimator(kind, dict(parameters))
        case Step("FrozenEstimator", (("learned", dict(learned)), ("settings", dict(settings)))):
            if all(isinstance(name, str) for name in settings):
                model = Model.of(tree, "TreeClassifier", settings, learned)
                return FrozenEstimator(unpack_estimator(model, kind))
    raise StorageError(
        f"estimator is {encoded!s:.80}; expected None, a Tree, a TreeClassifier or a FrozenEstimator"
    )


def _encode_rules(estimator: Any) -> dict[str, Any]:
    from hornbeam.estimators.persistence.rules import encode_rules  # slow to import

    return encode_rules(estimator.rules_)


def _restore_rules(estimator: Any, model: Model) -> Any:
    from hornbeam.estimators.persistence.rules import decode_rules

    estimator.source_tree_ = model.tree
    return decode_rules(model.learned, model.schema)


def estimator_class(name: str) -> Any:
    """Return the class of an estimator of the registry."""
    return getattr(import_module(f"hornbeam.estimators.{REGISTRY[name][0]}"), name)


# By the fitted attribute.
_FAMILIES = {
    "tree_": _Family(
        "tree",
        (
            _CLASS_WEIGHT,
            _Entry("shares", optional=True, of_classes=True),
            _Entry("distribution", dict, optional=True),
        ),
        _encode_tree,
        _restore_tree,
    ),
    "forest_": _Family(
        "trees",
        (
            _CLASS_WEIGHT,
            _Entry("smoother", (NoneType, Step)),
            _Entry("oob_score", float, optional=True),
            _Entry("temperature", float, optional=True, of_classes=True),
            _Entry("distribution", dict, optional=True),
        ),
        _encode_forest,
        _restore_forest,
    ),
    "boosted_": _Family(
        "trees",
        (
            _Entry("labels", of_classes=True),
            _Entry("start", np.ndarray),
            _Entry("validation_losses", optional=True),
        ),
        _encode_boosted,
        _restore_boosted,
    ),
    "voting_": _Family(
        "trees",
        (_Entry("weights", np.ndarray), _Entry("errors", np.ndarray)),
        _encode_voting,
        _restore_voting,
    ),
    "_forest": _Family("trees", (_Entry("reading", Step),), _encode_smoothed, _restore_smoothed),
    "rules_": _Family("rules", (_Entry("rules", tuple), _Entry("default")), _encode_rules, _restore_rules),
}
