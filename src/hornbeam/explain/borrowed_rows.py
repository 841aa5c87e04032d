"""Rows that a node borrowed from its ancestors and from the prior."""

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
    Smoother,
    smoothers_of,
)
from hornbeam.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.typing import Floats

__all__ = ["BorrowedRows", "borrowed_rows"]


@dataclass(frozen=True, slots=True)
class BorrowedRows:
    """Pseudo-count that a node borrowed from one source.

    Parameters
    ----------
    source : int or None
        The ancestor; None for the prior.
    rows : float
        The pseudo-count, in rows of the node itself.
    prior : str, default "the uniform prior"
        Name of the prior, for print.

    Examples
    --------
    >>> print(BorrowedRows(0, 1.5), "and", BorrowedRows(None, 1.0))
    1.5 from node 0 and 1.0 from the uniform prior
    """

    source: int | None
    rows: float
    prior: str = "the uniform prior"

    def __str__(self) -> str:
        return f"{self.rows:.1f} from {self.prior if self.source is None else f'node {self.source}'}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"source": self.source, "rows": self.rows}


def borrowed_rows(tree: Tree, node: int) -> tuple[BorrowedRows, ...]:
    """List the sources of the rows that a node borrowed, the nearest ancestor first and the prior last.

    Parameters
    ----------
    tree : Tree
    node : int

    Returns
    -------
    tuple of BorrowedRows
        They add up to ``tree.borrowed[node]``. Empty if nothing was borrowed, or if the sources of this smoother are
        unknown.

    Notes
    -----
    Rows are borrowed with the class frequencies of the source. `MBranch` and `HDP` borrow from the parent alone, with
    its smoothed probabilities, which are borrowed in part.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2], [3]], ["a", "b", "b", "a"]).tree_
    >>> print(*borrowed_rows(tree, tree.n_nodes - 1), sep=", ")
    1.0 from node 2, 1.0 from node 0, 1.0 from the uniform prior
    """
    nodes = path(tree.skeleton, node)
    smoother = next(iter(smoothers_of(tree.history)), None)
    counts = _pseudo_counts(tree, nodes, smoother)
    # A later step, such as one of another library, may have changed what was borrowed.
    if counts is None or (counts < -1e-9).any() or not np.isclose(counts.sum(), tree.borrowed[node]):
        return ()
    sources = [None, *nodes[:-1]]
    prior = _prior_name(tree, smoother)
    return tuple(
        BorrowedRows(source, rows, prior)
        for source, rows in zip(sources[::-1], counts.tolist()[::-1], strict=True)
        if rows > 0
    )


def _prior_name(tree: Tree, smoother: Smoother | None) -> str:
    if tree.is_regression:
        return "the mean of all rows"
    if isinstance(smoother, MEstimate) and not isinstance(smoother.base, str):
        return "the given base rate"
    return "the uniform prior"


def _pseudo_counts(tree: Tree, nodes: list[int], smoother: Smoother | None) -> Floats | None:
    """Compute the rows that the last node of a path borrowed from the prior, then from each node above it."""
    borrowed = tree.borrowed[nodes]
    counts: Floats = np.zeros(len(nodes))
    match smoother:
        case HGS() | GradientHGS() | LeaveOneOutHGS():
            # All nodes below an ancestor borrow the same from it, so each level adds the pseudo-count of the parent.
            counts = np.diff(borrowed, prepend=0.0)
        case Borrowing(own=own):
            # The same, in units of the node's own rows, with the bounds of the kernel.
            log_weight = np.log(np.maximum(tree.weight[nodes] * tree.unit[0], 1.0))
            row_value = np.exp(np.clip(own * log_weight, -10.0, 12.0))
            counts = np.diff(borrowed * row_value, prepend=0.0) / row_value[-1]
        case HierarchicalShrinkage(strength=strength):
            # The share of the prediction due to the ancestors grows at each level by the part of the parent.
            weight = tree.weight[nodes] * tree.unit[0]
            share = np.append(0.0, strength / np.maximum(weight[:-1] + strength, np.finfo(float).tiny))
            counts[1:] = np.diff(share) * weight[-1] / max(1 - share[-1], np.finfo(float).tiny)
        case MEstimate(base="root") if len(nodes) > 1:
            counts[1] = borrowed[-1]
        case Laplace() | MEstimate():
            counts[0] = borrowed[-1]
        case MBranch() | HDP():
            counts[-1] = borrowed[-1]
        case _:
            return None
    return counts
