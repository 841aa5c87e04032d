"""All trees of a model of another library."""

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
    """Import all trees of a model whose predictions may be averaged.

    These are the trees of a forest, or of a single round of boosting with one tree per class; trees of later
    rounds only correct the rounds before.
    """
    packages = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    for library, read in _READERS.items():
        if library in packages:
            rounds = _ROUNDS[library](model)
            if rounds > 1:
                raise InteropError(
                    f"The model has {rounds} rounds of boosting, whose trees correct each other; expected one. "
                    "Train it with n_estimators=1 (or num_trees=1), or as a random forest."
                )
            return read(model)
    return sklearn.imported_trees(model)
