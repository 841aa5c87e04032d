"""Every tree of a model, whichever library it comes from."""

from collections.abc import Callable
from typing import Any

from hornbeam.errors import InteropError
from hornbeam.interop import lightgbm, sklearn, xgboost, ydf
from hornbeam.interop.graft import Graft

__all__ = ["grafts_of"]

_GRAFTS: dict[str, Callable[[Any], tuple[Graft, ...]]] = {
    "lightgbm": lightgbm.grafts,
    "xgboost": xgboost.grafts,
    "ydf": ydf.grafts,
}
_ROUNDS: dict[str, Callable[[Any], int]] = {
    "lightgbm": lightgbm.n_rounds,
    "xgboost": xgboost.n_rounds,
    "ydf": ydf.n_rounds,
}


def grafts_of(model: Any) -> tuple[Graft, ...]:
    """Take all trees out of a model, if their answers may be averaged.

    Those of a forest may, and the one for each class of a single round of boosting; those of later rounds
    only correct the rounds before.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> len(grafts_of(RandomForestClassifier(3).fit([[0.0], [1.0]], [0, 1])))
    3
    """
    homes = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    for library, take in _GRAFTS.items():
        if library in homes:
            rounds = _ROUNDS[library](model)
            if rounds > 1:
                raise InteropError(
                    f"The model has {rounds} rounds of boosting, whose trees correct each other; expected one. "
                    "Train it with n_estimators=1 (or num_trees=1), or as a random forest."
                )
            return take(model)
    return sklearn.grafts(model)
