"""The state of a fitted estimator in plain values, for pickle, deepcopy and skops.

skops, which MLflow uses to save models, loads a file only if every type in it is trusted. Therefore trees, forests and
rules are bytes of the model file format here, and the class of the estimator is the only Hornbeam type in its state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hornbeam.errors import StorageError
from hornbeam.estimators.persistence.files import pack_learned, unpack
from hornbeam.storage.file import decode, encode
from hornbeam.tree import Step

_MODEL = "_model"  # key of the bytes in the state
# Attributes that are in the bytes.
_LEARNED = frozenset(
    [
        "_distribution",
        "_forest",
        "_impurity",
        "_reading",
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
        "source_tree_",
        "tree_",
        "validation_losses_",
        "voting_",
    ]
)


def to_plain(estimator: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the fitted attributes in the state of an estimator by the bytes of a model file.

    They stay as they are if it is not fitted, or if a model file cannot hold them.
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
    """Return the attributes of an estimator from a state of `to_plain`."""
    if _MODEL not in state:
        return dict(state)
    model = decode(state[_MODEL])
    held = _LEARNED | model.settings.keys()
    learned = {name: value for name, value in vars(unpack(model)).items() if name in held}
    rest = {name: value for name, value in state.items() if name != _MODEL}
    return rest | learned
