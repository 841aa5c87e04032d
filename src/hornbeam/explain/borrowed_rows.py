"""Who lent a node the rows it borrowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam.smoothing import smoothers_of
from hornbeam.tree import Tree
from hornbeam.tree.walk import path

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
    smoothers = smoothers_of(tree.history)
    counts = smoothers[0].pseudo_counts(tree, way) if smoothers else None
    # A later step that is not in the registry may have changed the pseudo-counts.
    if counts is None or (counts < -1e-9).any() or not np.isclose(counts.sum(), tree.borrowed[node]):
        return ()
    origins = [None, *way[:-1]]
    return tuple(
        BorrowedRows(origin, rows)
        for origin, rows in zip(origins[::-1], counts.tolist()[::-1], strict=True)
        if rows > 0
    )
