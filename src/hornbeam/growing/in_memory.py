"""Growth of a tree from rows in memory."""

from typing import TYPE_CHECKING

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.data.weights import apply_class_weight
from hornbeam.growing.category_order import order_in_memory
from hornbeam.growing.constraints import refuse_fractional
from hornbeam.growing.criterion import Missing
from hornbeam.growing.forced_splits import ForcedTop
from hornbeam.growing.levelwise.nodes import attach_subtrees
from hornbeam.growing.parallel import ParallelGrower
from hornbeam.growing.progress import Watch
from hornbeam.growing.tree_builder import build_regression_tree
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes, Rows
from hornbeam.tree.edit import recount
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Codes

if TYPE_CHECKING:
    from hornbeam.growing.grower import Grower

__all__ = ["encoded_rows", "finer_shift", "grow_in_memory", "n_copies"]

_FRACTION_BITS = 48  # fractional rows: total weight is about 2**48 steps


def grow_in_memory(
    grower: "Grower",
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
    grower._check_target(table.schema)
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

    rows, spec = encoded_rows(grower, table, bins, codes)
    skeleton, top = grower.forced_skeleton(table.schema), None
    if skeleton is not None:
        top, rows = ForcedTop.count(skeleton, bins, spec, rows, key)
    nodes, thresholds = grow_nodes(rows, spec, top), {} if top is None else top.thresholds
    if table.numeric_target is not None:
        return grower._limit_leaves(build_regression_tree(nodes, bins, table, grower._step(), thresholds))
    tree = grower._build_tree(nodes, bins, table.schema, spec.rules.unit, thresholds)
    if table.class_weight is None:
        return tree
    return recount(tree, table, Step.of("recount", class_weight=tuple(table.class_weight.tolist())))


def encoded_rows(grower: "Grower", table: Table, bins: Bins, codes: Codes) -> tuple[Rows, GrowthSpec]:
    """Return the rows in the weights of the search for splits, and its rules; `codes` is not copied."""
    if table.numeric_target is not None:
        return _regression_rows(grower, table, table.numeric_target, bins, codes)
    assert table.target is not None
    weight, unit = None if table.weight is None else table.weight.copy(), table.unit
    if table.class_weight is not None:
        weight, unit = apply_class_weight(weight, unit, table.class_weight, table.target)
    rows, missing = Rows(codes, table.target.astype(np.uint16), weight), grower.missing
    if missing is Missing.FRACTIONAL:
        if (codes == bins.n_codes).any():
            refuse_fractional(grower.monotone)
            rows, unit = _finer_weights(rows, unit)
        else:
            missing = Missing.OWN
    total = table.n_rows if rows.weight is None else int(rows.weight.sum())
    rules = grower._rules(missing, unit, total, table.n_rows, n_copies(table))
    spec = grower._growth_spec(table.schema, bins, rules)
    return rows, order_in_memory(rows, spec) if grower.compares_all_rows else spec


def _regression_rows(
    grower: "Grower", table: Table, target: NumericTarget, bins: Bins, codes: Codes
) -> tuple[Rows, GrowthSpec]:
    weight = None if table.weight is None else table.weight.copy()
    rows = Rows(codes, np.empty(0, np.uint16), weight, target.numerators(weight, table.unit))
    spec = grower._growth_spec(table.schema, bins, grower._regression_rules(table, target))
    return rows, order_in_memory(rows, spec) if grower.compares_all_rows else spec


def n_copies(table: Table) -> int | None:
    """Count the rows, one of weight 2 twice; None where weights are not whole numbers."""
    if table.unit != 1.0:
        return None
    return table.n_rows if table.weight is None else int(table.weight.sum())


def _finer_weights(rows: Rows, unit: float) -> tuple[Rows, float]:
    """Weights in steps small enough to be divided again and again."""
    weight = np.ones(len(rows.label), dtype=np.int64) if rows.weight is None else rows.weight
    shift = finer_shift(int(weight.max()), len(weight))
    return rows._replace(weight=weight << shift), unit / (1 << shift)


def finer_shift(largest: int, n_rows: int) -> int:
    """Return by which power of two weights are multiplied, so that rows can be divided again and again."""
    return max(0, _FRACTION_BITS - (largest * n_rows).bit_length())
