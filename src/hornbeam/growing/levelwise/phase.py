"""The level phase: the rows are elsewhere, and all we ask of them is sums.

Level by level one ``reduce`` adds up the histograms of the open nodes over all units. Once a node's rows fit
one place, a last ``reduce`` brings each node's rows together and the local kernel finishes the subtree. Tasks
are pure and know only the tree so far; what is lost with this process is in the checkpoint.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.growing.levelwise.checkpoint import Checkpoint, State
from hornbeam.growing.levelwise.counting import find_splits
from hornbeam.growing.levelwise.frontier import Family, Frontier, PassBudget
from hornbeam.growing.levelwise.gather import grow_subtrees, next_round
from hornbeam.growing.levelwise.node_of_row import NodeOfRowCache
from hornbeam.growing.levelwise.nodes import NodeList, attach_subtrees, code_tree
from hornbeam.growing.levelwise.open_node import OpenNode
from hornbeam.growing.levelwise.pass_report import PassReport
from hornbeam.growing.levelwise.task_context import TaskContext
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes

__all__ = ["LevelPhase"]


@dataclass(frozen=True, slots=True)
class LevelPhase:
    """Grows one tree from sums.

    Parameters
    ----------
    source : EncodedSource
        The rows.
    terms : GrowthSpec
        What the columns are, what a split is worth, which rules it must keep.
    engine : Engine
        Where the work runs.
    means : PassBudget
        What a pass may take.
    checkpoint : Checkpoint or None
        Where the tree so far is kept.
    on_progress : callable or None
        Told after every pass, once what it found is safe.
    """

    source: EncodedSource
    terms: GrowthSpec
    engine: Engine
    means: PassBudget
    checkpoint: Checkpoint | None = None
    on_progress: Callable[[PassReport], None] | None = None

    def grow(self) -> Nodes:
        """Grow the tree, from the root or from where the checkpoint is."""
        state = None if self.checkpoint is None else self.checkpoint.read(self.terms, self.means.survey)
        frontier = Frontier(self.terms, self.means)
        if state is None:
            survey = self.means.survey
            made = NodeList(self.terms)
            root = made.add(-1, 0, survey.n_rows, survey.counts)
            frontier.add([OpenNode(root, NodeRange.root(survey.n_rows, self.terms), survey.counts)])
        else:
            made = NodeList.of(state.nodes, self.terms)
            frontier.small = state.small
            frontier.waiting.extend(Family([sprout]) for sprout in state.opened)
        self._tell(PassReport("survey", 0, 0, self.means.survey.n_rows, self._settled(frontier), 0, 0, 1))
        whereabouts = NodeOfRowCache(self.means.budget)
        while frontier.waiting:
            self._ask_level(made, frontier, whereabouts)
        nodes = made.nodes()
        finished: list[tuple[int, Nodes]] = []
        while frontier.small:
            finished += self._finish_some(nodes, finished, frontier, whereabouts)
        return attach_subtrees(nodes, finished)

    def _ask_level(self, made: NodeList, frontier: Frontier, whereabouts: NodeOfRowCache) -> None:
        """One pass for the next batch: nodes that split have children, the others are leaves."""
        batch, blocks = frontier.next()
        asked, n_rows = batch.asked, batch.n_rows
        ground = TaskContext(self.source, self.terms, code_tree(made.nodes()), whereabouts)
        found = find_splits(ground, self.engine, batch, blocks)
        for sprout, best in zip(asked, found, strict=True):
            if best is not None:
                spans = [(0, n) for n in best.n_rows.tolist()]
                frontier.add(made.split(sprout, best.split, best.counts, spans), sprout.cells)
            sprout.cells = None
        self._keep(made.nodes(), frontier)
        task_bytes = len(batch.slots) * self.means.node_bytes(self.terms, wide=batch.wide)
        depth, settled = asked[0].block.depth, self._settled(frontier)
        self._tell(PassReport("count", depth, len(asked), n_rows, settled, task_bytes, 0, blocks))

    def _finish_some(
        self,
        nodes: Nodes,
        finished: list[tuple[int, Nodes]],
        frontier: Frontier,
        whereabouts: NodeOfRowCache,
    ) -> list[tuple[int, Nodes]]:
        """One pass for as many small nodes as there is room for: return their subtrees, grown to the end."""
        # Subtrees that are finished need not be walked again: all rows that count are on their way to small nodes.
        guide = code_tree(nodes, [sprout.node for sprout in frontier.small])
        blocks = next_round(frontier.small, self.means, self.engine.parallelism)
        survey, ground = self.means.survey, TaskContext(self.source, self.terms, guide, whereabouts)
        subtrees = grow_subtrees(ground, self.engine, blocks, survey)
        if self.checkpoint is not None:
            self._keep(attach_subtrees(nodes, [*finished, *subtrees]), frontier)
        sprouts = [sprout for block in blocks for sprout in block]
        n_rows, depth = sum(s.n_rows for s in sprouts), min(s.block.depth for s in sprouts)
        moved, settled = n_rows * survey.row_bytes, self._settled(frontier)
        self._tell(PassReport("gather", depth, len(sprouts), n_rows, settled, 0, moved, len(blocks)))
        return subtrees

    def _settled(self, frontier: Frontier) -> int:
        return self.means.survey.n_rows - frontier.n_rows

    def _keep(self, nodes: Nodes, frontier: Frontier) -> None:
        if self.checkpoint is not None:
            self.checkpoint.write(State(nodes, list(frontier.opened), frontier.small))

    def _tell(self, done: PassReport) -> None:
        if self.on_progress is not None:
            self.on_progress(done)
