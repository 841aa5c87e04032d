"""Every tree of a model, whichever library it comes from."""

from collections.abc import Callable
from typing import Any

from hornbeam.errors import InteropError
from hornbeam.interop import lightgbm, sklearn, xgboost, ydf
from hornbeam.interop.imported_tree import ImportedTree

__all__ = ["imported_trees"]

_READERS: dict[str, Callable[[Any], tuple[ImportedTree, ...]]] = {
    "lightgbm": lightgbm.imported_trees,
    "xgboost": xgboost.imported_trees,
    "ydf": ydf.imported_trees,
}
_ROUNDS: dict[str, Callable[[Any], int]] = {
    "lightgbm": lightgbm.n_rounds,
    "xgboost": xgboost.n_rounds,
    "ydf": ydf.n_rounds,
}


def imported_trees(model: Any) -> tuple[ImportedTree, ...]:
    """Take all trees out of a model, if their answers may be averaged.

    Those of a forest may, and the one for each class of a single round of boosting; those of later rounds
    only correct the rounds before.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> len(imported_trees(RandomForestClassifier(3).fit([[0.0], [1.0]], [0, 1])))
    3
    """
    homes = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    for library, take in _READERS.items():
        if library in homes:
            rounds = _ROUNDS[library](model)
            if rounds > 1:
                raise InteropError(
                    f"The model has {rounds} rounds of boosting, whose trees correct each other; expected one. "
                    "Train it with n_estimators=1 (or num_trees=1), or as a random forest."
                )
            return take(model)
    return sklearn.imported_trees(model)
