"""Rows that a node borrowed from its ancestors and from the prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam.smoothing.replay import smoothers_of
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path


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

    They add up to ``tree.borrowed[node]``; empty if nothing was borrowed, or if the sources of this smoother are
    unknown. Rows are borrowed with the class frequencies of the source. `MBranch` and `HDP` borrow from the parent
    alone, with its smoothed probabilities, which are borrowed in part.
    """
    nodes = path(tree.skeleton, node)
    smoother = next(iter(smoothers_of(tree.history)), None)
    counts = None if smoother is None else smoother.pseudo_counts(tree, nodes)
    # A later step that is not in the registry may have changed the pseudo-counts.
    if smoother is None or counts is None or (counts < -1e-9).any():
        return ()
    if not np.isclose(counts.sum(), tree.borrowed[node]):
        return ()
    sources = [None, *nodes[:-1]]
    prior = "the mean of all rows" if tree.is_regression else smoother.prior_name
    return tuple(
        BorrowedRows(source, rows, prior)
        for source, rows in zip(sources[::-1], counts.tolist()[::-1], strict=True)
        if rows > 0
    )
