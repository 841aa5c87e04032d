"""The histogram of a node, and what the search for its split depends on."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import Cells, GrowthSpec, NodeRange, Rows, Rules
from hornbeam.typing import Counts, Floats

__all__ = ["NodeCells"]


@dataclass(frozen=True, slots=True, eq=False)
class NodeCells:
    """The counts of a node by feature and code, and what the search for its split depends on.

    Parameters
    ----------
    cells : array
        Of the growing kernels (`hornbeam.kernels.subtree.empty_cells`).
    spec : GrowthSpec
    evidence : int64 array
        Weight of each class; for sums weight and sum.
    n_rows : int
    node : NodeRange
        Depth and bounds of monotone constraints.
    variance : float
        Variance of a numeric target, for S-values.
    shown : tuple of float64 arrays of shape (n_codes + 1, q)
        For each feature other numbers of each code, to be added up in the children; the missing code is last.
    allowed : uint8 array, optional
        1 for each feature that the rules of paths allow here; None: all features.
    """

    cells: Cells
    spec: GrowthSpec
    evidence: Counts
    n_rows: int
    node: NodeRange
    variance: float
    shown: tuple[Floats, ...]
    allowed: NDArray[np.uint8] | None = None

    @classmethod
    def count(
        cls, rows: Rows, spec: GrowthSpec, node: NodeRange, shown: tuple[Floats, ...] | None = None
    ) -> Self:
        """Count all these rows, which are those of the node; `shown` has by default the rows and classes."""
        cells = subtree.empty_cells(rows, spec)
        subtree.histogram(rows, spec, 0, rows.n_rows, cells)
        counts, n_rows = subtree.channels(cells, spec)
        if shown is None:
            numbers = np.column_stack([n_rows, counts]).astype(np.float64)
            shown = tuple(np.split(numbers, spec.offsets[1:-1]))
        evidence = counts[: spec.offsets[1]].sum(axis=0)
        variance = subtree.target_variance(rows, spec, node)
        allowed = subtree.allowed_features(spec, node)
        return cls(cells, spec, evidence, rows.n_rows, node, variance, shown, allowed)

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
