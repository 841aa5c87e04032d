"""Models kept as files: what `hornbeam.storage` cannot know of estimators.

Storage writes a `Model`: a tree and plain values. Here an estimator becomes one and is made again from one. A
file names classes of this list and nothing else: loading one cannot run code of its author.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from math import inf
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam import pruning, smoothing, storage
from hornbeam.errors import StorageError
from hornbeam.estimators.threads import n_threads
from hornbeam.storage import Difference, Model
from hornbeam.storage.values import NUMBERS
from hornbeam.tree import Step, Tree
from hornbeam.tree.costs import Costs
from hornbeam.tree.walk import stopped
from hornbeam.typing import Counts, Floats

__all__ = ["diff", "load", "save"]

# Imported when asked for: a tree alone is read and written without scikit-learn.
_HOMES = {
    "TreeClassifier": "hornbeam.estimators.classifier",
    "TreeRegressor": "hornbeam.estimators.regressor",
}
_MOST_CHARACTERS = 2**22  # of an array of labels


def save(model: Any, path: str | PathLike[str]) -> None:
    """Save a tree or a fitted estimator to a file.

    The file is complete or the old one stays, whatever happens meanwhile. The same model gives the same bytes.

    Parameters
    ----------
    model : Tree, TreeClassifier or TreeRegressor
        What to save. Parameters must be plain values, or steps of `hornbeam.smoothing` and `hornbeam.pruning`
        that hold no data.
    path : str or path
        Where to. A name that ends in ``.safetensors`` asks for the binary form, made for trees of more than
        100,000 nodes; any other gives JSON text. ``.hornbeam`` is usual.

    Raises
    ------
    StorageError
        If the model holds something that cannot be written down, or is too large for text.

    See Also
    --------
    load : the way back.

    Examples
    --------
    >>> import tempfile
    >>> import hornbeam
    >>> clf = hornbeam.TreeClassifier().fit([[1.0], [2.0], [3.0]], ["no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hornbeam.save(clf, f"{folder}/model.hornbeam")
    ...     again = hornbeam.load(f"{folder}/model.hornbeam")
    >>> again.tree_.digest == clf.tree_.digest
    True
    """
    storage.write(pack(model), path)


def load(path: str | PathLike[str]) -> Any:
    """Load a tree or a fitted estimator from a file, whoever wrote it.

    Everything in the file is checked before it is used; no code runs from it.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote, text or safetensors.

    Returns
    -------
    Tree, TreeClassifier or TreeRegressor
        What was saved.

    Raises
    ------
    StorageError
        If the file holds no sound model; the message says what was found where, and what was expected.

    See Also
    --------
    save : the way here.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import hornbeam
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.hornbeam"
    ...     _ = path.write_text('{"format": "hornbeam", "version": [9, 0]}')
    ...     try:
    ...         hornbeam.load(path)
    ...     except hornbeam.errors.StorageError as error:
    ...         print(str(error).partition("model.hornbeam: ")[2])
    version is 9.0; this Hornbeam reads 1.x: load it with the Hornbeam that wrote it, or a newer one
    """
    return unpack(storage.read(path))


def diff(old: Any, new: Any, *, tolerance: float = 1e-9) -> Difference:
    """Say what changed between two models.

    Parameters
    ----------
    old, new : Tree or TreeClassifier
        The models.
    tolerance : float, default=1e-9
        Probabilities that differ by no more are equal.

    Returns
    -------
    Difference
        False if nothing changed; printed, a line for each change.

    Examples
    --------
    >>> import hornbeam
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> old = hornbeam.TreeClassifier(smoothing=None).fit(X, y)
    >>> print(hornbeam.diff(old, hornbeam.TreeClassifier(smoothing=None).fit(X[1:], y[1:])))
    evidence  every row: [2, 2], now [1, 2]
    evidence  x0 <= 2.5: [2, 0], now [1, 0]
    belief    every row: [0.5, 0.5], now [0.333333, 0.666667]
    >>> bool(hornbeam.diff(old, old))
    False
    """
    return storage.compare(pack(old), pack(new), tolerance)


def pack(model: Any) -> Model:
    """Take an estimator apart into a tree and plain values.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.smoothing import HGS
    >>> clf = TreeClassifier(smoothing=HGS(2.0)).fit([[0.0], [1.0]], [0, 1])
    >>> print(pack(clf).settings["smoothing"])
    HGS(alpha=2.0, prior=1.0)
    """
    if isinstance(model, Tree):
        return Model(model)
    name = type(model).__name__
    if name not in _HOMES or type(model) is not _estimator(name):
        trees = ": save its trees one by one, forest_.trees" if hasattr(model, "forest_") else ""
        raise StorageError(f"a {name} cannot be kept; expected a Tree or a fitted {', '.join(_HOMES)}{trees}")
    if not hasattr(model, "tree_"):
        raise StorageError(f"this {name} is not fitted, so there is nothing to keep: call fit first")
    settings, named = model.get_params(deep=False), hasattr(model, "feature_names_in_")
    if model.tree_.is_measured:
        plain = {key: _as_step(value) for key, value in settings.items()}
        return Model(model.tree_, name, plain, {"named": named})
    return model_of(name, settings, model.tree_, model.classes_, named, model.class_weight_, model._shares)


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
    learned: dict[str, Any] = {"classes": _dtype_name(classes.dtype), "named": named}
    if class_weight is not None and (class_weight != 1).any():
        learned["class_weight"] = tuple(class_weight.tolist())
    if shares is not None:
        learned["shares"] = shares
    return Model(tree, name, {key: _as_step(value) for key, value in settings.items()}, learned)


def unpack(model: Model) -> Any:
    """Put an estimator together again.

    Raises
    ------
    StorageError
        If there is no such estimator, or one does not go with such settings.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> unpack(pack(TreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])))
    TreeClassifier(max_depth=1)
    """
    if model.estimator is None:
        return model.tree
    if model.estimator not in _HOMES:
        raise StorageError(
            f"the estimator is a {model.estimator!r}; expected {', '.join(_HOMES)}: a newer Hornbeam may know it"
        )
    settings = {name: _from_step(value) for name, value in model.settings.items()}
    cls = _estimator(model.estimator)
    unknown = settings.keys() - cls().get_params(deep=False).keys()
    if unknown:
        raise StorageError(
            f"{model.estimator} has no parameter {min(unknown)!r}: a newer Hornbeam may know it"
        )
    estimator = cls(**settings)
    if model.tree.is_measured != (model.estimator == "TreeRegressor"):
        raise StorageError(
            f"the estimator is a {model.estimator}, which has no such tree: the file was put together"
        )
    match model.learned:
        case {"named": bool(named), **rest} if model.tree.is_measured and not rest:
            estimator._remember(model.tree, model.tree.schema.names if named else None)
        case {"classes": str(dtype), "named": bool(named), **rest} if rest.keys() <= {
            "class_weight",
            "shares",
        }:
            names, labels = model.tree.schema.names if named else None, list(model.tree.schema.classes)
            weight = class_weight_of(rest.get("class_weight"), len(labels))
            shares = _shares(rest.get("shares"), model.tree)
            estimator._learn(model.tree, _classes(labels, dtype), names, weight, shares)
        case _:
            raise StorageError(
                "expected to have learned the type of the classes, and whether columns had names"
            )
    try:  # what predicting asks for
        n_threads(estimator.n_jobs)
        if getattr(estimator, "costs", None) is not None:
            Costs.of(estimator.costs, model.tree.schema.classes)
    except (TypeError, ValueError) as error:
        raise StorageError(str(error)) from error
    return estimator


def _estimator(name: str) -> Any:
    return getattr(import_module(_HOMES[name]), name)


def _steps() -> Iterator[tuple[str, Any]]:
    """Every smoother and pruner of the house, by its name."""
    for family in (pruning, smoothing):
        for name in family.__all__:
            step = getattr(family, name)
            if is_dataclass(step) and "__call__" in vars(step):
                yield name, step


_STEPS = dict(_steps())


def _as_step(value: Any) -> Any:
    """Write a smoother or a pruner down as its name and parameters; leave anything else as it is."""
    name = type(value).__name__
    if _STEPS.get(name) is not type(value):
        return value
    parameters = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    if parameters.get("table") is not None:
        raise StorageError(
            f"{name} holds a table of rows, which a model file does not: save the tree alone, estimator.tree_"
        )
    parameters.pop("table", None)
    if isinstance(parameters.get("costs"), Costs):
        parameters["costs"] = parameters["costs"].matrix
    return Step.of(name, **parameters)


def _from_step(value: Any) -> Any:
    if not isinstance(value, Step):
        return value
    if value.name not in _STEPS:
        raise StorageError(f"there is no step {value.name!r}; expected one of {', '.join(_STEPS)}")
    try:
        return _STEPS[value.name](**dict(value.parameters))
    except (TypeError, ValueError) as error:
        raise StorageError(f"{value} cannot be made: {error}") from error


def _dtype_name(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "U":
        return f"str{dtype.itemsize // 4}"
    return "string" if dtype.kind == "T" else dtype.name


def class_weight_of(said: Any, n_classes: int) -> Floats | None:
    """Read the weights that `predict` decides with; None for all alike.

    Examples
    --------
    >>> class_weight_of((1.0, 5.0), 2)
    array([1., 5.])
    """
    if said is None:
        return None
    match said:
        case [*weights] if len(weights) == n_classes and all(
            type(one) is float and 0 <= one < inf for one in weights
        ):
            return np.array(weights)
    raise StorageError(f"class_weight is {said!r:.80}; expected {n_classes} numbers, 0 or more and finite")


def _shares(said: Any, tree: Tree) -> Counts | None:
    """Read what missing values are shared by where they go to every child."""
    if said is None:
        return None
    if isinstance(said, np.ndarray) and said.dtype == np.int64 and said.shape == (tree.n_nodes,):
        family = said - stopped(tree.skeleton, said)
        sums = max(
            said.sum(dtype=np.float64) / 2**12, said.max(), family.max()
        )  # the first so that none wraps
        if said.min() >= 0 and sums < 2**50:
            return said
    raise StorageError(
        f"shares is {said!r:.80}; expected {tree.n_nodes} whole numbers, one a node, 0 or more and below 2**50"
    )


def _classes(labels: list[Any], name: str) -> NDArray[Any]:
    """Make the array of labels; it must give back every label as it is."""
    width = re.fullmatch(r"str([1-9][0-9]{0,6})", name)
    dtype: Any = None
    if name in NUMBERS or name == "object":
        dtype = np.dtype(name)
    elif name == "string":
        dtype = np.dtypes.StringDType()
    elif width and int(width[1]) * len(labels) <= _MOST_CHARACTERS:
        dtype = np.dtype(f"U{width[1]}")
    try:
        classes = np.array(labels, dtype)
    except (TypeError, ValueError, OverflowError):
        classes = np.empty(0)
    back = classes.tolist()
    if dtype is None or back != labels or list(map(type, back)) != list(map(type, labels)):
        raise StorageError(f"the classes are no array of {name!r}; expected the type they had in fit")
    return classes
