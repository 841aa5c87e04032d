"""Models kept as files: what `hornbeam.storage` cannot know of estimators.

Storage writes a `Model` or a `TreeCollection`: trees and plain values. Here an estimator becomes one and is made again from one.
A file names classes of this list and nothing else: loading one cannot run code of its author.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from os import PathLike
from typing import Any, NamedTuple

from hornbeam import storage
from hornbeam.errors import StorageError
from hornbeam.storage import Difference, Model, TreeCollection
from hornbeam.tree import Tree
from hornbeam.tree.unwrap import unwrap

__all__ = ["diff", "load", "save", "trusted_types"]


class _Registration(NamedTuple):
    """Where an estimator lives, who takes it apart, and of which kind its file is."""

    module: str
    codec: str
    kind: str


# Imported when asked for: a tree alone is read and written without scikit-learn.
_REGISTRY = {
    "TreeClassifier": _Registration("tree_classifier", "trees", "tree"),
    "TreeRegressor": _Registration("tree_regressor", "trees", "regression tree"),
    "RuleClassifier": _Registration("rule_classifier", "rules", "rules"),
    "ForestClassifier": _Registration("forest_classifier", "forests", "trees"),
    "ForestRegressor": _Registration("forest_regressor", "forests", "regression trees"),
    "BoostedTreesClassifier": _Registration("boosted_classifier", "boosted", "regression trees"),
    "BoostedTreesRegressor": _Registration("boosted_regressor", "boosted", "regression trees"),
    "BoostedTreesRanker": _Registration("ranker", "boosted", "regression trees"),
}


def save(model: Any, path: str | PathLike[str]) -> None:
    """Save a tree or a fitted estimator to a file.

    The file is complete or the old one stays, whatever happens meanwhile. The same model gives the same bytes.

    Parameters
    ----------
    model : Tree, TreeClassifier, TreeRegressor, RuleClassifier, ForestClassifier, ForestRegressor, \
            BoostedTreesClassifier, BoostedTreesRegressor or BoostedTreesRanker
        What to save; or a fitted search of scikit-learn, whose `best_estimator_` is saved, or a `DaskTreeClassifier`,
        saved as the `TreeClassifier` that it equals. Parameters must be plain values, or steps of
        `hornbeam.smoothing` and `hornbeam.pruning` that hold no data.
    path : str or path
        Where to. A name that ends in ``.safetensors`` asks for the binary form, made for trees of more than
        100,000 nodes; with any other one tree is JSON text. Several trees are always binary. ``.hornbeam`` is
        usual. Names of pickles, such as ``model.pkl``, are refused.

    Raises
    ------
    StorageError
        If the model holds something that cannot be written down, is too large for text, or is a pipeline whose
        earlier steps change the rows.

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
    Tree or estimator
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
    return unpack(storage.read_any(path))


def diff(old: Any, new: Any, *, tolerance: float = 1e-9) -> Difference:
    """Say what changed between two models.

    Parameters
    ----------
    old, new : Tree or estimator
        The models: two of one tree, or two of several.
    tolerance : float, default=1e-9
        Probabilities that differ by no more are equal.

    Returns
    -------
    Difference
        False if nothing changed; printed, a line for each change.

    Raises
    ------
    StorageError
        If only one of them has several trees.

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


def trusted_types() -> list[str]:
    """Name the estimators as skops and MLflow want the types that they may load.

    Returns
    -------
    list of str
        For ``skops.io.load(file, trusted=...)`` and ``mlflow.sklearn.log_model(..., skops_trusted_types=...)``. Beside
        plain values, such a file holds of a fitted estimator what `save` writes, and it is checked as `load` does.

    Examples
    --------
    >>> import hornbeam
    >>> hornbeam.trusted_types()[0]
    'hornbeam.estimators.tree_classifier.TreeClassifier'
    """
    modules = {name: home.module for name, home in _REGISTRY.items()}
    modules |= {"DaskTreeClassifier": "dask_classifier", "SmoothedClassifier": "smoothed_classifier"}
    return [f"hornbeam.estimators.{module}.{name}" for name, module in modules.items()]


def pack(model: Any) -> Model | TreeCollection:
    """Take an estimator apart into trees and plain values.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.smoothing import HGS
    >>> clf = TreeClassifier(smoothing=HGS(2.0)).fit([[0.0], [1.0]], [0, 1])
    >>> print(pack(clf).settings["smoothing"])
    HGS(alpha=2.0, prior=1.0)
    """
    inner = unwrap(model)
    if inner.before is not None:
        raise StorageError(
            f"this is {inner.alone}; keep a whole pipeline with skops: skops.io.dump(pipeline, path)."
        )
    model = inner.model
    if isinstance(model, Tree):
        return Model(model)
    if hasattr(model, "to_local"):  # a DaskTreeClassifier, whose cluster is no part of the model
        model = model.to_local()
    name = type(model).__name__
    if name not in _REGISTRY or type(model) is not _estimator(name):
        raise StorageError(f"a {name} cannot be kept; expected a Tree or a fitted {', '.join(_REGISTRY)}")
    if not hasattr(model, model._fitted):
        raise StorageError(f"this {name} is not fitted, so there is nothing to keep: call fit first")
    packed: Model | TreeCollection = _codec(name).pack(model)
    return packed


def pack_learned(estimator: Any) -> Model | TreeCollection:
    """Take a fitted estimator apart, or one of a class that inherits from it.

    Raises
    ------
    StorageError
        If there is no such estimator on the shelf, or it holds what no file can hold.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> class Ours(TreeClassifier):
    ...     pass
    >>> pack_learned(Ours().fit([[0.0], [1.0]], [0, 1])).estimator
    'TreeClassifier'
    """
    names = [cls.__name__ for cls in type(estimator).__mro__ if cls.__name__ in _REGISTRY]
    if not names or not isinstance(estimator, _estimator(names[0])):
        raise StorageError(
            f"a {type(estimator).__name__} cannot be kept; expected one of {', '.join(_REGISTRY)}"
        )
    packed: Model | TreeCollection = replace(_codec(names[0]).pack(estimator), estimator=names[0])
    return packed


def unpack(model: Model | TreeCollection) -> Any:
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
    name = model.estimator
    if name is None and model.kind in ("tree", "regression tree"):
        return model.trees[0]
    if name not in _REGISTRY:
        raise StorageError(
            f"the estimator is a {name!r}; expected {', '.join(_REGISTRY)}: a newer Hornbeam may know it"
        )
    if model.kind != _REGISTRY[name].kind:
        raise StorageError(
            f"the estimator is a {name}, which has no such tree: the kind is {model.kind!r}, expected "
            f"{_REGISTRY[name].kind!r}; the file was put together"
        )
    return _codec(name).unpack(model, _estimator(name))


def _estimator(name: str) -> Any:
    return getattr(import_module(f"hornbeam.estimators.{_REGISTRY[name].module}"), name)


def _codec(name: str) -> Any:
    return import_module(f"hornbeam.estimators.persistence.{_REGISTRY[name].codec}")
