"""How far apart two values of a feature are, in the eyes of a tree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hornbeam.data.schema import Kind
from hornbeam.errors import ParameterError
from hornbeam.tree import Tree
from hornbeam.tree.condition import is_missing
from hornbeam.typing import Floats

__all__ = ["Distance"]


class Distance:
    """Count how much of what a tree tells apart lies between two values.

    For a number or an ordinal value that is the part of the tree's thresholds for the feature that are crossed, from
    0 to 1. Categories without an order are 1 apart, and so is every value from a missing one.

    Parameters
    ----------
    tree : Tree
    spread : mapping from str to float, optional
        For numeric features, by name, what counts 1 instead; their distance is the difference divided by it.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1], [2], [9]], ["a", "b", "a", "b"]).tree_
    >>> Distance(tree)(0, 0.0, 1.0), Distance(tree)(0, 0.0, 9.0), Distance(tree, {"x0": 5.0})(0, 0.0, 1.0)
    (0.3333333333333333, 1.0, 0.2)
    """

    def __init__(self, tree: Tree, spread: Mapping[str, float] | None = None) -> None:
        skeleton, self._features = tree.skeleton, tree.schema.features
        self._spread = dict(spread or {})
        self._cuts: dict[int, Floats] = {}
        for asked in np.unique(skeleton.feature[skeleton.feature >= 0]).tolist():
            self._cuts[asked] = np.unique(skeleton.threshold[skeleton.feature == asked])
            name = self._features[asked].name
            step = self._spread.get(name, 1.0)
            if not 0 < step < np.inf:
                raise ParameterError(
                    f"spread[{name!r}] is {step!r}: expected a finite number above 0, the change that counts 1. "
                    "Leave the feature out: then the tree's thresholds count."
                )

    def __call__(self, asked: int, value: float, other: float) -> float:
        """Return how far apart two values of a feature that the tree asks for are, as a table holds them."""
        feature = self._features[asked]
        if feature.kind is Kind.NOMINAL or is_missing(feature, value):
            return 1.0
        if feature.kind is Kind.NUMERIC and feature.name in self._spread:
            return abs(other - value) / self._spread[feature.name]
        cuts = self._cuts[asked]
        begin, end = np.searchsorted(cuts, sorted([value, other])).tolist()
        return float(end - begin) / len(cuts)
