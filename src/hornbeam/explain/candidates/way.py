"""Ways to divide the codes of one feature among children: one, and all that send missing values the same way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.growing.category_order import principal_direction
from hornbeam.kernels.subtree import GrowthSpec
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.typing import Bools, Counts, Indices

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
                _direction_of(groups, missing_code, every=missing_slot == EVERY_CHILD),
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


def _direction_of(groups: Sequence[tuple[int, ...]], missing_code: int, *, every: bool) -> Direction | None:
    """Where missing values go, given the codes of each child."""
    if every:
        return "every"
    for at, group in enumerate(groups):
        if missing_code in group:
            return "own" if len(group) == 1 else ("left", "right")[at]
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Splits of a feature that send missing values the same way.

    `codes` are those that occur, in the order of the scan. The missing code is one of them if it is a category;
    `missing` is None then. `kind`: cuts of the order, all subsets, a child per code, or known against missing values.
    """

    feature: int
    nominal: bool
    codes: NDArray[np.intp]
    missing_code: int
    missing: Direction | None
    kind: Literal["cuts", "subsets", "multiway", "known"] = "cuts"

    def __len__(self) -> int:
        if self.kind == "subsets":
            return (1 << (len(self.codes) - 1)) - 1
        return len(self.codes) - 1 if self.kind == "cuts" else 1

    def first_child(self, at: int) -> Bools:
        """Tell which codes go to the first child of a split with two."""
        n = np.arange(len(self.codes))
        return n <= at if self.kind == "cuts" else ((at + 1) >> n & 1).astype(np.bool_)

    def children(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Add up the numbers of the codes in each child: shape (n, n_children, m)."""
        known, missing = numbers[self.codes], numbers[-1]
        total = known.sum(axis=0, dtype=known.dtype)
        if self.kind == "known":
            return np.stack((total, missing))[None]
        if self.kind == "multiway":
            parts = known[None].copy()
        else:
            if self.kind == "cuts":
                first = np.cumsum(known, axis=0, dtype=known.dtype)[:-1]
            else:
                members = np.stack([self.first_child(at) for at in range(len(self))])
                first = np.where(members[:, :, None], known, 0).sum(axis=1, dtype=known.dtype)
            parts = np.stack((first, total - first), axis=1)
        if self.missing in ("left", "right"):
            parts[:, int(self.missing == "right")] += missing
        if self.missing == "own":
            parts = np.concatenate((parts, np.broadcast_to(missing, (len(parts), 1, len(missing)))), axis=1)
        return parts

    def way(self, at: int) -> Way:
        """Return one of the splits."""
        f, codes, missing_code = self.feature, self.codes, self.missing_code
        if not self.nominal:
            if self.kind == "known":
                return Way(f, "own", int(codes[-1]), missing_code)
            return Way(f, self.missing, int(codes[at]), int(codes[at + 1]))
        if self.kind == "multiway":
            groups = [[code] for code in codes.tolist()]
        elif self.kind == "known":
            groups = [codes.tolist()]
        else:
            first = self.first_child(at)
            groups = [codes[first].tolist(), codes[~first].tolist()]
        if self.missing in ("left", "right"):
            groups[int(self.missing == "right")].append(missing_code)
        elif self.missing == "own":
            groups.append([missing_code])
        children = tuple(tuple(sorted(group)) for group in groups)
        missing = _direction_of(children, missing_code, every=self.missing == "every")
        return Way(f, missing, groups=children)


def scan_order(evidence: Counts, spec: GrowthSpec) -> NDArray[np.intp]:
    """Sort categories as growing does: by mean, by the share of the second class, or along a direction of classes."""
    weight = evidence[:, :1] if spec.sums else evidence.sum(axis=1, keepdims=True)
    if spec.sums or spec.n_classes == 2:
        return np.argsort(evidence[:, 1] / weight[:, 0], kind="stable")
    place = (evidence / weight * principal_direction(evidence)).sum(axis=1)
    return np.argsort(np.rint(place * 2.0**40), kind="stable")  # rounding errors must not sort
