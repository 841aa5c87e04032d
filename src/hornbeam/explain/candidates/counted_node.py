"""A node with the histogram of its rows: all that its candidate splits depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.errors import DataError
from hornbeam.explain.candidates.node_histogram import NodePlace
from hornbeam.explain.candidates.way import Way
from hornbeam.growing.grower import Grower
from hornbeam.growing.split_gains import NodeCells
from hornbeam.kernels import subtree
from hornbeam.tree.skeleton import EVERY_CHILD
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats, Indices


class TargetUnits(NamedTuple):
    """The value of one step of weight, sum and sum of squares of a numeric target, and their ratios."""

    weight: float
    square: float
    mean_ratio: Fraction
    square_ratio: Fraction

    @classmethod
    def of(cls, units: float | Floats) -> Self:
        """Compute the ratios of `hornbeam.tree.evidence.count.evidence_units`."""
        weight, total, square = (Fraction(unit) for unit in np.broadcast_to(units, 3).tolist())
        return cls(float(weight), float(square), total / weight, total * total / (weight * square))

    def moments(self, weight: int, total: int, squares: int) -> tuple[float, float, float]:
        """Return weight, mean and sum of squared deviations; the sums are in steps, and nothing cancels."""
        a, b = self.mean_ratio.as_integer_ratio()
        c, d = self.square_ratio.as_integer_ratio()
        around = (squares * weight * d - total * total * c) / (weight * d)
        return weight * self.weight, total * a / (weight * b), max(0.0, around * self.square)


@dataclass(frozen=True, slots=True, eq=False)
class CountedNode:
    """A node of a tree, and the histogram of the rows that reach it.

    `by_child`, of shape (n_slots, n_cells, n_channels), is the evidence of each code in each child of the tree's split,
    rows of no child last. `row_steps` are the steps of evidence in a row of weight 1, for each class; one number for a
    numeric target.
    """

    tree: Tree
    bins: Bins
    grower: Grower
    place: NodePlace
    cells: NodeCells
    by_child: Counts
    row_steps: Floats
    units: TargetUnits

    @classmethod
    def of(
        cls,
        tree: Tree,
        bins: Bins,
        grower: Grower,
        place: NodePlace,
        counts: Sequence[Any],
        row_steps: Floats,
        units: float | Floats,
        n_all: int,
    ) -> Self:
        """Make it from the counts of all rows; a `DataError` if no row reaches the node."""
        cells, parts, squares, beside = counts
        spec, by_slot = place.spec, cells.reshape(place.n_slots, -1)
        whole = by_slot.sum(axis=0, dtype=cells.dtype)
        by_child = np.stack([subtree.channels(slot, spec)[0] for slot in by_slot])
        _, rows = subtree.channels(whole, spec)
        n_rows = int(rows[: spec.offsets[1]].sum())
        refuse_empty(n_rows, n_all, place.node)
        node_range = place.node_range(n_rows, beside)
        counted = NodeCells.of(whole, spec, node_range, parts, squares)
        steps = np.where(row_steps > 0, row_steps, 1.0)  # 0 for a class without rows
        return cls(tree, bins, grower, place, counted, by_child, steps, TargetUnits.of(units))

    @property
    def node(self) -> int:
        """Number of the node."""
        return self.place.node

    @property
    def weight(self) -> float:
        """Weight of the rows, without class weights."""
        return float(self._weights(self.cells.evidence))

    def class_weights(self, evidence: Counts) -> Floats:
        """Convert the evidence of classes to weights, without class weights."""
        return evidence / self.row_steps

    def moments(self, sums: Sequence[int]) -> tuple[float, float, float]:
        """Return weight, mean and sum of squared deviations, from sums of a numeric target in steps."""
        return self.units.moments(*sums)

    def way(self) -> Way | None:
        """Return the split of the tree at this node in codes; None if it is a leaf, or these rows do not fit it."""
        skeleton, node = self.tree.skeleton, self.node
        f = skeleton.feature.item(node)
        if f < 0:
            return None
        nominal = bool(self.bins.nominal[f])
        slot_of = self._slots_of_categories(f) if nominal else self._slots_of_numbers(f)
        if slot_of is None or not (nominal or (slot_of[:-1] == 0).any()):
            return None
        lost = bool(self.cells.shown[f][-1, 0])
        every = lost and bool(skeleton.missing_slot[node] == EVERY_CHILD)
        return Way.of_slots(f, nominal, slot_of, EVERY_CHILD if every else slot_of.item(-1))

    def _slots_of_categories(self, f: int) -> Indices:
        """Return the child of each category that occurs, and of missing values; -1 for none."""
        skeleton, node = self.tree.skeleton, self.node
        begin, end = skeleton.slot_start[node : node + 2].tolist()
        slot_of = np.append(skeleton.slot_of[begin:end], skeleton.missing_slot[node]).astype(np.int32)
        slot_of[(self.cells.shown[f][:, 0] == 0) | (slot_of < 0)] = -1
        return slot_of

    def _slots_of_numbers(self, f: int) -> Indices | None:
        """Return the child of each code, -1 for none; None if the values of a code go to several children."""
        spec = self.place.spec
        evidence = self.by_child[:, spec.offsets[f] : spec.offsets[f + 1], : 1 if spec.sums else None]
        present = evidence.any(axis=2)
        if (present.sum(axis=0) > 1).any():
            return None
        slot_of = np.where(present.any(axis=0), present.argmax(axis=0), -1).astype(np.int32)
        slot_of[slot_of == len(present) - 1] = -1  # to no child, or to every one
        return slot_of

    def associations(self, ways: Sequence[Way]) -> list[float | None]:
        """Measure how well each split stands in for that of the tree.

        The share of the errors of "every row goes to the largest child" that the split avoids, as for surrogate splits
        :cite:p:`breiman1984`: 1 if it separates the rows as the split of the tree does, 0 if it says nothing about
        their child. None if there is no error to avoid, or the node is a leaf.
        """
        if len(self.by_child) == 1:
            return [None] * len(ways)
        below: dict[int, Counts] = {}
        return [association(self._weights(self._pairs(way, below))) for way in ways]

    def _pairs(self, way: Way, below: dict[int, Counts]) -> Counts:
        """Add up the evidence of each pair of children, of the tree's split and another.

        The shape is (children, children of the other split, channels). `below` keeps the sums over all lower codes of
        each feature, for its next cut.
        """
        first, last = self.place.spec.offsets[way.feature : way.feature + 2]
        evidence = self.by_child[:-1, first:last]
        if way.groups:
            return np.stack([evidence[:, group].sum(axis=1) for group in map(list, way.groups)], axis=1)
        if way.feature not in below:
            below[way.feature] = np.cumsum(evidence[:, :-1], axis=1)
        sums, lost = below[way.feature], evidence[:, -1]
        known = sums[:, -1]
        if way.right == last - first - 1:
            return np.stack([known, lost], axis=1)
        children = [sums[:, way.left], known - sums[:, way.left]]
        if way.missing in ("left", "right"):
            side = int(way.missing == "right")
            children[side] = children[side] + lost
        return np.stack([*children, lost] if way.missing == "own" else children, axis=1)

    def _weights(self, evidence: Counts) -> Floats:
        """Add up the weights of evidence over its last axis, without class weights."""
        if self.place.spec.sums:
            weights: Floats = evidence[..., 0] / self.row_steps[0]
            return weights
        return self.class_weights(evidence).sum(axis=-1)


def refuse_empty(n_rows: int, n_all: int, node: int) -> None:
    """Raise `DataError` if no row reaches a node."""
    if not n_rows:
        raise DataError(
            f"none of the {n_all:,} rows reaches node {node}; expected at least one. Pass the training rows, or "
            "another node."
        )


def association(pairs: Floats) -> float | None:
    """Measure how well one split stands in for another, from the weight of the rows of each pair of their children."""
    whole = pairs.sum()
    errors_of_largest = whole - pairs.sum(axis=1).max(initial=0.0)
    if errors_of_largest <= 0:
        return None
    return float(1 - (whole - pairs.max(axis=0, initial=0.0).sum()) / errors_of_largest)
