"""`save`, `load` and `diff` of estimators.

`hornbeam.storage` writes a `Model`: trees and plain values; `codec` converts estimators to it and back. A file can only
name classes of the registry, so loading it cannot run other code.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from hornbeam.checks import check_number
from hornbeam.errors import StorageError, TreeError
from hornbeam.estimators.persistence.codec import REGISTRY, estimator_class, pack_estimator, unpack_estimator
from hornbeam.growing.settings import GrowthSettings
from hornbeam.storage.difference import Difference, compare
from hornbeam.storage.file import read_any, write
from hornbeam.storage.model import Model
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import unwrap
from hornbeam.tuning.size_path import size_path


def save(model: Any, path: str | PathLike[str]) -> None:
    """Save a tree or a fitted estimator to a file.

    The file is written completely or not at all: an existing file stays if writing fails. The same model gives the same
    bytes.

    Parameters
    ----------
    model : Tree, TreeClassifier, TreeRegressor, RuleClassifier, ForestClassifier, ForestRegressor, \
            BoostedTreesClassifier, BoostedTreesRegressor, BoostedTreesRanker, AdaBoostClassifier or SmoothedClassifier
        The model to save. Of a fitted scikit-learn search, the `best_estimator_` is saved. Parameters must be plain
        values, or smoothers and pruners of Hornbeam that hold no data; of an estimator that is the `teacher`, or that
        grew the trees of a `SmoothedClassifier`, the class name is saved.
    path : str or path
        The file, usually ``*.hornbeam``. One tree is written as JSON text, or in binary form if the name ends in
        ``.safetensors`` or it is too large for text (16 MB, two million numbers). Several trees are always binary.
        Names of pickles, such as ``model.pkl``, are refused.

    Raises
    ------
    StorageError
        If the model contains objects that a file cannot hold, or is a pipeline whose earlier steps change the rows.

    See Also
    --------
    load : read the file again.

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
    write(pack(model), path)


def load(path: str | PathLike[str]) -> Any:
    """Load a tree or a fitted estimator from a file, which need not be trusted.

    Everything in the file is checked before it is used; it cannot run code.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote, text or safetensors.

    Returns
    -------
    Tree or estimator
        The saved model.

    Raises
    ------
    StorageError
        If the file is not a valid model; the message says what was found and expected, and where.

    See Also
    --------
    save : write the file.

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
    return unpack(read_any(path))


def diff(old: Any, new: Any, *, atol: float = 1e-9) -> Difference:
    """Compare two models.

    Parameters
    ----------
    old, new : Tree or estimator
        Two models of one tree, or two of several trees.
    atol : float, default=1e-9
        Largest difference of probabilities that count as equal.

    Returns
    -------
    Difference
        False if nothing changed; prints one line per change.

    Raises
    ------
    StorageError
        If only one of the two has several trees.

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
    check_number("atol", atol, 0)
    return compare(pack(old), pack(new), atol)


def pack(model: Any) -> Model:
    """Convert an estimator into trees and plain values.

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
            f"this is {inner.pipeline_error}; save a whole pipeline with skops: skops.io.dump(pipeline, path)."
        )
    model = inner.model
    if isinstance(model, Tree):
        return Model.of(model)
    name = type(model).__name__
    if name not in REGISTRY or type(model) is not estimator_class(name):
        raise StorageError(f"a {name} cannot be saved; expected a Tree or a fitted {', '.join(REGISTRY)}")
    if not hasattr(model, model._fitted):
        raise StorageError(f"this {name} is not fitted, so there is nothing to save: call fit first")
    if getattr(model, "init_", None) is not None:
        raise StorageError(
            f"this {name} starts from a fitted {type(model.init_).__name__} (init), which a model file does not hold: "
            "save both with skops, skops.io.dump(model, path), or fit without init."
        )
    return pack_estimator(model, name)


def pack_learned(estimator: Any) -> Model:
    """Convert a fitted estimator, or an instance of a subclass, into trees and plain values.

    Raises
    ------
    StorageError
        If the estimator is not in the registry, or contains objects that a file cannot hold.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> class Ours(TreeClassifier):
    ...     pass
    >>> pack_learned(Ours().fit([[0.0], [1.0]], [0, 1])).estimator
    'TreeClassifier'
    """
    names = [cls.__name__ for cls in type(estimator).__mro__ if cls.__name__ in REGISTRY]
    if not names or not isinstance(estimator, estimator_class(names[0])):
        raise StorageError(
            f"a {type(estimator).__name__} cannot be saved; expected one of {', '.join(REGISTRY)}"
        )
    return pack_estimator(estimator, names[0])


def unpack(model: Model) -> Any:
    """Convert trees and plain values into an estimator.

    Raises
    ------
    StorageError
        If the estimator is not in the registry, or does not fit the kind of the file or the parameters.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> unpack(pack(TreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])))
    TreeClassifier(max_depth=1)
    """
    name = model.estimator
    _check_steps(model.trees)
    if name is None and model.kind in ("tree", "regression tree"):
        return model.trees[0]
    if name not in REGISTRY:
        raise StorageError(
            f"the estimator is a {name!r}; expected {', '.join(REGISTRY)}: a newer Hornbeam may know it"
        )
    kind = REGISTRY[name][1]
    if model.kind != kind:
        raise StorageError(
            f"the estimator is a {name}, which has another kind of trees: the kind is {model.kind!r}, expected "
            f"{kind!r}; the file was put together"
        )
    return unpack_estimator(model, estimator_class(name))


def _check_steps(trees: Sequence[Tree]) -> None:
    """Refuse recorded steps that could not be repeated; reading a file for predictions alone does not need this."""
    histories = {id(tree.history): tree for tree in trees}  # the trees of a forest share one
    try:
        for tree in trees:
            size_path(tree)
        for tree in histories.values():
            for step in tree.history:
                if step.name == "grow":
                    GrowthSettings.recorded(step, tree.schema)
    except TreeError as error:
        raise StorageError(str(error)) from error
