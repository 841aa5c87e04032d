"""Rows that are held out from a fit, to score on."""

from typing import Any

from hornbeam.errors import DataError

__all__ = ["n_held_out", "split_holdout"]


def n_held_out(n_rows: int, share: float) -> int:
    """Return the number of rows that are held out.

    Examples
    --------
    >>> n_held_out(1000, 0.2), n_held_out(2, 0.1)
    (200, 1)
    """
    return max(1, round(share * n_rows))


def split_holdout(table: Any, n: int, seed: int | None = None, group: Any = None) -> tuple[Any, Any]:
    """Split a table into training rows and `n` drawn rows, or whole groups; both are in the order of the table."""
    import numpy as np

    random = np.random.default_rng(0 if seed is None else seed)
    if group is None:
        order = random.permutation(table.num_rows)
        return table.take(np.sort(order[n:])), table.take(np.sort(order[:n]))
    rows = np.bincount(group)
    if len(rows) < 2:
        raise DataError("all rows belong to one group: expected two at least, to hold one out.")
    order = random.permutation(len(rows))
    n_groups = min(max(1, int(np.searchsorted(np.cumsum(rows[order]), n, side="right"))), len(rows) - 1)
    held = np.isin(group, order[:n_groups])
    return table.take(np.flatnonzero(~held)), table.take(np.flatnonzero(held))
