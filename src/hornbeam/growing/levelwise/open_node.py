"""A node that is not finished yet, and whether it may grow."""

from dataclasses import dataclass

import numpy as np

from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Split
from hornbeam.typing import Counts

__all__ = ["OpenNode", "child_bounds", "may_split"]


@dataclass(slots=True)
class OpenNode:
    """A node that is not finished: its place in the tree, its block of rows, its evidence, its cells."""

    node: int
    block: NodeRange
    counts: Counts
    cells: Cells | None = None

    @property
    def n_rows(self) -> int:
        """Rows at the node."""
        return self.block.end - self.block.begin


def may_split(sprout: OpenNode, terms: GrowthSpec) -> bool:
    """Whether a node's size, purity and depth let it be split at all."""
    rules = terms.rules
    return bool(
        (terms.sums or np.count_nonzero(sprout.counts) > 1)
        and sprout.n_rows >= max(rules.min_rows_split, 2 * rules.min_rows_leaf)
        and _weight(sprout.counts, terms) >= 2 * rules.min_weight_leaf
        and sprout.block.depth < rules.max_depth
    )


def _weight(evidence: Counts, terms: GrowthSpec) -> int:
    return int(evidence[0] if terms.sums else evidence.sum())


def child_bounds(
    parent: NodeRange, split: Split, slot: int, counts: list[Counts], terms: GrowthSpec
) -> tuple[float, float]:
    """Bounds on the second class's probability, or the mean, in a child: below a monotone cut each keeps to its half.

    Known and missing values are in no order: a test that parts only them binds nobody.
    """
    sign = 0 if terms.monotone is None else int(terms.monotone[split.feature])
    cuts = not terms.nominal[split.feature] and split.right < len(split.slot_of) - 1
    if sign == 0 or slot > 1 or not cuts:
        return parent.lower, parent.upper
    ridge = terms.rules.ridge / terms.rules.unit if terms.sums else 0.0
    rates = [float(c[1]) / (float(_weight(c, terms)) + ridge) for c in counts[:2]]
    middle = (rates[0] + rates[1]) / 2
    return (parent.lower, middle) if (slot == 0) == (sign > 0) else (middle, parent.upper)
