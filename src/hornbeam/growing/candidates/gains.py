"""The gains of many splits of a node, by the kernel that grows trees.

The children of a split become the categories of a made-up feature, whose multiway split is this split.
"""

from copy import copy
from typing import Any

import numpy as np

from hornbeam.growing.candidates.node_cells import NodeCells
from hornbeam.growing.impurity import impurity
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.subtree import Cells, GrowthSpec, Missing, NodeRange, Nominal, Rules
from hornbeam.typing import Counts, Floats

__all__ = ["Parts", "changed_rules", "gain_of_children"]

_AT_ONCE = 64  # made-up features of one call: the kernel compares each with each


class Parts:
    """The cells of the children of n splits of a node, shape (n, n_children, m)."""

    def __init__(self, node: NodeCells, cells: Cells, every: bool, f: int) -> None:
        n, n_children, m = cells.shape
        self.node, self.every = node, every
        self.cells = np.zeros((n, n_children + 1, m), node.cells.dtype)
        self.cells[:, :-1] = cells
        if every:
            self.cells[:, -1] = node.of_feature(f)[-1]
        self.rules = changed_rules(
            node.rules,
            nominal=Nominal.multiway,
            missing=Missing.fractional if every else Missing.own,
            gain_ratio=False,
            corrected=False,
            min_rows_leaf=0,
            min_weight_leaf=0,
            max_features=0,
        )
        spec = self._spec(n)
        evidence, rows = subtree.channels(self.cells.ravel(), spec)
        self.evidence = evidence.reshape(n, n_children + 1, -1)
        self.rows = rows.reshape(n, n_children + 1)[:, :-1]
        self.weights = self.evidence[..., 0] if spec.sums else self.evidence.sum(axis=-1)

    def _spec(self, n: int) -> GrowthSpec:
        spec = self.node.spec
        n_codes = np.full(n, self.cells.shape[1] - 1, np.int32)
        return GrowthSpec.of(
            n_codes, np.ones(n, np.uint8), None, None, spec.n_classes, spec.criterion, self.rules
        )

    @property
    def weight(self) -> Counts:
        """Weight of each child, shape (n, n_children)."""
        return self.weights[:, :-1]

    def gains(self) -> Floats:
        """Gain of each split, by the kernel; 0 where the gain of sums is not above their rounding."""
        node, gains = self.node, []
        for begin in range(0, len(self.cells), _AT_ONCE):
            cells = self.cells[begin : begin + _AT_ONCE]
            numbers, _ = levelwise.best_per_feature(
                cells.ravel(), self._spec(len(cells)), node.evidence, node.n_rows, *node.spec.bounds
            )
            gains.append(numbers.reshape(-1, 4)[:, 0])
        return np.nan_to_num(np.concatenate(gains)) if gains else np.empty(0)

    def split_information(self) -> Floats:
        """Entropy of the weights of the children, and of the missing values if they go to every child, in bits."""
        found: Floats = impurity(self.weights if self.every else self.weight)  # type: ignore[assignment]
        return found


def gain_of_children(spec: GrowthSpec, node: NodeRange, evidence: Counts, n_rows: Counts) -> float:
    """Return the gain of a split from the evidence and the number of rows of each child."""
    if spec.sums:
        cells: Counts = np.column_stack((evidence[:, 1], evidence[:, 0], n_rows))
    else:  # the gain does not depend on the number of rows of a class
        cells = np.stack((evidence, evidence > 0), axis=2).reshape(len(evidence), -1).astype(np.int64)
    total = int(n_rows.sum() if spec.sums else (evidence > 0).sum())
    parent = NodeCells(cells, spec, evidence.sum(axis=0), total, node, 0.0, ())
    return Parts(parent, cells[None], False, 0).gains().item()


def changed_rules(rules: Rules, **changes: Any) -> Rules:
    """Copy rules with some changes."""
    changed = copy(rules)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed
