"""Who lent a node the rows it borrowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam.smoothing import (
    HDP,
    HGS,
    Borrowing,
    GradientHGS,
    HierarchicalShrinkage,
    Laplace,
    LeaveOneOutHGS,
    MBranch,
    MEstimate,
    smoothers_of,
)
from hornbeam.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.typing import Floats

__all__ = ["BorrowedRows", "borrowed_rows"]


@dataclass(frozen=True, slots=True)
class BorrowedRows:
    """Rows that a node borrowed, and of whom.

    Parameters
    ----------
    lender : int or None
        The node above that lent them. None: nobody in particular; they are of all classes alike, or of the
        base rate that the smoother was given.
    rows : float
        How many, each worth one of the node's own.

    Examples
    --------
    >>> print(BorrowedRows(0, 1.5), "and", BorrowedRows(None, 1.0))
    1.5 from node 0 and 1.0 from nobody
    """

    lender: int | None
    rows: float

    def __str__(self) -> str:
        whom = "nobody" if self.lender is None else f"node {self.lender}"
        return f"{self.rows:.1f} from {whom}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"lender": self.lender, "rows": self.rows}


def borrowed_rows(tree: Tree, node: int) -> tuple[BorrowedRows, ...]:
    """Say who lent a node the rows it borrowed, the nearest first.

    Parameters
    ----------
    tree : Tree
    node : int

    Returns
    -------
    tuple of Loan
        They add up to ``tree.borrowed[node]``. Empty if nothing was borrowed, or if the smoother does not let
        one say from whom.

    Notes
    -----
    What is lent are rows of the lender's own class frequencies. `MBranch` and `HDP` borrow from the parent alone,
    and of what it believes, which it has borrowed in part.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2], [3]], ["a", "b", "b", "a"]).tree_
    >>> print(*borrowed_rows(tree, tree.n_nodes - 1), sep=", ")
    1.0 from node 2, 1.0 from node 0, 1.0 from nobody
    """
    way = path(tree.skeleton, node)
    lent = _pseudo_counts(tree, way)
    # Whatever came after the smoother, a step of somebody else's for one, may have changed what was borrowed.
    if lent is None or (lent < -1e-9).any() or not np.isclose(lent.sum(), tree.borrowed[node]):
        return ()
    lenders = [None, *way[:-1]]
    return tuple(
        BorrowedRows(lender, rows)
        for lender, rows in zip(lenders[::-1], lent.tolist()[::-1], strict=True)
        if rows > 0
    )


def _pseudo_counts(tree: Tree, way: list[int]) -> Floats | None:
    """Rows lent to the last node of a way by nobody, and then by each node before it; None if nobody knows."""
    borrowed = tree.borrowed[way]
    lent: Floats = np.zeros(len(way))
    match next(iter(smoothers_of(tree.history)), None):
        case HGS() | GradientHGS() | LeaveOneOutHGS():
            # Each ancestor lends as much to every node below it, so a step down adds what the parent lends.
            lent = np.diff(borrowed, prepend=0.0)
        case Borrowing(own=own):
            # The same, in what a row of the node itself is worth; by the kernel's own bounds.
            size = np.log(np.maximum(tree.weight[way] * tree.unit[0], 1.0))
            worth = np.exp(np.clip(own * size, -10.0, 12.0))
            lent = np.diff(borrowed * worth, prepend=0.0) / worth[-1]
        case HierarchicalShrinkage(strength=strength):
            # A node's frequencies count for what the last step leaves of them; what a step takes is the parent's.
            weight = tree.weight[way] * tree.unit[0]
            lost = np.append(0.0, strength / np.maximum(weight[:-1] + strength, np.finfo(float).tiny))
            lent[1:] = np.diff(lost) * weight[-1] / max(1 - lost[-1], np.finfo(float).tiny)
        case MEstimate(base="root") if len(way) > 1:
            lent[1] = borrowed[-1]
        case Laplace() | MEstimate():
            lent[0] = borrowed[-1]
        case MBranch() | HDP():
            lent[-1] = borrowed[-1]
        case _:
            return None
    return lent
