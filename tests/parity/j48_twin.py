"""A slow, obvious twin of how Weka's J48 grows and collapses a tree, each rule written where it acts.

It follows the published algorithm (Quinlan 1993, 1996) in Weka 3.6's reading, down to the tolerances, and
results in the form of the recordings, so that the two can be compared node by node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from dataset import Dataset
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

SMALL = 1e-6  # two numbers closer than this are the same number to J48
GAP = 1e-5  # neighbours this close are never cut apart
SLACK = 1e-3  # how far below the average gain an attribute may fall and still compete


def greater(a: float, b: float) -> bool:
    return a - b > SMALL


def at_most(a: float, b: float) -> bool:
    return a - b < SMALL or a <= b


def equal(a: float, b: float) -> bool:
    return abs(a - b) < SMALL


def spread(weight: Floats) -> Floats:
    """w log2 w, elementwise; what is as small as nothing counts as nothing."""
    safe = np.where(weight < SMALL, 1.0, weight)
    return safe * np.log(safe) / math.log(2.0)


def heaviest(weight: Iterable[float]) -> int:
    """First class heavier than all before it by more than the tolerance: ties go to the earlier class."""
    best, most = 0, 0.0
    for k, w in enumerate(weight):
        if greater(w, most):
            best, most = k, w
    return best


def errors(weight: Floats) -> float:
    return float(weight.sum() - weight[heaviest(weight)])


@dataclass(frozen=True)
class Split:
    """A test of one attribute: the weights it sends where, as (branch, class), and what it is worth."""

    attribute: int
    threshold: float | None
    weight: Floats
    gain: float
    ratio: float


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows of a node whose value of an attribute is known."""

    values: Floats
    labels: Rows
    shares: Floats

    def cuts(self, n_classes: int) -> tuple[Floats, Floats]:
        """The two neighbouring values at every cut, and the (side, class) weights it makes."""
        order = np.argsort(self.values, kind="stable")
        values, labels, shares = self.values[order], self.labels[order], self.shares[order]
        below = np.cumsum(np.eye(n_classes)[labels] * shares[:, np.newaxis], axis=0)
        cuts = np.flatnonzero(values[:-1] + GAP < values[1:])
        tables = np.stack([below[cuts], below[-1:].sum(axis=0) - below[cuts]], axis=1)
        return np.stack([values[cuts], values[cuts + 1]], axis=1), tables


@dataclass(eq=False)
class Node:
    """A node with the (row, weight) pairs that reached it; a leaf when there is no split."""

    rows: Rows
    shares: Floats
    weight: Floats
    split: Split | None = None
    children: list[Node] = field(default_factory=list)
    held: Floats | None = None  # reduced-error pruning: (branch, class) weights of the pruning rows

    def leaves(self) -> list[Node]:
        return [self] if self.split is None else [leaf for child in self.children for leaf in child.leaves()]

    def cut_off(self) -> None:
        self.split, self.children = None, []


class Grower:
    """The whole training set and the one parameter of growing, with what follows from them."""

    def __init__(self, data: Dataset, minimum: int = 2) -> None:
        self.data = data
        self.minimum = minimum
        self.n_classes = len(data.classes)
        # Judged on the WHOLE training set, not the node: a wide attribute stays out of the average gain.
        self.wide = [
            a.values is not None and not greater(0.3 * data.n_rows, len(a.values)) for a in data.attributes
        ]

    def weigh(self, rows: Rows, shares: Floats) -> Floats:
        return np.bincount(self.data.target[rows], shares, self.n_classes).astype(float)

    def grow(self, rows: Rows, shares: Floats) -> Node:
        node = Node(rows, shares, self.weigh(rows, shares))
        node.split = self.best_split(node)
        if node.split is not None:
            node.children = [self.grow(*part) for part in self.parts(node.split, rows, shares)]
        return node

    def best_split(self, node: Node) -> Split | None:
        total = float(node.weight.sum())
        if greater(2 * self.minimum, total) or equal(total, node.weight[heaviest(node.weight)]):
            return None
        splits = [self.split_on(a, node, total) for a in range(len(self.data.attributes))]
        usable = [s for s in splits if s is not None]
        # A nominal split of no gain at all is usable and lowers the average; a numeric one is not usable.
        averaged = [s.gain for s in usable if all(self.wide) or not self.wide[s.attribute]]
        if not averaged:
            return None  # even when a wide attribute would have been worth something
        average = sum(averaged) / len(averaged)
        best, most = None, 0.0
        for split in usable:
            if split.gain >= average - SLACK and greater(split.ratio, most):
                best, most = split, split.ratio
        if best is None:
            return None
        return self.finished(best, node)

    def split_on(self, attribute: int, node: Node, total: float) -> Split | None:
        values = self.data.columns[attribute][node.rows]
        known = ~np.isnan(values)
        labels = self.data.target[node.rows][known]
        known_rows = KnownRows(values[known], labels, node.shares[known])
        if self.data.attributes[attribute].values is None:
            return self.numeric_split(attribute, known_rows, total)
        return self.nominal_split(attribute, known_rows, total)

    def nominal_split(self, a: int, known: KnownRows, total: float) -> Split | None:
        """One branch per declared value, whether or not a row of the node has it."""
        weight = np.zeros((len(self.data.attributes[a].values or ()), self.n_classes))
        np.add.at(weight, (known.values.astype(np.intp), known.labels), known.shares)
        if sum(at_most(self.minimum, branch) for branch in weight.sum(axis=1)) < 2:
            return None
        gain = float(gains(weight[np.newaxis], total)[0])
        return Split(a, None, weight, gain, ratio(gain, weight, total))

    def numeric_split(self, a: int, known: KnownRows, total: float) -> Split | None:
        """The cut of highest gain, in two branches."""
        least = 0.1 * float(known.shares.sum()) / self.n_classes
        least = self.minimum if at_most(least, self.minimum) else 25.0 if greater(least, 25.0) else least
        if greater(2 * least, len(known.values)):  # the COUNT of known rows, whatever they weigh
            return None
        values, tables = known.cuts(self.n_classes)
        allowed = (tables.sum(axis=2) - least > -SMALL).all(axis=1)  # here both sides are WEIGHED
        values, tables = values[allowed], tables[allowed]
        best, gain = -1, 0.0
        for c, value in enumerate(gains(tables, total)):
            if greater(value, gain):  # a later cut must be better by more than the tolerance
                best, gain = c, float(value)
        if best < 0:
            return None
        gain -= math.log2(len(tables)) / total  # all of the node's weight, the unknown included
        if at_most(gain, 0.0):
            return None
        low, high = values[best]
        middle = (low + high) / 2
        weight = tables[best]
        return Split(a, float(low if middle == high else middle), weight, gain, ratio(gain, weight, total))

    def finished(self, split: Split, node: Node) -> Split:
        """Hand the unknown rows to all branches; lower the threshold to a value of the whole training set."""
        unknown = np.isnan(self.data.columns[split.attribute][node.rows])
        weight = shared_out(split.weight, self.weigh(node.rows[unknown], node.shares[unknown]))
        threshold = split.threshold
        if threshold is not None:
            threshold = lowered(threshold, self.data.columns[split.attribute])
        return replace(split, threshold=threshold, weight=weight)

    def parts(self, split: Split, rows: Rows, shares: Floats) -> list[tuple[Rows, Floats]]:
        """The rows of each branch; a row of unknown value goes to every branch with a part of its weight."""
        if not len(rows):
            return [(rows, shares)] * len(split.weight)
        branch = self.branch(split, rows)
        part = split.weight.sum(axis=1) / split.weight.sum()
        out = []
        for b in range(len(part)):
            here = (branch == b) | ((branch < 0) & greater(part[b], 0.0))
            out.append((rows[here], np.where(branch[here] < 0, part[b], 1.0) * shares[here]))
        return out

    def branch(self, split: Split, rows: Rows) -> Rows:
        """The branch of each row, -1 where the value is unknown."""
        values = self.data.columns[split.attribute][rows]
        if split.threshold is None:
            return np.where(np.isnan(values), -1, values).astype(np.intp)
        right = ~((values - split.threshold < SMALL) | (values <= split.threshold))
        return np.where(np.isnan(values), -1, right).astype(np.intp)

    def table(self, split: Split, rows: Rows, shares: Floats) -> Floats:
        """The (branch, class) weights the split gives to these rows, the unknown ones shared out."""
        branch = self.branch(split, rows)
        known = branch >= 0
        weight = np.zeros_like(split.weight)
        np.add.at(weight, (branch[known], self.data.target[rows[known]]), shares[known])
        return shared_out(weight, self.weigh(rows[~known], shares[~known]))


def gains(tables: Floats, total: float) -> Floats:
    """Information gain of each (branch, class) table, times the part of the weight whose value is known."""
    old = spread(tables.sum(axis=(1, 2))) - spread(tables.sum(axis=1)).sum(axis=1)
    new = spread(tables.sum(axis=2)).sum(axis=1) - spread(tables).sum(axis=(1, 2))
    known = tables.sum(axis=(1, 2))
    gain = known / total * (old - new)
    return np.where(np.abs(gain) < SMALL, 0.0, gain / known)  # nothing is judged BEFORE dividing


def ratio(gain: float, weight: Floats, total: float) -> float:
    """Gain over split information; the unknown rows are one more branch of the split information."""
    branches = weight.sum(axis=1)
    unknown = np.array([total - branches.sum()])
    information = float(spread(np.array([total]))[0] - spread(branches).sum() - spread(unknown)[0])
    return 0.0 if equal(information, 0.0) else gain / (information / total)


def shared_out(weight: Floats, unknown: Floats) -> Floats:
    """Add the class weights of unknown rows to the branches, in proportion to the branches' known weight."""
    total = weight.sum()
    part = np.full(len(weight), 1 / len(weight)) if equal(total, 0.0) else weight.sum(axis=1) / total
    return weight + part[:, np.newaxis] * unknown


def lowered(threshold: float, values: Floats) -> float:
    """The largest value up to the threshold; read in row order, so of nearly equal values the first stays."""
    found = -math.inf
    for value in values.tolist():
        if greater(value, found) and at_most(value, threshold):
            found = value
    return found


def collapse(node: Node) -> None:
    """Top down: a subtree that makes no fewer training errors than its root as a leaf becomes that leaf."""
    if node.split is None:
        return
    if sum(errors(leaf.weight) for leaf in node.leaves()) >= errors(node.weight) - SLACK:
        node.cut_off()
    for child in node.children:
        collapse(child)


def unpruned(data: Dataset, minimum: int = 2) -> dict[str, Any]:
    """J48 -U: grown and collapsed."""
    root = Grower(data, minimum).grow(np.arange(data.n_rows), np.ones(data.n_rows))
    collapse(root)
    return as_arrays(root)


def as_arrays(root: Node) -> dict[str, Any]:
    """The tree in level order, as the recordings have it."""
    nodes, labels = [root], [heaviest(root.weight)]
    tree: dict[str, Any] = {"feature": [], "threshold": [], "first_child": []}
    for node in nodes:  # grows while it is walked
        tree["feature"].append(-1 if node.split is None else node.split.attribute)
        tree["threshold"].append(None if node.split is None else node.split.threshold)
        tree["first_child"].append(-1 if node.split is None else len(nodes))
        for child in node.children:
            nodes.append(child)
            labels.append(heaviest(child.weight if greater(child.weight.sum(), 0.0) else node.weight))
    tree["label"] = labels
    tree["weight"] = [node.weight.tolist() for node in nodes]
    if root.held is not None:
        tree["pruning_weight"] = [node.held.sum(axis=0).tolist() for node in nodes if node.held is not None]
    return tree
