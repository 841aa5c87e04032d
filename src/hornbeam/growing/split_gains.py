"""The histogram of a node, and the gains of many of its splits, by the kernel that grows trees."""

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hornbeam.growing.impurity import impurity
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.subtree import Cells, GrowthSpec, Missing, NodeRange, NodeRules, Nominal, Rules
from hornbeam.typing import Counts, Floats

_NO_RULES = NodeRules()
_AT_ONCE = 64  # made-up features of one call: the kernel compares each with each


@dataclass(frozen=True, slots=True, eq=False)
class NodeCells:
    """The counts of a node by feature and code, and what the search for its split depends on.

    `cells` are those of the growing kernels (`hornbeam.kernels.subtree.empty_cells`); `variance` is that of a numeric
    target, for S-values. `shown` has for each feature the rows and the evidence of each code, and the sum of squares of
    a numeric target; the missing code is last. `here` are the rules of paths.
    """

    cells: Cells
    spec: GrowthSpec
    evidence: Counts
    n_rows: int
    node: NodeRange
    variance: float
    shown: tuple[Counts, ...]
    here: NodeRules = _NO_RULES

    @classmethod
    def of(cls, cells: Cells, spec: GrowthSpec, node: NodeRange, parts: Counts, squares: Counts) -> Self:
        """Make it from the cells of one node.

        `parts` are its sum of squares for the variance of S-values, `squares` the sums of squares of a numeric target
        by code; both are of size 0 where they are not needed.
        """
        counts, n_rows = subtree.channels(cells, spec)
        evidence = counts[: spec.offsets[1]].sum(axis=0)
        variance = levelwise.variance_of_squares(parts, spec, evidence) if spec.needs_variance else 0.0
        shown = np.column_stack([n_rows, counts, squares] if spec.sums else [n_rows, counts])
        return cls(
            cells,
            spec,
            evidence,
            int(n_rows[: spec.offsets[1]].sum()),
            node,
            variance,
            tuple(np.split(shown, spec.offsets[1:-1])),
            NodeRules.of(spec, node),
        )

    @property
    def weight(self) -> int:
        """Weight of the rows, in steps."""
        return int(self.evidence[0] if self.spec.sums else self.evidence.sum())

    @property
    def rules(self) -> Rules:
        """Rules of growing."""
        return self.spec.rules

    def allows(self, f: int) -> bool:
        """Return whether the rules of paths allow a feature here."""
        return self.here.allowed is None or bool(self.here.allowed[f])

    def price(self, f: int) -> float:
        """Return the price of a feature here, as gain."""
        return 0.0 if self.here.price is None else self.here.price.item(f) * self.rules.price_unit

    def of_feature(self, f: int) -> Cells:
        """Return the numbers of each code of a feature, the missing code last: shape (n_codes + 1, m)."""
        first, last = self.spec.offsets[f : f + 2]
        return self.cells.reshape(self.spec.n_cells, -1)[first:last]


class Parts:
    """The cells of the children of n splits of a node, shape (n, n_children, m).

    The children of a split become the categories of a made-up feature, whose multiway split is this split.
    """

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


def gain_of_children(spec: GrowthSpec, node: NodeRange, f: int, evidence: Counts, n_rows: Counts) -> float:
    """Return the gain of a split by feature `f` minus the price of `f`, from evidence and rows of the children."""
    if spec.sums:
        cells: Counts = np.column_stack((evidence[:, 1], evidence[:, 0], n_rows))
    else:  # the gain does not depend on the number of rows of a class
        cells = np.stack((evidence, evidence > 0), axis=2).reshape(len(evidence), -1).astype(np.int64)
    total = int(n_rows.sum() if spec.sums else (evidence > 0).sum())
    rules = NodeRules.of(spec, node)
    parent = NodeCells(cells, spec, evidence.sum(axis=0), total, node, 0.0, (), rules)
    return Parts(parent, cells[None], False, 0).gains().item() - parent.price(f)


def changed_rules(rules: Rules, **changes: Any) -> Rules:
    """Copy rules with some changes."""
    changed = copy(rules)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed
