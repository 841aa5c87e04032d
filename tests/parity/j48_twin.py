"""A slow, obvious twin of Weka's J48: growing, collapsing and both prunings, each rule written where it acts.

It follows the published algorithm (Quinlan 1993, 1996) in Weka 3.6's reading, down to the tolerances, and answers in
the form the recordings have, so that the two can be compared node by node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import NormalDist
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
    """First class heavier than all before it by more than the tolerance: near ties go to the earlier class."""
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
        # Judged on the WHOLE training set, not the node: an attribute this wide stays out of the average gain.
        self.wide = [
            a.values is not None and not greater(0.3 * data.n_rows, len(a.values)) for a in data.attributes
        ]

    def weigh(self, rows: Rows, shares: Floats) -> Floats:
        return np.bincount(self.data.target[rows], shares, self.n_classes).astype(float)

    def grow(self, rows: Rows, shares: Floats) -> Node:
        node = Node(rows, shares, self.weigh(rows, shares))
        node.split = self.best_split(node)
        if node.split is not None:
            # J48 keeps the sums as it formed them: known rows branch by branch, then the unknown ones.
            node.children = [self.grow(*part) for part in self.parts(node.split, rows, shares)]
        return node

    def best_split(self, node: Node) -> Split | None:
        total = float(node.weight.sum())
        if greater(2 * self.minimum, total) or equal(total, node.weight[heaviest(node.weight)]):
            return None
        splits = [self.split_on(a, node, total) for a in range(len(self.data.attributes))]
        usable = [s for s in splits if s is not None]
        # A nominal split of no gain at all is usable and pulls the average down; a numeric one is not usable.
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
        arguments = (attribute, values[known], labels, node.shares[known], total)
        if self.data.attributes[attribute].values is None:
            return self.numeric_split(*arguments)
        return self.nominal_split(*arguments)

    def nominal_split(self, a: int, values: Floats, labels: Rows, shares: Floats, total: float) -> Split | None:
        """One branch per declared value, whether or not a row of the node has it."""
        weight = np.zeros((len(self.data.attributes[a].values or ()), self.n_classes))
        np.add.at(weight, (values.astype(np.intp), labels), shares)
        if sum(at_most(self.minimum, branch) for branch in weight.sum(axis=1)) < 2:
            return None
        gain = float(gains(weight[np.newaxis], total)[0])
        return Split(a, None, weight, gain, ratio(gain, weight, total))

    def numeric_split(self, a: int, values: Floats, labels: Rows, shares: Floats, total: float) -> Split | None:
        """The cut of highest gain, in two branches."""
        known = float(shares.sum())
        least = 0.1 * known / self.n_classes
        least = self.minimum if at_most(least, self.minimum) else 25.0 if greater(least, 25.0) else least
        if greater(2 * least, len(values)):  # the COUNT of known rows, whatever they weigh
            return None
        order = np.argsort(values, kind="stable")
        values, labels, shares = values[order], labels[order], shares[order]
        cuts = np.flatnonzero(values[:-1] + GAP < values[1:])
        below = np.cumsum(shares[:, np.newaxis] * (labels[:, np.newaxis] == np.arange(self.n_classes)), axis=0)
        tables = np.stack([below[cuts], below[-1:] - below[cuts]], axis=1) if len(cuts) else np.empty((0, 2, self.n_classes))
        allowed = (tables.sum(axis=2) - least > -SMALL).all(axis=1)  # here both sides are WEIGHED
        cuts, tables = cuts[allowed], tables[allowed]
        best, gain = -1, 0.0
        for c, value in enumerate(gains(tables, total)):
            if greater(value, gain):  # a later cut must be better by more than the tolerance
                best, gain = c, float(value)
        if best < 0:
            return None
        gain -= math.log2(len(cuts)) / total  # all of the node's weight, the unknown included
        if at_most(gain, 0.0):
            return None
        low, high = values[cuts[best]], values[cuts[best] + 1]
        middle = (low + high) / 2
        weight = tables[best]
        return Split(a, float(low if middle == high else middle), weight, gain, ratio(gain, weight, total))

    def finished(self, split: Split, node: Node) -> Split:
        """Hand the unknown rows to all branches, and lower the threshold to a value of the whole training set."""
        unknown = np.isnan(self.data.columns[split.attribute][node.rows])
        weight = shared_out(split.weight, self.weigh(node.rows[unknown], node.shares[unknown]))
        threshold = split.threshold
        if threshold is not None:
            threshold = lowered(threshold, self.data.columns[split.attribute])
        return Split(split.attribute, threshold, weight, split.gain, split.ratio)

    def parts(self, split: Split, rows: Rows, shares: Floats) -> list[tuple[Rows, Floats]]:
        """The rows of each branch; a row of unknown value goes to every branch with its part of the weight."""
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
        """The (branch, class) weights the split gives to these rows, the unknown ones shared out among them."""
        branch = self.branch(split, rows)
        known = branch >= 0
        weight = np.zeros_like(split.weight)
        np.add.at(weight, (branch[known], self.data.target[rows[known]]), shares[known])
        return shared_out(weight, self.weigh(rows[~known], shares[~known]))


def gains(tables: Floats, total: float) -> Floats:
    """Information gain of each (branch, class) table, discounted by the part of the weight whose value is unknown."""
    old = spread(tables.sum(axis=(1, 2))) - spread(tables.sum(axis=1)).sum(axis=1)
    new = spread(tables.sum(axis=2)).sum(axis=1) - spread(tables).sum(axis=(1, 2))
    known = tables.sum(axis=(1, 2))
    gain = known / total * (old - new)
    return np.where(np.abs(gain) < SMALL, 0.0, gain / known)  # near nothing is judged BEFORE dividing by the weight


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
    """The largest value up to the threshold. Read in row order: of values within the tolerance the first one stays."""
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


class ErrorBasedPruning:
    """Quinlan's pruning by the upper limit of the training error, with subtree raising."""

    def __init__(self, grower: Grower, confidence: float = 0.25) -> None:
        self.grower = grower
        self.confidence = confidence
        self.z = NormalDist().inv_cdf(1 - confidence)

    def prune(self, node: Node) -> None:
        if node.split is None:
            return
        for child in node.children:
            self.prune(child)
        branches = node.split.weight.sum(axis=1)
        largest = 0
        for b, weight in enumerate(branches):
            if at_most(branches[largest], weight):  # of equally large branches the LAST is tried
                largest = b
        as_leaf = self.estimate(node.weight)
        as_tree = sum(self.estimate(leaf.weight) for leaf in node.leaves())
        as_branch = self.refed(node.children[largest], node.rows, node.shares)
        if at_most(as_leaf, as_tree + 0.1) and at_most(as_leaf, as_branch + 0.1):
            node.cut_off()
        elif at_most(as_branch, as_tree + 0.1):
            raised = node.children[largest]
            node.split, node.children = raised.split, raised.children
            self.refeed(node, node.rows, node.shares)
            self.prune(node)

    def estimate(self, weight: Floats) -> float:
        total = float(weight.sum())
        return 0.0 if equal(total, 0.0) else errors(weight) + self.added(total, errors(weight))

    def added(self, n: float, e: float) -> float:
        """How many errors more than the seen ones are to be expected of a leaf."""
        if e < 1:
            none = n * (1 - self.confidence ** (1 / n))
            return none if e == 0 else none + e * (self.added(n, 1.0) - none)
        if e + 0.5 >= n:
            return max(n - e, 0.0)
        f, z = (e + 0.5) / n, self.z
        limit = (f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n)
        return limit * n - e

    def refed(self, node: Node, rows: Rows, shares: Floats) -> float:
        """The estimate of a branch if all these rows came to it; the branch is left as it is."""
        if node.split is None:
            return self.estimate(self.grower.weigh(rows, shares))
        fed = self.split_for(node.split, rows, shares)
        parts = self.grower.parts(fed, rows, shares)
        return sum(self.refed(child, *part) for child, part in zip(node.children, parts, strict=True))

    def refeed(self, node: Node, rows: Rows, shares: Floats) -> None:
        """Let all these rows come to the node and count anew below it."""
        node.rows, node.shares, node.weight = rows, shares, self.grower.weigh(rows, shares)
        if node.split is not None:
            node.split = self.split_for(node.split, rows, shares)
            for child, part in zip(node.children, self.grower.parts(node.split, rows, shares), strict=True):
                self.refeed(child, *part)

    def split_for(self, split: Split, rows: Rows, shares: Floats) -> Split:
        return Split(split.attribute, split.threshold, self.grower.table(split, rows, shares), split.gain, split.ratio)


class ReducedErrorPruning:
    """Bottom-up pruning on rows that growing did not see."""

    def __init__(self, grower: Grower) -> None:
        self.grower = grower

    def feed(self, node: Node, rows: Rows, shares: Floats) -> None:
        """Count the pruning rows at every node; unknown values are shared out by the TRAINING weights."""
        weight = self.grower.weigh(rows, shares)
        if node.split is None:
            node.held = weight[np.newaxis]
            return
        branch = self.grower.branch(node.split, rows)
        part = node.split.weight.sum(axis=1) / node.split.weight.sum()
        unknown = self.grower.weigh(rows[branch < 0], shares[branch < 0])
        node.held = part[:, np.newaxis] * unknown
        known = branch >= 0
        np.add.at(node.held, (branch[known], self.grower.data.target[rows[known]]), shares[known])
        for child, share in zip(node.children, self.grower.parts(node.split, rows, shares), strict=True):
            self.feed(child, *share)

    def prune(self, node: Node) -> None:
        for child in node.children:
            self.prune(child)
        if node.split is not None and at_most(self.leaf_errors(node), self.tree_errors(node)):
            node.cut_off()

    def leaf_errors(self, node: Node) -> float:
        assert node.held is not None
        return float(node.held.sum() - node.held.sum(axis=0)[heaviest(node.weight)])

    def tree_errors(self, node: Node) -> float:
        if node.split is None:
            return self.leaf_errors(node)
        assert node.held is not None
        total, label = 0.0, heaviest(node.weight)
        for b, child in enumerate(node.children):
            if equal(node.split.weight[b].sum(), 0.0):  # no training row came here: the parent answers
                total += float(node.held[b].sum() - node.held[b][label])
            else:
                total += self.tree_errors(child)
        return total


def unpruned(data: Dataset, minimum: int = 2) -> dict[str, Any]:
    """J48 -U: grown and collapsed."""
    root = Grower(data, minimum).grow(np.arange(data.n_rows), np.ones(data.n_rows))
    collapse(root)
    return as_arrays(root)


def pruned(data: Dataset, minimum: int = 2, confidence: float = 0.25) -> dict[str, Any]:
    """J48 -C: grown, collapsed and pruned with subtree raising."""
    grower = Grower(data, minimum)
    root = grower.grow(np.arange(data.n_rows), np.ones(data.n_rows))
    collapse(root)
    ErrorBasedPruning(grower, confidence).prune(root)
    return as_arrays(root)


def reduced_error(data: Dataset, pruning_rows: list[int], minimum: int = 2) -> dict[str, Any]:
    """J48 -R: grown on the other rows, never collapsed, pruned on these.

    Thresholds are lowered to values of ALL rows and 0.3 N counts all rows: the pruning rows are not quite unseen.
    """
    grower, pruning = Grower(data, minimum), ReducedErrorPruning(Grower(data, minimum))
    held = np.array(pruning_rows, dtype=np.intp)
    rest = np.setdiff1d(np.arange(data.n_rows), held)
    root = grower.grow(rest, np.ones(len(rest)))
    pruning.feed(root, held, np.ones(len(held)))
    pruning.prune(root)
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
