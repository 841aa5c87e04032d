"""Decision thresholds: the one in use, and the effect of others on the test rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.tree import Tree
from hornbeam.tree.decision import Costs

__all__ = ["thresholds"]

_MOST_POINTS = 1000


def thresholds(reported: ReportedModel, scored: ScoredRows | None) -> dict[str, Any] | None:
    """Count, for a tree of two classes, the test rows of each class at each probability of the class of interest.

    With these counts the page can try any threshold without the rows. With fractional missing values there may be
    nearly as many probabilities as rows; then they are rounded.

    Returns
    -------
    dict or None
        ``said``, ``no`` and ``yes``: probabilities in order, and rows of the other class and of the class of interest;
        ``in_use``: the class of interest is decided above it; ``costs`` in use and ``counts`` of the decisions,
        true class by decided class, the class of interest second. None for more classes.
    """
    yes = reported.positive
    if reported.tree.n_classes != 2 or yes is None:
        return None
    order = [1 - yes, yes]
    costs = Costs.of(reported.costs, reported.tree.schema.classes).matrix[np.ix_(order, order)]
    found: dict[str, Any] = {"costs": costs.tolist(), "in_use": _in_use(reported.tree, order)}
    if scored is not None:
        predicted = scored.predicted[:, yes]
        if len(np.unique(predicted)) > _MOST_POINTS:
            predicted = np.round(predicted * _MOST_POINTS) / _MOST_POINTS
        points, place = np.unique(predicted, return_inverse=True)
        rows = (
            np.bincount(place, scored.count * (scored.target == k), len(points)).astype(int).tolist()
            for k in order
        )
        counts = scored.confusion[np.ix_(order, order)].tolist()
        found |= {"said": points.tolist(), **dict(zip(("no", "yes"), rows, strict=True)), "counts": counts}
    return found


def _in_use(tree: Tree, order: list[int]) -> float:
    """The probability above which the class of interest is decided."""
    loss = tree.decision.loss
    matrix = 1.0 - np.eye(2) if loss is None else loss.matrix[np.ix_(order, order)]
    false_alarm, miss = matrix[0, 1] - matrix[0, 0], matrix[1, 0] - matrix[1, 1]
    if false_alarm + miss <= 0 or miss <= 0:
        return 1.0
    return float(max(false_alarm / (false_alarm + miss), 0.0))
