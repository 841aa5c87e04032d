"""Where a row goes: the shape and the tests of a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels.route import Router
from hornbeam.kernels.slots import Slots, narrow_slots
from hornbeam.tree.check import check_skeleton, read_only
from hornbeam.tree.walk import level_offsets, parents_and_children
from hornbeam.typing import Bools, Floats, Indices

__all__ = ["EVERY_CHILD", "STOP", "Skeleton"]

STOP = -1  #: `missing_slot` of a node where rows with a missing value stop
EVERY_CHILD = -2  #: `missing_slot` of a node that splits such a row over all children, in proportion to their evidence


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Skeleton:
    """A frozen struct of arrays that routes rows.

    Nodes are numbered in level order: parents before children, siblings together. A numeric test sends
    ``x <= threshold`` to slot 0 and the rest to slot 1; a nominal test looks its category code up in
    ``slot_of[slot_start[i]:slot_start[i + 1]]``, where -1 means not seen here: the row stops.
    Writable arrays are copied, read-only ones are kept; every invariant is checked (`hornbeam.tree.check`).

    Parameters
    ----------
    parent : int32 array of shape (n,)
        -1 for the root.
    first_child, n_children : int32 arrays of shape (n,)
        Children are a contiguous run; a leaf has none, and first child -1.
    feature : int32 array of shape (n,)
        The feature tested; -1 on leaves.
    threshold : float64 array of shape (n,)
        NaN on leaves and nominal tests.
    slot_start : int32 array of shape (n + 1,)
    slot_of : int8 or int32 array
        For nominal tests the slot of each category of the feature; other nodes have an empty run. It is kept as int8 if
        that holds all slots.
    missing_slot : int32 array of shape (n,)
        Where a missing value goes: a slot; -1, it stops here; -2, to every child in proportion to its
        evidence. A numeric test may have a third child for missing values alone. -1 on leaves.

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
    def _edited(cls, **arrays: NDArray[Any]) -> Self:
        """Make a skeleton of arrays nobody else holds, unchecked: for edits that break no invariant."""
        edited = object.__new__(cls)
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

        Without `missing_slot` every missing value stops; without `slot_start` there are no nominal tests.

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
        missing_slot = np.full(n, -1) if missing_slot is None else missing_slot
        slot_start = np.zeros(n + 1) if slot_start is None else slot_start
        if int(n_children.sum()) == n - 1 and (n_children >= 0).all():
            parent, first_child = parents_and_children(n_children)
        else:  # the check will say what is wrong with the numbers
            parent, first_child = np.empty((2, n), np.int32)
        return cls(
            parent=parent,
            first_child=first_child,
            n_children=n_children,
            feature=np.asarray(feature, np.int32),
            threshold=np.asarray(threshold, np.float64),
            slot_start=np.asarray(slot_start, np.int32),
            slot_of=slot_of if _is_narrow(slot_of) else np.asarray(slot_of, np.int32),
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
        """Steps from the root to the deepest leaf."""
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
        """The packed form that routes rows, made when first asked for."""
        if self._router is None:
            arrays = {name: getattr(self, name) for name in _ROUTED}
            arrays["slot_of"] = self.slot_of.astype(np.int32, copy=False)
            object.__setattr__(self, "_router", Router(**arrays))
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
_ROUTED = _ARRAYS[1:]  # a walk down never asks for the parent


def _is_narrow(slots: Any) -> bool:
    return isinstance(slots, np.ndarray) and slots.dtype == np.int8


def summary(skeleton: Skeleton) -> str:
    """Say how large a tree is, for people."""
    nodes = "1 node" if skeleton.n_nodes == 1 else f"{skeleton.n_nodes} nodes"
    leaves = "1 leaf" if skeleton.n_leaves == 1 else f"{skeleton.n_leaves} leaves"
    return f"{nodes}, {leaves}, depth {skeleton.depth}"
