"""Growth of a tree from rows in memory."""

from hornbeam.data.binning.bins import Bins
from hornbeam.data.table import Table
from hornbeam.growing.forced_splits import ForcedTop
from hornbeam.growing.levelwise.nodes import attach_subtrees
from hornbeam.growing.parallel import ParallelGrower
from hornbeam.growing.search import search_table
from hornbeam.growing.settings import GrowthSettings
from hornbeam.growing.tree_builder import build_tree_of_table
from hornbeam.growing.watch import Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes, Rows
from hornbeam.tree.edit import recount
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Codes

__all__ = ["grow_in_memory"]


def grow_in_memory(
    settings: GrowthSettings,
    table: Table,
    bins: Bins,
    codes: Codes | None = None,
    *,
    n_jobs: int = 1,
    key: int = 0,
    watch: Watch | None = None,
    quick_codes: int = 1_000_000,
    serial_rows: int = 50_000,
    smallest_grain: int = 8_192,
) -> Tree:
    """Grow a tree from a table, as `Grower.grow` describes; the codes must be valid.

    Three thresholds decide about threads. With fewer codes than `quick_codes` the kernel runs in the calling thread: it
    ends before an interrupt matters. With fewer rows than `serial_rows` one thread is faster than several. A node of at
    most `smallest_grain` rows is grown by a single thread.
    """
    settings.check_target(table.schema)
    codes = bins.encode(table, n_jobs) if codes is None else codes
    progress = Watch() if watch is None else watch

    def grow_nodes(rows: Rows, spec: GrowthSpec, top: ForcedTop | None) -> Nodes:
        def grow_serially() -> Nodes:
            if top is None:
                root = NodeRange.root(rows.n_rows, spec, key)
                return subtree.grow(rows, spec, root, progress.progress_slot())
            return attach_subtrees(
                top.node_list.nodes(),
                [
                    (leaf.node, subtree.grow(rows, spec, leaf.node_range, progress.progress_slot()))
                    for leaf in top.leaves
                ],
            )

        fractional = spec.rules.missing == subtree.Missing.fractional
        if rows.codes.size < quick_codes and not fractional:
            return grow_serially()
        if n_jobs == 1 or rows.n_rows < serial_rows or fractional:
            return progress.run(grow_serially)
        with Pool(n_jobs) as pool:
            parallel = ParallelGrower(rows, spec, n_jobs, pool, key, smallest_grain, top)
            return progress.run(lambda: parallel.grow(progress))

    rows, search = search_table(settings, table, bins, codes)
    spec = search.spec
    skeleton, top = settings.forced_skeleton(table.schema), None
    if skeleton is not None:
        top, rows = ForcedTop.count(skeleton, bins, spec, rows, key)
    nodes, thresholds = grow_nodes(rows, spec, top), {} if top is None else top.thresholds
    tree = build_tree_of_table(settings, nodes, bins, table, spec.rules.unit, thresholds)
    if table.class_weight is None:
        return tree
    return recount(tree, table, Step.of("recount", class_weight=tuple(table.class_weight.tolist())))
