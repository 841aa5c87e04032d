"""Growth of a tree from rows in memory."""

from typing import TYPE_CHECKING

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.data.weights import apply_class_weight
from hornbeam.growing.constraints import refuse_fractional
from hornbeam.growing.criterion import Missing
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

__all__ = ["grow", "grow_in_memory", "n_copies"]

_FRACTION_BITS = 48  # fractional rows: total weight is about 2**48 steps


def grow(
    grower: "Grower",
    table: Table,
    bins: Bins,
    codes: Codes | None = None,
    *,
    n_jobs: int = 1,
    key: int = 0,
    watch: Watch | None = None,
    **thresholds: int,
) -> Tree:
    """Grow a tree from a table, as `Grower.grow` describes; ``thresholds`` are those of `grow_in_memory`.

    The codes must be valid; their rows are reordered.
    """
    grower._check_target(table.schema)
    codes = bins.encode(table, n_jobs) if codes is None else codes
    watch = Watch() if watch is None else watch

    def grow_nodes(rows: Rows, spec: GrowthSpec) -> Nodes:
        return grow_in_memory(rows, spec, n_jobs, watch, key, **thresholds)

    if table.numeric_target is not None:
        nodes = grow_nodes(*_regression_rows(grower, table, table.numeric_target, bins, codes))
        return grower._limit_leaves(build_regression_tree(nodes, bins, table, grower._step()))
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
    tree = grower._build_tree(
        grow_nodes(rows, grower._terms(table.schema, bins, rules)), bins, table.schema, unit
    )
    if table.class_weight is None:
        return tree
    return recount(tree, table, Step.of("recount", class_weight=tuple(table.class_weight.tolist())))


def grow_in_memory(
    rows: Rows,
    spec: GrowthSpec,
    n_jobs: int,
    watch: Watch,
    key: int = 0,
    *,
    quick_codes: int = 1_000_000,
    serial_rows: int = 50_000,
    smallest_grain: int = 8_192,
) -> Nodes:
    """Grow the nodes of a tree from encoded rows.

    Parameters
    ----------
    rows : Rows
        They are reordered.
    spec : GrowthSpec
    n_jobs : int
        Threads.
    watch : Watch
        Receives the progress.
    key : int
        Seed of the features that each node draws, with `max_features`.
    quick_codes : int
        With fewer codes than this the kernel runs in this thread: it ends before an interrupt matters.
    serial_rows : int
        With fewer rows than this one thread is faster than several.
    smallest_grain : int
        A node of at most this many rows is grown by a single thread.
    """
    root = NodeRange.root(rows.n_rows, spec, key)
    fractional = spec.rules.missing == subtree.Missing.fractional
    if rows.codes.size < quick_codes and not fractional:
        return subtree.grow(rows, spec, root, watch.progress_slot())
    if n_jobs == 1 or rows.n_rows < serial_rows or fractional:
        return watch.run(lambda: subtree.grow(rows, spec, root, watch.progress_slot()))
    with Pool(n_jobs) as pool:
        return watch.run(lambda: ParallelGrower(rows, spec, n_jobs, pool, key, smallest_grain).grow(watch))


def _regression_rows(
    grower: "Grower", table: Table, target: NumericTarget, bins: Bins, codes: Codes
) -> tuple[Rows, GrowthSpec]:
    weight = None if table.weight is None else table.weight.copy()
    rows = Rows(codes, np.empty(0, np.uint16), weight, target.numerators(weight, table.unit))
    return rows, grower._terms(table.schema, bins, grower._sum_rules(table, target))


def n_copies(table: Table) -> int | None:
    """Count the rows, one of weight 2 twice; None where weights are not whole numbers."""
    if table.unit != 1.0:
        return None
    return table.n_rows if table.weight is None else int(table.weight.sum())


def _finer_weights(rows: Rows, unit: float) -> tuple[Rows, float]:
    """Weights in steps small enough to be divided again and again."""
    weight = np.ones(len(rows.label), dtype=np.int64) if rows.weight is None else rows.weight
    shift = max(0, _FRACTION_BITS - int(weight.max() * len(weight)).bit_length())
    return rows._replace(weight=weight << shift), unit / (1 << shift)
