"""Splits of a feature that send missing values the same way, in the order in which growing looks at them."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.growing.candidates.way import Direction, Way, direction_of
from hornbeam.kernels.subtree import GrowthSpec
from hornbeam.typing import Bools, Counts

__all__ = ["Sweep", "scan_order"]


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Splits of a feature that send missing values the same way.

    `codes` are those that occur, in the order of the scan. The missing code is one of them if it is a category;
    `missing` is None then. `kind`: cuts of the order, all subsets, a child per code, or known against missing values.
    """

    feature: int
    nominal: bool
    codes: NDArray[np.intp]
    missing_code: int
    missing: Direction | None
    kind: Literal["cuts", "subsets", "multiway", "known"] = "cuts"

    def __len__(self) -> int:
        if self.kind == "subsets":
            return (1 << (len(self.codes) - 1)) - 1
        return len(self.codes) - 1 if self.kind == "cuts" else 1

    def first_child(self, at: int) -> Bools:
        """Tell which codes go to the first child of a split with two."""
        n = np.arange(len(self.codes))
        return n <= at if self.kind == "cuts" else ((at + 1) >> n & 1).astype(np.bool_)

    def children(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Add up the numbers of the codes in each child: shape (n, n_children, m)."""
        known, missing = numbers[self.codes], numbers[-1]
        total = known.sum(axis=0, dtype=known.dtype)
        if self.kind == "known":
            return np.stack((total, missing))[None]
        if self.kind == "multiway":
            parts = known[None].copy()
        else:
            if self.kind == "cuts":
                first = np.cumsum(known, axis=0, dtype=known.dtype)[:-1]
            else:
                members = np.stack([self.first_child(at) for at in range(len(self))])
                first = np.where(members[:, :, None], known, 0).sum(axis=1, dtype=known.dtype)
            parts = np.stack((first, total - first), axis=1)
        if self.missing in ("left", "right"):
            parts[:, int(self.missing == "right")] += missing
        if self.missing == "own":
            parts = np.concatenate((parts, np.broadcast_to(missing, (len(parts), 1, len(missing)))), axis=1)
        return parts

    def way(self, at: int) -> Way:
        """Return one of the splits."""
        f, codes, missing_code = self.feature, self.codes, self.missing_code
        if not self.nominal:
            if self.kind == "known":
                return Way(f, "own", int(codes[-1]), missing_code)
            return Way(f, self.missing, int(codes[at]), int(codes[at + 1]))
        if self.kind == "multiway":
            groups = [[code] for code in codes.tolist()]
        elif self.kind == "known":
            groups = [codes.tolist()]
        else:
            first = self.first_child(at)
            groups = [codes[first].tolist(), codes[~first].tolist()]
        if self.missing in ("left", "right"):
            groups[int(self.missing == "right")].append(missing_code)
        elif self.missing == "own":
            groups.append([missing_code])
        children = tuple(tuple(sorted(group)) for group in groups)
        missing = direction_of(children, missing_code, every=self.missing == "every")
        return Way(f, missing, groups=children)


def scan_order(evidence: Counts, spec: GrowthSpec) -> NDArray[np.intp]:
    """Sort categories as a scan cuts them: by mean or by the share of the second class.

    For more classes it is the direction in which the class shares differ most.
    """
    if spec.sums or spec.n_classes == 2:
        weight = evidence[:, 0] if spec.sums else evidence.sum(axis=1)
        return np.argsort(evidence[:, 1] / weight, kind="stable")
    weight = evidence.sum(axis=1, keepdims=True)
    shares = evidence / weight
    centred = np.sqrt(weight) * (shares - evidence.sum(axis=0) / weight.sum())
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    return np.argsort((shares * direction).sum(axis=1).round(12), kind="stable")
