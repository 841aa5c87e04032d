"""Monotone constraints on smoothed predictions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError
from hornbeam.smoothing.smoother import NamedSmoother
from hornbeam.tree.edit import with_belief
from hornbeam.tree.tree import Step, Tree


@dataclass(frozen=True, slots=True)
class Monotone(NamedSmoother):
    """Clip predictions where smoothing has broken a monotone constraint.

    A grower keeps the constraints on raw frequencies. Smoothing can break them: a small leaf borrows more than a
    large one, and may pass it. The middle between the two sides of a constrained split is a bound for all predictions
    below it; predictions within their bounds do not change.
    """

    name: ClassVar[str] = "monotone"
    for_regression: ClassVar[bool] = True
    _for_several: ClassVar[bool] = True  # works for trees side by side (`hornbeam.tree.several`)

    signs: tuple[int, ...]  #: +1, -1 or 0 per feature, for the second class, or the mean

    def __post_init__(self) -> None:
        if not isinstance(self.signs, tuple | list):
            raise ParameterError(f"signs={self.signs!r:.80}: expected a tuple of -1, 0 and 1.")
        object.__setattr__(self, "signs", tuple(self.signs))
        for sign in self.signs:
            check_whole("a sign", sign, -1, 1)

    def check_schema(self, schema: Schema) -> None:
        """Raise `ParameterError` for more than two classes, or another number of features."""
        if schema.n_classes not in (0, 2):
            raise ParameterError(
                f"signs are for two classes or a numeric target; the tree has {schema.n_classes} classes."
            )
        if len(self.signs) != schema.n_features:
            raise ParameterError(
                f"there are {len(self.signs)} signs; expected {schema.n_features}, one per column."
            )

    def __call__(self, tree: Tree) -> Tree:
        """Return the tree with predictions that keep the constraints."""
        self.check_schema(tree.schema)
        skeleton = tree.skeleton
        belief = tree.belief[:, -1].copy()
        lower, upper = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
        # A split of known from missing values has an infinite threshold, and no order.
        ordered = np.isfinite(skeleton.threshold)
        sign = np.where(ordered, np.array([*self.signs, 0])[skeleton.feature], 0)
        for begin, end in zip(skeleton.levels[1:-1], skeleton.levels[2:], strict=True):
            level = slice(begin, end)
            parent = skeleton.parent[level]
            lower[level], upper[level] = lower[parent], upper[parent]
            belief[level] = belief[level].clip(lower[level], upper[level])
            constrained = np.unique(parent[sign[parent] != 0])
            left = skeleton.first_child[constrained]
            low, high = np.where(sign[constrained] > 0, (left, left + 1), (left + 1, left))
            upper[low] = lower[high] = (belief[low] + belief[high]) / 2
            belief[level] = belief[level].clip(lower[level], upper[level])
        moved = belief != tree.belief[:, -1]
        clipped = belief[:, None] if tree.is_regression else np.stack((1 - belief, belief), axis=1)
        new = np.where(moved[:, None], clipped, tree.belief)
        return with_belief(tree, new, tree.borrowed, Step.of(self.name, signs=self.signs))
