"""Distance between two values of a feature, by the thresholds of a tree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.tree import Tree
from hornbeam.tree.condition import is_missing
from hornbeam.typing import Floats

__all__ = ["Distance"]


class Distance:
    """Distance between two values of a feature.

    For numeric and ordinal features, the share of the tree's thresholds on the feature that lie between the values,
    from 0 to 1. Without thresholds, on features that only terms of leaves use, the difference as a share of the range
    of the terms. Two categories without an order have the distance 1, and so do a known and a missing value. For
    numeric features in `spread`, by name, the difference that has the distance 1 replaces the thresholds.
    """

    def __init__(self, tree: Tree, spread: Mapping[str, float] | None = None) -> None:
        skeleton, self._features = tree.skeleton, tree.schema.features
        self._spread = dict(spread or {})
        self._thresholds: dict[int, Floats] = {}
        self._range: dict[int, float] = {}
        slopes = tree.slopes
        for used in np.unique(slopes.feature).tolist():
            terms = slopes.feature == used
            self._range[used] = float(slopes.high[terms].max() - slopes.low[terms].min()) or 1.0
        tested_or_used = np.union1d(skeleton.feature[skeleton.feature >= 0], slopes.feature)
        for tested in tested_or_used.tolist():
            self._thresholds[tested] = np.unique(skeleton.threshold[skeleton.feature == tested])
            name = self._features[tested].name
            scale = self._spread.get(name, 1.0)
            if not 0 < scale < np.inf:
                raise ParameterError(
                    f"spread[{name!r}] is {scale!r}: expected a finite number above 0, the change that counts 1. "
                    "Leave the feature out to use the thresholds of the tree."
                )

    def __call__(self, tested: int, value: float, other: float) -> float:
        """Compute the distance of two values, as in the columns of a table, of a feature that the tree uses."""
        feature = self._features[tested]
        if feature.is_nominal or is_missing(feature, value):
            return 1.0
        if feature.is_numeric and feature.name in self._spread:
            return abs(other - value) / self._spread[feature.name]
        thresholds = self._thresholds[tested]
        if tested in self._range and not len(thresholds):
            return abs(other - value) / self._range[tested]
        begin, end = np.searchsorted(thresholds, sorted([value, other])).tolist()
        return float(end - begin) / len(thresholds)
