"""Growing level by level: rows stay where they are, and only sums are sent.

For each level one ``reduce`` of the engine sums the histograms of open nodes over all partitions. When the rows of a
node fit one process, a last ``reduce`` gathers them, and the local kernel finishes the subtree. Tasks are pure
functions of the tree so far. The checkpoint holds everything that is lost if this process dies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Partition, Source
from hornbeam.errors import ParameterError
from hornbeam.growing.count_encoded import count_encoded, count_stopped, skeleton_to_code_tree
from hornbeam.growing.criterion import Missing
from hornbeam.growing.forced_splits import ForcedTop, without_empty
from hornbeam.growing.levelwise.checkpoint import Checkpoint, State
from hornbeam.growing.levelwise.counting import find_splits
from hornbeam.growing.levelwise.first_pass import search_source
from hornbeam.growing.levelwise.frontier import Family, Frontier, PassBudget
from hornbeam.growing.levelwise.gather import grow_subtrees, next_round
from hornbeam.growing.levelwise.nodes import NodeList, OpenNode, attach_subtrees, nodes_to_code_tree
from hornbeam.growing.levelwise.task_context import NodeOfRowCache, TaskContext, check_same_rows
from hornbeam.growing.settings import GrowthSettings
from hornbeam.growing.tree_builder import build_tree
from hornbeam.growing.watch import PassReport
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Counts, Floats


def grow(
    settings: GrowthSettings,
    source: EncodedSource,
    bins: Bins,
    schema: Schema,
    engine: Engine,
    *,
    unit: float | Floats,
    class_weight: Floats | None,
    target: Source | None,
    gather_rows: int | None,
    budget: int,
    checkpoint: str | PathLike[str] | None,
    on_progress: Callable[[PassReport], None] | None,
) -> Tree:
    """Grow a tree from encoded rows through an engine, as `Grower.grow_by_level` describes."""
    _check_parameters(settings, schema, budget, gather_rows)
    units = _units(schema, unit, target, class_weight)
    search, rows, summary = search_source(
        settings, source, bins, schema, engine, units=units, class_weight=class_weight
    )
    spec = search.spec
    file = None
    if checkpoint is not None:
        file = Checkpoint.of(checkpoint, source, bins, schema, unit, class_weight, settings.as_step())
    top = _forced_top(settings, rows, spec, bins, schema, engine)
    phase = LevelPhase(rows, spec, engine, PassBudget(summary, budget, gather_rows), file, on_progress, top)
    nodes, squares = phase.grow(target)
    thresholds = {} if top is None else top.thresholds
    unit_of_tree = spec.rules.unit if squares is None else units
    tree = build_tree(settings, nodes, bins, schema, unit_of_tree, squares, thresholds)
    if class_weight is not None:
        recount = Step.of("recount", class_weight=tuple(class_weight.tolist()))
        tree = count_encoded(tree, source, bins, engine, unit=float(units[0]), step=recount)
    if file is not None:
        file.remove()
    return tree


def _units(
    schema: Schema, unit: float | Floats, target: Source | None, class_weight: Floats | None
) -> Floats:
    """Return the value of one step of weight; for a numeric target of weight, sum and sum of squares."""
    units = np.atleast_1d(np.asarray(unit, dtype=np.float64))
    if schema.is_regression and (target is None or units.shape != (3,) or class_weight is not None):
        raise ParameterError(
            "the target is numeric; expected its rows as target=, the units of weight, sum and squares as unit=, and "
            "no class_weight. Pass the source that was encoded, and evidence_units of it."
        )
    return units


def _check_parameters(settings: GrowthSettings, schema: Schema, budget: int, gather_rows: int | None) -> None:
    settings.check_target(schema)
    if settings.max_features is not None:
        raise ParameterError(
            f"growing level by level does not support max_features={settings.max_features}; expected all features. "
            "Grow in memory, or on a sample that fits memory."
        )
    if settings.missing is Missing.FRACTIONAL:
        raise ParameterError(
            "missing='fractional' needs all rows in one place; expected 'own' or 'learned' here. "
            "Choose one of these, or grow in memory."
        )
    if budget < 1:
        raise ParameterError(f"budget={budget}: expected a number of bytes, such as {2**28}.")
    if gather_rows is not None and gather_rows < 0:
        raise ParameterError(
            f"gather_rows={gather_rows}: expected a number of rows of 0 or more. Pass None for the default."
        )


def _forced_top(
    settings: GrowthSettings,
    rows: EncodedSource,
    spec: GrowthSpec,
    bins: Bins,
    schema: Schema,
    engine: Engine,
) -> ForcedTop | None:
    """Count the rows of the forced splits in one pass; None if there are none."""
    skeleton = settings.forced_skeleton(schema)
    if skeleton is None:
        return None
    skeleton = without_empty(skeleton, bins)
    code_tree = skeleton_to_code_tree(skeleton, bins)
    stopped = count_stopped(rows, spec, code_tree, engine)
    return ForcedTop.of(skeleton, code_tree, bins, spec, stopped)


@dataclass(frozen=True, slots=True)
class LevelPhase:
    """Growth of one tree from sums; `on_progress` is called after every pass, when the checkpoint is written."""

    source: EncodedSource
    spec: GrowthSpec
    engine: Engine
    pass_budget: PassBudget
    checkpoint: Checkpoint | None = None
    on_progress: Callable[[PassReport], None] | None = None
    top: ForcedTop | None = None

    def grow(self, target: Source | None) -> tuple[Nodes, Counts | None]:
        """Grow the tree, from the root or from the checkpoint; add up the squares of a numeric target."""
        summary = self.pass_budget.summary
        state = None if self.checkpoint is None else self.checkpoint.read(self.spec, summary)
        frontier = Frontier(self.spec, self.pass_budget)
        if state is None and self.top is not None:
            node_list = self.top.node_list
            for leaf in self.top.leaves:
                frontier.add([leaf])
        elif state is None:
            node_list = NodeList(self.spec)
            root = node_list.add(-1, 0, summary.n_rows, summary.counts)
            frontier.add([OpenNode(root, NodeRange.root(summary.n_rows, self.spec), summary.counts)])
        else:
            node_list = NodeList.of(state.nodes, self.spec)
            frontier.small = state.small
            frontier.waiting.extend(Family([open_node]) for open_node in state.opened)
        self._report(PassReport("survey", 0, 0, summary.n_rows, self._rows_done(frontier), 0, 0, 1))
        cache = NodeOfRowCache(self.pass_budget.task_bytes)
        while frontier.waiting:
            self._split_batch(node_list, frontier, cache)
        nodes = node_list.nodes()
        subtrees: list[tuple[int, Nodes]] = []
        while frontier.small:
            subtrees += self._finish_small_nodes(nodes, subtrees, frontier, cache)
        nodes = attach_subtrees(nodes, subtrees)
        if target is None:
            return nodes, None
        context = TaskContext(self.source, self.spec, nodes_to_code_tree(nodes), cache)
        return nodes, _sum_squares(context, target, self.engine)

    def _split_batch(self, node_list: NodeList, frontier: Frontier, cache: NodeOfRowCache) -> None:
        """Find the splits of the next batch in one pass; nodes without a split are leaves."""
        batch, blocks = frontier.next()
        open_nodes, n_rows = batch.open_nodes, batch.n_rows
        context = TaskContext(self.source, self.spec, nodes_to_code_tree(node_list.nodes()), cache)
        found = find_splits(context, self.engine, batch, blocks)
        for open_node, best in zip(open_nodes, found, strict=True):
            if best is not None:
                row_ranges = [(0, n) for n in best.n_rows.tolist()]
                children = node_list.split(open_node, best.split, best.counts, row_ranges)
                frontier.add(children, open_node.cells)
            open_node.cells = None
        self._write_checkpoint(node_list.nodes(), frontier)
        task_bytes = len(batch.slots) * self.pass_budget.node_bytes(self.spec, wide=batch.wide)
        depth, rows_done = open_nodes[0].node_range.depth, self._rows_done(frontier)
        self._report(PassReport("count", depth, len(open_nodes), n_rows, rows_done, task_bytes, 0, blocks))

    def _finish_small_nodes(
        self, nodes: Nodes, finished: list[tuple[int, Nodes]], frontier: Frontier, cache: NodeOfRowCache
    ) -> list[tuple[int, Nodes]]:
        """Gather the rows of as many small nodes as fit memory, and return their subtrees."""
        # Only paths to small nodes are needed: no other row is gathered.
        code_tree = nodes_to_code_tree(nodes, [open_node.node for open_node in frontier.small])
        blocks = next_round(frontier.small, self.pass_budget, self.engine.parallelism)
        summary, context = self.pass_budget.summary, TaskContext(self.source, self.spec, code_tree, cache)
        subtrees = grow_subtrees(context, self.engine, blocks, summary)
        if self.checkpoint is not None:
            self._write_checkpoint(attach_subtrees(nodes, [*finished, *subtrees]), frontier)
        gathered = [open_node for block in blocks for open_node in block]
        n_rows = sum(open_node.n_rows for open_node in gathered)
        depth = min(open_node.node_range.depth for open_node in gathered)
        row_bytes, rows_done = n_rows * summary.row_bytes, self._rows_done(frontier)
        self._report(PassReport("gather", depth, len(gathered), n_rows, rows_done, 0, row_bytes, len(blocks)))
        return subtrees

    def _rows_done(self, frontier: Frontier) -> int:
        return self.pass_budget.summary.n_rows - frontier.n_rows

    def _write_checkpoint(self, nodes: Nodes, frontier: Frontier) -> None:
        if self.checkpoint is not None:
            self.checkpoint.write(State(nodes, list(frontier.open_nodes), frontier.small))

    def _report(self, done: PassReport) -> None:
        if self.on_progress is not None:
            self.on_progress(done)


def _sum_squares(context: TaskContext, target: Source, engine: Engine) -> Counts:
    """Add up weight times squared target of the rows that end at each node, in steps: a part of the evidence."""
    [squares] = engine.reduce(_squares_of_partitions, context.source.partitions(), (context, target))
    return squares  # type: ignore[no-any-return]


def _squares_of_partitions(
    partitions: Sequence[Partition], shared: tuple[TaskContext, Source]
) -> list[Counts]:
    context, target = shared
    squares = np.zeros(len(context.code_tree.feature), dtype=np.int64)
    for partition in partitions:
        node = context.nodes(partition, context.read(partition, weighted=False))
        table = target.read(partition, features=())
        assert table.numeric_target is not None  # the first pass found it
        check_same_rows(len(node) == len(table.numeric_target.values))
        np.add.at(squares, node, table.numeric_target.squares(table.weight, table.unit))
    return [squares]
