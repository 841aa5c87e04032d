"""The home phase: the rows are in memory, here."""

from hornbeam.growing.parallel import ParallelGrower
from hornbeam.growing.progress import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes, Rows

__all__ = ["grow_in_memory"]

_SERIAL_ROWS = 50_000  # below, threads cost more than they bring
_QUICK_CODES = 1_000_000  # below, the tree is there before anybody could want to interrupt it


def grow_in_memory(rows: Rows, terms: GrowthSpec, n_jobs: int, watch: Watch, key: int = 0) -> Nodes:
    """Grow a tree from coded rows in memory; the key decides which features each node draws, if not all."""
    root = NodeRange.root(rows.n_rows, terms, key)
    fractional = terms.rules.missing == subtree.Missing.fractional
    if rows.codes.size < _QUICK_CODES and not fractional:
        return subtree.grow(rows, terms, root, watch.slip())
    if n_jobs == 1 or rows.n_rows < _SERIAL_ROWS or fractional:
        return watch.run(lambda: subtree.grow(rows, terms, root, watch.slip()))
    with Pool(n_jobs) as pool:
        return watch.run(lambda: ParallelGrower(rows, terms, n_jobs, pool, key).grow(watch))
