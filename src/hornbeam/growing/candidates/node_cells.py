"""The histogram of a node, and what the search for its split depends on."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Rules
from hornbeam.typing import Counts

__all__ = ["NodeCells"]


@dataclass(frozen=True, slots=True, eq=False)
class NodeCells:
    """The counts of a node by feature and code, and what the search for its split depends on.

    `cells` are those of the growing kernels (`hornbeam.kernels.subtree.empty_cells`); `variance` is that of a numeric
    target, for S-values. `shown` has for each feature the rows and the evidence of each code, and the sum of squares of
    a numeric target; the missing code is last. `allowed` is 1 for each feature that the rules of paths allow here, None
    if all are allowed.
    """

    cells: Cells
    spec: GrowthSpec
    evidence: Counts
    n_rows: int
    node: NodeRange
    variance: float
    shown: tuple[Counts, ...]
    allowed: NDArray[np.uint8] | None = None

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
            subtree.allowed_features(spec, node),
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
        return self.allowed is None or bool(self.allowed[f])

    def of_feature(self, f: int) -> Cells:
        """Return the numbers of each code of a feature, the missing code last: shape (n_codes + 1, m)."""
        first, last = self.spec.offsets[f : f + 2]
        return self.cells.reshape(self.spec.n_cells, -1)[first:last]
