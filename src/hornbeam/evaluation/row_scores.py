"""Scores of single rows, from which means, differences of two models and standard errors follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.evaluation.scores import LEAST_PROBABILITY
from hornbeam.typing import Bools, Floats

__all__ = ["area_under_curve", "losses", "mean_area"]


def losses(predicted: Floats, named: NDArray[Any], target: NDArray[Any]) -> dict[str, Floats]:
    """Return the log loss, the Brier score and whether the decision is right, per row."""
    k = predicted.shape[1]
    scale = 0.5 if k == 2 else 1.0  # as scikit-learn: 0 to 1 for two classes, 0 to 2 for more
    return {
        "log loss": -np.log(np.maximum(predicted[np.arange(len(predicted)), target], LEAST_PROBABILITY)),
        "Brier score": scale * ((predicted - np.eye(k)[target]) ** 2).sum(axis=1),
        "accuracy": 1.0 * (named == target),
    }


def mean_area(target: NDArray[Any], predicted: Floats, weight: Floats | None = None) -> tuple[float, Floats]:
    """Return the area of the second of two classes, or the mean over classes with rows, and each row's part of it."""
    k = predicted.shape[1]
    found = [area_under_curve(target == c, predicted[:, c], weight) for c in ([1] if k == 2 else range(k))]
    known = [(area, influence) for area, influence in found if not np.isnan(area)]
    if not known:
        return float("nan"), np.full(len(predicted), np.nan)
    return float(np.mean([area for area, _ in known])), np.mean([influence for _, influence in known], axis=0)


def area_under_curve(
    observed: Bools, predicted: Floats, weight: Floats | None = None
) -> tuple[float, Floats]:
    """Return the area under the ROC curve, and the contribution of each row to its standard error.

    The area is NaN where one side has no rows. The contributions have the mean 0; the root of the sum of their squares,
    divided by the rows, is the standard error :cite:p:`delong1988`.
    """
    n = len(observed)
    influence = np.zeros(n)
    if observed.all() or not observed.any():
        return float("nan"), influence
    weight = np.ones(n) if weight is None else weight
    yes, no = weight[observed], weight[~observed]
    above = _share_below(predicted[observed], predicted[~observed], no)
    below = _share_below(-predicted[~observed], -predicted[observed], yes)
    area = float((yes * above).sum() / yes.sum())
    influence[observed] = yes * (above - area) * n / yes.sum()
    influence[~observed] = no * (below - area) * n / no.sum()
    return area, influence


def _share_below(score: Floats, others: Floats, weight: Floats) -> Floats:
    """Weight of the other rows with a lower score, and half of that with the same, by their total weight."""
    order = np.argsort(others)
    ranked, below = others[order], np.append(0.0, np.cumsum(weight[order]))
    lower, not_higher = (below[np.searchsorted(ranked, score, side)] for side in ("left", "right"))
    share: Floats = (lower + not_higher) / (2 * below[-1])
    return share
