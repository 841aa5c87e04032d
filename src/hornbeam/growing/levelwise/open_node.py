"""An unfinished node, and whether it may be split."""

from dataclasses import dataclass

import numpy as np

from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Split
from hornbeam.typing import Counts

__all__ = ["OpenNode", "child_bounds", "may_split"]


@dataclass(slots=True)
class OpenNode:
    """An unfinished node: its number in the tree, range of rows, evidence and histogram."""

    node: int
    node_range: NodeRange
    counts: Counts
    cells: Cells | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of the node."""
        return self.node_range.end - self.node_range.begin


def may_split(open_node: OpenNode, spec: GrowthSpec) -> bool:
    """Return whether size, purity and depth of a node allow a split."""
    rules = spec.rules
    return bool(
        (spec.sums or np.count_nonzero(open_node.counts) > 1)
        and open_node.n_rows >= max(rules.min_rows_split, 2 * rules.min_rows_leaf)
        and _weight(open_node.counts, spec) >= 2 * rules.min_weight_leaf
        and open_node.node_range.depth < rules.max_depth
    )


def _weight(evidence: Counts, spec: GrowthSpec) -> int:
    return int(evidence[0] if spec.sums else evidence.sum())


def child_bounds(
    parent: NodeRange, split: Split, slot: int, counts: list[Counts], spec: GrowthSpec
) -> tuple[float, float]:
    """Return the bounds of a child on the second class's probability, or on the mean, after a monotone split.

    The middle between the rates of both children bounds each of them on one side. A split of known against missing
    values has no order, so it adds no bound.
    """
    sign = 0 if spec.monotone is None else int(spec.monotone[split.feature])
    cuts = not spec.nominal[split.feature] and split.right < len(split.slot_of) - 1
    if sign == 0 or slot > 1 or not cuts:
        return parent.lower, parent.upper
    ridge = spec.rules.ridge / spec.rules.unit if spec.sums else 0.0
    rates = [float(c[1]) / (float(_weight(c, spec)) + ridge) for c in counts[:2]]
    middle = (rates[0] + rates[1]) / 2
    return (parent.lower, middle) if (slot == 0) == (sign > 0) else (middle, parent.upper)
