"""A way to divide the codes of one feature among children."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.typing import Indices

__all__ = ["Direction", "Way", "direction_of"]

type Direction = Literal["left", "right", "own", "every"]
"""Where rows with a missing value go: to the first or second child, to a child of their own, or to every child."""


class Way(NamedTuple):
    """A way to divide the codes of one feature among children.

    A cut of a numeric feature has the codes ``left`` and ``right`` on its sides; at a split of known against missing
    values ``right`` is the missing code. For a nominal feature ``groups`` are the codes of each child, and the missing
    code where missing values go.
    """

    feature: int
    missing: Direction | None
    left: int = -1
    right: int = -1
    groups: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of_slots(cls, feature: int, nominal: bool, slot_of: Indices, missing_slot: int) -> Self:
        """Convert the slot of each code, the missing code last; -1: the code does not occur."""
        missing_code = len(slot_of) - 1
        if nominal:
            order, n_absent = np.argsort(slot_of, kind="stable"), int((slot_of < 0).sum())
            ends = n_absent + np.cumsum(np.bincount(slot_of[slot_of >= 0]))
            groups = tuple(tuple(group.tolist()) for group in np.split(order, [n_absent, *ends[:-1]])[1:])
            return cls(
                feature,
                direction_of(groups, missing_code, every=missing_slot == EVERY_CHILD),
                groups=groups,
            )
        left, right = (np.flatnonzero(slot_of[:-1] == slot) for slot in (0, 1))
        if not len(right):
            return cls(feature, "own", int(left[-1]), missing_code)
        if missing_slot == EVERY_CHILD:
            missing: Direction | None = "every"
        else:
            missing = None if slot_of[-1] < 0 else ("left", "right", "own")[slot_of[-1]]
        return cls(feature, missing, int(left[-1]), int(right[0]))

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two ways that divide the rows in the same way, whichever child is the first."""
        if not self.groups:
            return self
        return self.feature, self.missing == "every", frozenset(self.groups)


def direction_of(groups: Sequence[tuple[int, ...]], missing_code: int, *, every: bool) -> Direction | None:
    """Where missing values go, given the codes of each child."""
    if every:
        return "every"
    for at, group in enumerate(groups):
        if missing_code in group:
            return "own" if len(group) == 1 else ("left", "right")[at]
    return None
