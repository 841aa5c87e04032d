"""The skeleton: shape and splits of a tree, and checks of its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import TreeError
from hornbeam.kernels.route import Router, Slots, narrow_slots
from hornbeam.tree.arrays import expect, expect_array, read_only
from hornbeam.tree.level_order import level_offsets, node_blocks, parents_and_children
from hornbeam.typing import Bools, Floats, Indices

STOP = -1  #: `missing_slot` of a node where rows with a missing value stop
EVERY_CHILD = (
    -2
)  #: `missing_slot` of a node that splits such a row over all children, in proportion to their evidence


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Skeleton:
    """The splits of a tree as a frozen struct of arrays, without counts and predictions.

    Nodes are numbered in level order: parents before children, siblings together. A numeric split sends
    ``x <= threshold`` to slot 0 and the rest to slot 1; a nominal split looks its category code up in
    ``slot_of[slot_start[i]:slot_start[i + 1]]``, where -1 means not seen here: the row stops.
    Writable arrays are copied, read-only ones are kept; every invariant is checked (`check_skeleton`).

    Parameters
    ----------
    parent : int32 array of shape (n,)
        -1 for the root.
    first_child, n_children : int32 arrays of shape (n,)
        Children have consecutive numbers. A leaf has 0 children, and first child -1.
    feature : int32 array of shape (n,)
        The feature of the split; -1 on leaves.
    threshold : float64 array of shape (n,)
        NaN on leaves and nominal splits.
    slot_start : int32 array of shape (n + 1,)
    slot_of : int8 or int32 array
        For nominal splits the slot of each category of the feature; other nodes have an empty range. It is kept as int8
        if that holds all slots.
    missing_slot : int32 array of shape (n,)
        Where a row with a missing value goes: a slot; -1 (`STOP`), it stops here; -2 (`EVERY_CHILD`), to every child in
        proportion to its evidence. A numeric split may have a third child for missing values alone. -1 on leaves.

    Attributes
    ----------
    levels : tuple of int
        Level ``d`` is nodes ``levels[d]:levels[d + 1]``.

    Examples
    --------
    >>> import numpy as np
    >>> skeleton = Skeleton.of(
    ...     n_children=[2, 0, 2, 0, 0],
    ...     feature=[1, -1, 0, -1, -1],
    ...     threshold=[2.45, np.nan, 1.75, np.nan, np.nan],
    ... )
    >>> skeleton
    Skeleton(5 nodes, 3 leaves, depth 2)
    >>> skeleton.parent.tolist(), skeleton.levels
    ([-1, 0, 0, 2, 2], (0, 1, 3, 5))
    """

    parent: Indices
    first_child: Indices
    n_children: Indices
    feature: Indices
    threshold: Floats
    slot_start: Indices
    slot_of: Slots
    missing_slot: Indices
    levels: tuple[int, ...] = field(init=False)
    _router: Router | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        check_skeleton(self)
        object.__setattr__(self, "slot_of", narrow_slots(self.slot_of))
        for name in _ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, "levels", level_offsets(self.n_children))

    @classmethod
    def _unchecked(cls, **arrays: NDArray[Any]) -> Self:
        """Make a skeleton of new arrays, unchecked and not copied: of kernels, or of edits that break no invariant."""
        edited = object.__new__(cls)
        arrays["slot_of"] = narrow_slots(arrays["slot_of"])
        for name in _ARRAYS:
            arrays[name].flags.writeable = False
            object.__setattr__(edited, name, arrays[name])
        object.__setattr__(edited, "levels", level_offsets(edited.n_children))
        object.__setattr__(edited, "_router", None)
        return edited

    @classmethod
    def of(
        cls,
        n_children: Any,
        feature: Any,
        threshold: Any,
        *,
        missing_slot: Any = None,
        slot_start: Any = None,
        slot_of: Any = (),
    ) -> Self:
        """Make a skeleton from arrays or lists in level order, where `n_children` alone gives the shape.

        Without `missing_slot` every missing value stops; without `slot_start` there are no nominal splits.

        Examples
        --------
        >>> import numpy as np
        >>> Skeleton.of(
        ...     n_children=[3, 0, 0, 0],
        ...     feature=[0, -1, -1, -1],
        ...     threshold=[np.nan] * 4,
        ...     slot_start=[0, 3, 3, 3, 3],
        ...     slot_of=[0, 1, 2],
        ... )
        Skeleton(4 nodes, 3 leaves, depth 1)
        """
        n_children = np.asarray(n_children, np.int32)
        n = len(n_children)
        missing_slot = np.full(n, STOP) if missing_slot is None else missing_slot
        slot_start = np.zeros(n + 1) if slot_start is None else slot_start
        if int(n_children.sum()) == n - 1 and (n_children >= 0).all():
            parent, first_child = parents_and_children(n_children)
        else:  # the check raises the error
            parent, first_child = np.empty((2, n), np.int32)
        return cls(
            parent=parent,
            first_child=first_child,
            n_children=n_children,
            feature=np.asarray(feature, np.int32),
            threshold=np.asarray(threshold, np.float64),
            slot_start=np.asarray(slot_start, np.int32),
            slot_of=slot_of if _is_int8(slot_of) else np.asarray(slot_of, np.int32),
            missing_slot=np.asarray(missing_slot, np.int32),
        )

    @classmethod
    def leaf(cls) -> Self:
        """Make the smallest skeleton: one leaf.

        Examples
        --------
        >>> Skeleton.leaf()
        Skeleton(1 node, 1 leaf, depth 0)
        """
        return cls.of([0], [-1], [np.nan])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parent)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.n_nodes - int(np.count_nonzero(self.n_children))

    @property
    def depth(self) -> int:
        """Number of splits from the root to the deepest leaf."""
        return len(self.levels) - 2

    @property
    def is_leaf(self) -> Bools:
        """Whether each node is a leaf."""
        leaf: Bools = self.n_children == 0
        return leaf

    @property
    def is_fractional(self) -> bool:
        """Whether some node splits a row with a missing value over all its children."""
        return bool((self.missing_slot == EVERY_CHILD).any())

    @property
    def router(self) -> Router:
        """The packed form that routes rows, made on first use."""
        if self._router is None:
            arrays = {name: getattr(self, name) for name in _ROUTED}
            arrays["slot_of"] = self.slot_of.astype(np.int32, copy=False)
            object.__setattr__(self, "_router", Router(**arrays, n_roots=self.levels[1]))
        return self._router  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"Skeleton({summary(self)})"

    def __reduce__(self) -> tuple[type[Self], tuple[NDArray[Any], ...]]:
        return type(self), tuple(getattr(self, name) for name in _ARRAYS)


_ARRAYS = (
    "parent",
    "first_child",
    "n_children",
    "feature",
    "threshold",
    "slot_start",
    "slot_of",
    "missing_slot",
)
_ROUTED = _ARRAYS[1:]  # routing goes down and needs no parents


def summary(skeleton: Skeleton) -> str:
    """Format the number of nodes, the number of leaves and the depth."""
    nodes = "1 node" if skeleton.n_nodes == 1 else f"{skeleton.n_nodes} nodes"
    leaves = "1 leaf" if skeleton.n_leaves == 1 else f"{skeleton.n_leaves} leaves"
    return f"{nodes}, {leaves}, depth {skeleton.depth}"


def check_skeleton(skeleton: Skeleton) -> None:
    """Raise `TreeError` unless the arrays describe a tree in level order.

    It runs whenever a skeleton is made, loaded or unpickled, and takes tens of microseconds for a small tree. Errors
    name the array, the node, the value found and the value expected.
    """
    _check_types(skeleton)
    _check_shape(skeleton)
    _check_splits(skeleton)


def _check_types(s: Skeleton) -> None:
    n = len(s.parent) if np.ndim(s.parent) else 0
    for name in ("parent", "first_child", "n_children", "feature", "missing_slot"):
        expect_array(name, getattr(s, name), np.int32, (n,))
    expect_array("threshold", s.threshold, np.float64, (n,))
    expect_array("slot_start", s.slot_start, np.int32, (n + 1,))
    expect_array("slot_of", s.slot_of, np.int8 if _is_int8(s.slot_of) else np.int32, (None,))
    if n == 0:
        raise TreeError("parent has no nodes, expected at least the root: a tree without a split is one leaf")


def _is_int8(slots: Any) -> bool:
    return isinstance(slots, np.ndarray) and slots.dtype == np.int8


def _check_shape(s: Skeleton) -> None:
    """Check level order, in which `n_children` determines `parent` and `first_child`."""
    n = len(s.parent)
    expect(s.n_children >= 0, "n_children", s.n_children, "0 on a leaf, else 2 or more")
    expect(s.n_children != 1, "n_children", s.n_children, "0 on a leaf, else 2 or more")
    n_below = s.n_children.cumsum(dtype=np.int64)
    if n_below[-1] != n - 1:
        raise TreeError(f"n_children adds up to {n_below[-1]}, expected {n - 1}, all nodes but the root")
    reached = n_below[:-1] > np.arange(n - 1)
    expect(reached, "n_children", s.n_children, "children enough to reach the next node: number by level")
    parent, first_child = parents_and_children(s.n_children)
    expect(s.parent == parent, "parent", s.parent, parent)
    expect(s.first_child == first_child, "first_child", s.first_child, first_child)


def _check_splits(s: Skeleton) -> None:
    """Check feature, threshold and slots of each split."""
    leaf, numeric = s.n_children == 0, s.threshold == s.threshold
    # True counts as 1: the lower limit is 0 on inner nodes and -1 on leaves.
    expect(s.feature >= ~leaf - 1, "feature", s.feature, "0 or more where there are children, -1 on a leaf")
    expect((s.feature < 0) | ~leaf, "feature", s.feature, "-1 on a leaf")
    expect(~(numeric & leaf), "threshold", s.threshold, "NaN on a leaf")
    expect(s.missing_slot >= leaf + EVERY_CHILD, "missing_slot", s.missing_slot, "-2 or more, -1 on a leaf")
    too_large = "below the number of children, -1 on a leaf"
    expect(s.missing_slot < s.n_children, "missing_slot", s.missing_slot, too_large)
    pair = (s.n_children == 2) | ((s.n_children == 3) & (s.missing_slot == 2))
    expect(~numeric | pair, "n_children", s.n_children, "2 on a numeric split, 3 if missing_slot is 2")

    if s.slot_start[0] != 0 or s.slot_start[-1] != len(s.slot_of):
        raise TreeError(
            f"slot_start runs from {s.slot_start[0]} to {s.slot_start[-1]}, expected 0 to {len(s.slot_of)}, "
            "the length of slot_of"
        )
    # Compared, not subtracted: differences of invalid numbers may wrap around.
    in_order = s.slot_start[1:] >= s.slot_start[:-1]
    expect(in_order, "slot_start", s.slot_start, "no more than the next entry")
    n_slots = s.slot_start[1:] - s.slot_start[:-1]
    expect((n_slots > 0) ^ numeric ^ leaf, "slot_start", s.slot_start, "slots on nominal splits alone")
    if len(s.slot_of):
        _check_slots(s, n_slots)


def _check_slots(s: Skeleton, n_slots: NDArray[Any]) -> None:
    """Check that each category leads to a child or stops, and that each child can be reached."""
    reached = np.zeros(len(s.parent), np.bool_)
    reached[0] = True
    for first, last in node_blocks(s.slot_start):
        begin = int(s.slot_start[first])
        node = np.repeat(np.arange(first, last), n_slots[first:last])
        slot = s.slot_of[begin : s.slot_start[last]]
        valid = (slot >= -1) & (slot < s.n_children[node])
        if not valid.all():
            at = int(valid.argmin())
            raise TreeError(
                f"slot_of[{begin + at}] is {slot[at]} at node {node[at]}, expected -1 (not seen here) or a slot "
                f"below {s.n_children[node[at]]}"
            )
        reached[(s.first_child[node] + slot)[slot >= 0]] = True
    with_branch = np.flatnonzero((n_slots > 0) & (s.missing_slot >= 0))
    reached[s.first_child[with_branch] + s.missing_slot[with_branch]] = True
    unreachable = ~reached & (n_slots[s.parent] > 0)
    if unreachable.any():
        child = int(unreachable.argmax())
        raise TreeError(
            f"slot_of never leads from node {s.parent[child]} to its child {child}, expected a category or "
            "missing values for every child: leave out children that no row can reach"
        )
