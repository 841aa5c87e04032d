"""The state of a fitted estimator in plain values: what pickle, deepcopy and skops store.

skops, which MLflow saves models with, loads a file only if every type in it is trusted. So trees, forests and rules are
bytes of the model file format here, and the estimator's own class is the only type of Hornbeam in its state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hornbeam.errors import StorageError
from hornbeam.estimators.persistence.files import pack_learned, unpack
from hornbeam.storage.file import decode, encode
from hornbeam.tree import Step

__all__ = ["from_plain", "to_plain"]

_MODEL = "_model"  # the entry of the state that holds the bytes
# Attributes that the bytes hold.
_LEARNED = frozenset(
    [
        "_shares",
        "boosted_",
        "class_weight_",
        "classes_",
        "feature_names_in_",
        "forest_",
        "n_classes_",
        "n_features_in_",
        "n_iter_",
        "oob_score_",
        "rules_",
        "smoother_",
        "tree_",
        "validation_losses_",
    ]
)


def to_plain(estimator: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of an estimator with the bytes of a model file in the place of what it learned.

    Parameters
    ----------
    estimator : estimator
    state : mapping
        Its attributes.

    Returns
    -------
    dict
        The attributes themselves if it is not fitted, or holds something that no model file can hold.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> state = to_plain(clf, vars(clf))
    >>> type(state["_model"]), "tree_" in state, state["preset"]
    (<class 'bytes'>, False, 'default')
    """
    if not hasattr(estimator, getattr(estimator, "_fitted", "")):
        return dict(state)
    try:
        model = pack_learned(estimator)
        # Steps are not plain, and skops cannot write a dict with tuples for keys.
        settings = {name: one for name, one in model.settings.items() if isinstance(one, (Step, dict))}
        data = encode(replace(model, settings=settings), as_tensors=True)
    except StorageError:
        return dict(state)
    held = _LEARNED | settings.keys()
    return {name: value for name, value in state.items() if name not in held} | {_MODEL: data}


def from_plain(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator, of a state that `to_plain` returned.

    Raises
    ------
    StorageError
        If the bytes hold no sound model.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> from_plain(to_plain(clf, vars(clf)))["tree_"].digest == clf.tree_.digest
    True
    """
    if _MODEL not in state:
        return dict(state)
    model = decode(state[_MODEL])
    held = _LEARNED | model.settings.keys()
    learned = {name: value for name, value in vars(unpack(model)).items() if name in held}
    rest = {name: value for name, value in state.items() if name != _MODEL}
    return rest | learned
