"""The slopes: terms of nodes that change a prediction with the value of a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.errors import TreeError
from hornbeam.tree.arrays import expect, expect_array, read_only
from hornbeam.tree.level_order import concat_ranges
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import push_down
from hornbeam.typing import Bools, Floats, Indices

NO_CATEGORY = -1  #: `category` of a term of a numeric or ordinal feature
_MAX_CHANGE = 1e100  # of one term; sums and differences of such numbers are finite
_MOST_ON_PATHS = 2**24  # terms of the paths of all nodes together: what an export writes


class Term(NamedTuple):
    """One term of a node, an entry of each array of `Slopes`."""

    feature: int
    category: int
    low: float
    high: float
    centre: float
    slope: list[float]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Slopes:
    """The terms of all nodes as a frozen struct of arrays, one entry per term.

    A row has the terms of all nodes on its path, from the root to the node where it stops, in this order. A term adds
    ``slope * (value - centre)`` to the score of each class, where the value is clipped to ``[low, high]``; a missing
    value adds nothing. The score of a class without terms is the logarithm of its probability in the node where the
    row stops. In regression a term is added to the mean.
    Writable arrays are copied, read-only ones are kept; ranges and the order of nodes are checked here, nodes, features
    and the order of the terms of a node by the tree (`check_slopes`).

    Parameters
    ----------
    node : int32 array of shape (m,)
        The node of each term, a leaf or an inner node; ascending.
    feature : int32 array of shape (m,)
        Ascending within a node of a tree.
    category : int32 array of shape (m,)
        For a nominal feature the code of a category: the value of the term is 1 for this category and 0 for any
        other; ascending within a feature. -1 for a numeric or ordinal feature, which a node has
        at most once.
    low, high : float64 arrays of shape (m,)
        Range that the value is clipped to; 0 and 1 for a category.
    centre : float64 array of shape (m,)
        The value that adds nothing.
    slope : float64 array of shape (m, K)
        Change of the score of each class per unit of the value; shape (m, 1) in regression.

    See Also
    --------
    hornbeam.tree.edit.with_slopes : a tree with other slopes.

    Examples
    --------
    >>> slopes = Slopes.of(node=[1], feature=[0], low=[20], high=[60], centre=[35], slope=[[0.0, 0.1]])
    >>> slopes, len(slopes), slopes.of_node(1)
    (Slopes(1 term of 1 node), 1, range(0, 1))
    """

    node: Indices
    feature: Indices
    category: Indices
    low: Floats
    high: Floats
    centre: Floats
    slope: Floats

    def __post_init__(self) -> None:
        _check_terms(self)
        for name in _ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def of(
        cls, node: Any, feature: Any, low: Any, high: Any, centre: Any, slope: Any, category: Any = None
    ) -> Self:
        """Make slopes from arrays or lists; without `category` no feature is nominal.

        Examples
        --------
        >>> Slopes.of(
        ...     [1, 2], [0, 0], low=[0, 0], high=[1, 1], centre=[0.5, 0.2], slope=[[1.0], [2.0]], category=[0, 3]
        ... )
        Slopes(2 terms of 2 nodes)
        """
        node = np.asarray(node, np.int32)
        return cls(
            node=node,
            feature=np.asarray(feature, np.int32),
            category=np.full(len(node), NO_CATEGORY, np.int32)
            if category is None
            else np.asarray(category, np.int32),
            low=np.asarray(low, np.float64),
            high=np.asarray(high, np.float64),
            centre=np.asarray(centre, np.float64),
            slope=np.asarray(slope, np.float64),
        )

    @classmethod
    def none(cls, n_outputs: int = 0) -> Slopes:
        """Return the empty table, for predictions of `n_outputs` numbers.

        Examples
        --------
        >>> Slopes.none(2), Slopes.none(2).slope.shape
        (Slopes(no terms), (0, 2))
        """
        return _none(n_outputs)

    def __len__(self) -> int:
        return len(self.node)

    @property
    def n_outputs(self) -> int:
        """Number of columns of `slope`: the classes, or 1."""
        return int(self.slope.shape[1])

    @property
    def nodes(self) -> Indices:
        """The nodes with terms, ascending."""
        return np.unique(self.node)

    def of_node(self, node: int) -> range:
        """Return the positions of the terms of a node.

        Examples
        --------
        >>> Slopes.none(2).of_node(3)
        range(0, 0)
        """
        return range(int(self.node.searchsorted(node)), int(self.node.searchsorted(node, "right")))

    def terms(self, node: int) -> list[Term]:
        """Return the terms of a node; empty if it has none."""
        if not len(self):  # the usual case, for every node of a large tree
            return []
        at = self.of_node(node)
        own = [array[at.start : at.stop].tolist() for array in self.arrays[1:]]
        return [Term(*term) for term in zip(*own, strict=True)]

    def of_nodes(self, begin: int, end: int) -> Slopes:
        """Return the terms of nodes ``begin`` up to ``end``, which become nodes 0 up to ``end - begin``.

        Examples
        --------
        >>> slopes = Slopes.of([1, 3], [0, 0], low=[0, 0], high=[1, 1], centre=[0, 0], slope=[[1.0], [2.0]])
        >>> slopes.of_nodes(3, 5).node.tolist()
        [0]
        """
        first, last = self.node.searchsorted([begin, end]).tolist()
        if first == last:
            return Slopes.none(self.n_outputs)
        node, *rest = [array[first:last] for array in self.arrays]
        return Slopes(node - np.int32(begin), *rest)

    def starts(self, n_nodes: int) -> Indices:
        """Return where the terms of each node begin: those of node ``i`` are ``starts[i]:starts[i + 1]``.

        Examples
        --------
        >>> slopes = Slopes.of([1, 1], [0, 2], low=[0, 0], high=[1, 1], centre=[0, 0], slope=[[1.0], [2.0]])
        >>> slopes.starts(3).tolist()
        [0, 0, 2, 2]
        """
        return self.node.searchsorted(np.arange(n_nodes + 1)).astype(np.int32)

    def renumbered(self, number: Sequence[int] | NDArray[np.integer[Any]]) -> Slopes:
        """Give the nodes new numbers, and drop the terms of those with the number -1.

        The order of the nodes that remain must not change.

        Examples
        --------
        >>> slopes = Slopes.of([1, 3], [0, 0], low=[0, 0], high=[1, 1], centre=[0, 0], slope=[[1.0], [2.0]])
        >>> slopes.renumbered([0, -1, 1, 2]).node.tolist()
        [2]
        """
        node = np.asarray(number, np.int32)[self.node]
        kept = node >= 0
        if not kept.any():
            return Slopes.none(self.n_outputs)
        arrays = {name: getattr(self, name)[kept] for name in _ARRAYS[1:]}
        return Slopes(node=node[kept], **arrays)

    def reordered(self, order: Indices) -> Slopes:
        """Return the terms of all nodes in another order: those of node ``order[i]`` become those of node ``i``.

        Examples
        --------
        >>> slopes = Slopes.of([0, 2], [1, 0], low=[0, 0], high=[1, 1], centre=[0, 0], slope=[[1.0], [2.0]])
        >>> slopes.reordered(np.array([2, 1, 0], np.int32)).feature.tolist()
        [0, 1]
        """
        start = self.starts(len(order))
        own = np.diff(start)[order]
        at = concat_ranges(start[order], own)
        return Slopes(
            np.repeat(np.arange(len(order), dtype=np.int32), own), *[array[at] for array in self.arrays[1:]]
        )

    def on_paths(self, skeleton: Skeleton) -> Slopes:
        """Return the terms of the path of each node as if they were its own, in the order in which they are added.

        Examples
        --------
        >>> skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [5.0, np.nan, np.nan])
        >>> slopes = Slopes.of([0, 2], [1, 0], low=[0, 0], high=[1, 1], centre=[0, 0], slope=[[1.0], [2.0]])
        >>> every = slopes.on_paths(skeleton)
        >>> every.node.tolist(), every.feature.tolist()
        ([0, 1, 2, 2], [1, 1, 1, 0])
        """
        if skeleton.is_leaf[self.node].all():
            return self
        start = self.starts(skeleton.n_nodes)
        own = np.diff(start)
        every = push_down(skeleton, own)
        above, place = every - own, np.cumsum(every) - every
        at = np.empty(every.sum(), np.intp)
        at[concat_ranges(place + above, own)] = np.arange(len(self))
        for begin, end in pairwise(skeleton.levels[1:]):
            parents, level = skeleton.parent[begin:end], slice(begin, end)
            at[concat_ranges(place[level], above[level])] = at[concat_ranges(place[parents], above[level])]
        node = np.repeat(np.arange(skeleton.n_nodes, dtype=np.int32), every)
        return Slopes(node, *[array[at] for array in self.arrays[1:]])

    def distances(self, at: int, column: NDArray[np.generic]) -> Floats:
        """Return how far each value of the feature of a term is from the centre: what the slope is multiplied by.

        Examples
        --------
        >>> slopes = Slopes.of([0], [0], low=[20], high=[60], centre=[35], slope=[[0.1]])
        >>> slopes.distances(0, np.array([10.0, 36.0, 90.0, np.nan])).tolist()
        [-15.0, 1.0, 25.0, 0.0]
        """
        category, centre = self.category.item(at), self.centre.item(at)
        if category >= 0:
            return np.where(column == -1, 0.0, (column == category) - centre)
        limited = np.clip(column, self.low.item(at), self.high.item(at))
        distance: Floats = np.nan_to_num(limited - centre, nan=0.0)
        return distance

    def __repr__(self) -> str:
        terms, nodes = len(self), len(self.nodes)
        if not terms:
            return "Slopes(no terms)"
        return f"Slopes({terms} term{'s' * (terms > 1)} of {nodes} node{'s' * (nodes > 1)})"

    def __reduce__(self) -> tuple[type[Self], tuple[NDArray[Any], ...]]:
        return type(self), self.arrays

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays, in the order of the fields."""
        return tuple([getattr(self, name) for name in _ARRAYS])


_ARRAYS = ("node", "feature", "category", "low", "high", "centre", "slope")


@lru_cache(maxsize=64)
def _none(n_outputs: int) -> Slopes:
    return Slopes.of([], [], [], [], [], np.empty((0, n_outputs)))


def check_slopes(slopes: Slopes, schema: Schema, skeleton: Skeleton) -> None:
    """Raise `TreeError` unless the terms belong to nodes of the skeleton and fit the features of the schema."""
    if not len(slopes):
        return
    n, features = skeleton.n_nodes, schema.features
    if slopes.n_outputs != schema.n_outputs:
        raise TreeError(
            f"slopes.slope has {slopes.n_outputs} columns, expected {schema.n_outputs}: one per class, or one in "
            "regression"
        )
    if skeleton.is_fractional:
        raise TreeError(
            "slopes has terms, expected none where missing values go to every child (missing_slot -2)"
        )
    _expect(slopes.node < n, "node", slopes, f"one of the {n} nodes")
    _check_order(slopes)
    _expect(
        slopes.feature < len(features), "feature", slopes, f"one of the schema's {len(features)} features"
    )
    nominal = np.array([feature.is_nominal for feature in features])[slopes.feature]
    width = np.array([len(feature.categories) for feature in features])[slopes.feature]
    _expect(nominal | (slopes.category == NO_CATEGORY), "category", slopes, "-1: the feature is not nominal")
    known = (slopes.category >= 0) & (slopes.category < width)
    _expect(~nominal | known, "category", slopes, "the code of a category of its nominal feature")
    _check_paths(slopes, skeleton)


def _check_paths(slopes: Slopes, skeleton: Skeleton) -> None:
    """Limit the terms of all paths together, which grow with the square of the terms of a file."""
    if skeleton.is_leaf[slopes.node].all():
        return
    on_paths = int(push_down(skeleton, np.bincount(slopes.node, minlength=skeleton.n_nodes)).sum())
    if on_paths > _MOST_ON_PATHS:
        raise TreeError(
            f"slopes has {on_paths:,} terms on the paths to all nodes together, expected {_MOST_ON_PATHS:,} at most: "
            "a term of an inner node is counted for each node below it"
        )


def _check_terms(s: Slopes) -> None:
    """Check types and ranges of the terms, and the order of their nodes."""
    m = len(s.node) if np.ndim(s.node) else 0
    for name in ("node", "feature", "category"):
        expect_array(f"slopes.{name}", getattr(s, name), np.int32, (m,))
    for name in ("low", "high", "centre"):
        expect_array(f"slopes.{name}", getattr(s, name), np.float64, (m,))
    expect_array("slopes.slope", s.slope, np.float64, (m, None))
    if s.slope.shape[0] != m:
        raise TreeError(f"slopes.slope has {s.slope.shape[0]} rows, expected {m}: one per term")
    if not m:
        return
    _expect(s.node >= 0, "node", s, "0 or more")
    _expect(s.feature >= 0, "feature", s, "0 or more")
    _expect(s.category >= NO_CATEGORY, "category", s, "-1 or more")
    _check_nodes(s)
    for name in ("low", "high", "centre", "slope"):
        _expect(np.isfinite(getattr(s, name)), name, s, "a finite number")
    _expect((s.category < 0) | ((s.low == 0) & (s.high == 1)), "low", s, "0, and high 1, for a category")
    _expect((s.low <= s.centre) & (s.centre <= s.high), "centre", s, "a number from low to high")
    with np.errstate(over="ignore", invalid="ignore"):
        reach = np.maximum(s.high - s.centre, s.centre - s.low)
        change = np.abs(s.slope * reach[:, None])
    _expect(change <= _MAX_CHANGE, "slope", s, f"a change of at most {_MAX_CHANGE:g} within low and high")


def _check_nodes(s: Slopes) -> None:
    descending = s.node[1:] < s.node[:-1]
    if descending.any():
        at = int(descending.argmax())
        raise TreeError(
            f"slopes has terms {at} and {at + 1} of nodes {s.node[at]} and {s.node[at + 1]}, expected ascending order"
        )


def _check_order(s: Slopes) -> None:
    """Check the order of the terms of each node."""
    keys = np.stack([s.node, s.feature, s.category])
    before, after = keys[:, :-1], keys[:, 1:]
    greater, equal = after > before, after == before
    ordered = greater[0] | greater[1] | (equal[1] & greater[2])
    # A feature has terms for categories or one term: -1 cannot come before a category.
    ordered &= ~(equal[0] & equal[1] & (before[2] < 0))
    if not ordered.all():
        at = int(ordered.argmin())
        raise TreeError(
            f"slopes has terms {at} and {at + 1} of (node, feature, category) {keys[:, at].tolist()} and "
            f"{keys[:, at + 1].tolist()}, expected ascending order without repeats"
        )


def _expect(valid: Bools, name: str, slopes: Slopes, expected: str) -> None:
    expect(valid, f"slopes.{name}", getattr(slopes, name), expected)
