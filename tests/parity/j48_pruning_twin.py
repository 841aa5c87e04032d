"""Slow, obvious twins of J48's two prunings, on trees of the growing twin."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from dataset import Dataset
from j48_twin import Floats, Grower, Node, Rows, Split, as_arrays, at_most, collapse, equal, errors, heaviest


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
            none = n * (1 - math.pow(self.confidence, 1 / n))
            return none if e == 0 else none + e * (self.added(n, 1.0) - none)
        if e + 0.5 >= n:
            return max(n - e, 0.0)
        f, z = (e + 0.5) / n, self.z
        root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        return n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n) - e

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
        return replace(split, weight=self.grower.table(split, rows, shares))


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
            if equal(
                node.split.weight[b].sum(), 0.0
            ):  # no training row reached this node: the parent predicts
                total += float(node.held[b].sum() - node.held[b][label])
            else:
                total += self.tree_errors(child)
        return total


def pruned(data: Dataset, minimum: int = 2, confidence: float = 0.25) -> dict[str, Any]:
    """J48 -C: grown, collapsed and pruned with subtree raising."""
    grower = Grower(data, minimum)
    root = grower.grow(np.arange(data.n_rows), np.ones(data.n_rows))
    collapse(root)
    ErrorBasedPruning(grower, confidence).prune(root)
    return as_arrays(root)


def reduced_error(data: Dataset, pruning_rows: list[int], minimum: int = 2) -> dict[str, Any]:
    """J48 -R: grown on the other rows, never collapsed, pruned on these.

    Thresholds are lowered to values of ALL rows and 0.3 N counts all rows: the pruning rows are not quite
    unseen.
    """
    grower, pruning = Grower(data, minimum), ReducedErrorPruning(Grower(data, minimum))
    held = np.array(pruning_rows, dtype=np.intp)
    rest = np.setdiff1d(np.arange(data.n_rows), held)
    root = grower.grow(rest, np.ones(len(rest)))
    pruning.feed(root, held, np.ones(len(held)))
    pruning.prune(root)
    return as_arrays(root)
