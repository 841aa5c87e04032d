"""What a pass over the rows was about, for those who look on."""

from typing import NamedTuple

__all__ = ["PassReport"]


class PassReport(NamedTuple):
    """One `reduce` of the level phase, told after it is over.

    Attributes
    ----------
    phase : str
        ``"survey"``, ``"count"`` or ``"gather"``.
    level : int
        Number of tests above the nodes of the pass.
    n_nodes : int
        Nodes asked for a split, or finished where their rows were brought together.
    n_rows : int
        Rows of those nodes that were counted or moved.
    n_settled : int
        Rows that have reached their leaf so far.
    task_bytes : int
        Bytes every task hands on, however few its rows: cells.
    row_bytes : int
        Bytes all tasks together hand on: rows.
    blocks : int
        Into how many blocks these were cut.

    Examples
    --------
    >>> PassReport("count", 3, 8, 1000, 200, task_bytes=4096, row_bytes=0, blocks=1).predicted_bytes(n_tasks=7)
    28672
    """

    phase: str
    level: int
    n_nodes: int
    n_rows: int
    n_settled: int
    task_bytes: int
    row_bytes: int
    blocks: int

    def predicted_bytes(self, n_tasks: int) -> int:
        """Bytes that so many tasks hand on together, before they are added up."""
        return self.task_bytes * n_tasks + self.row_bytes
