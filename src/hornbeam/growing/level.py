"""The level phase: the rows are elsewhere, and all we ask of them is sums.

Level by level one ``reduce`` adds up the histograms of the open nodes over all units. Once a node's rows fit
one place, a last ``reduce`` brings each node's rows together and the local kernel finishes the subtree. Tasks
are pure and know only the tree so far; what is lost with this process is in the checkpoint.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hornbeam.data.coded import CodedSource
from hornbeam.data.engine import Engine
from hornbeam.growing.checkpoint import Checkpoint, State
from hornbeam.growing.counting import find_splits
from hornbeam.growing.frontier import Family, Frontier, Means
from hornbeam.growing.gather import check_same_rows, deal_round, grow_subtrees
from hornbeam.growing.ground import Ground
from hornbeam.growing.nodes import NodeList, graft, guide_of
from hornbeam.growing.passes import Pass
from hornbeam.growing.sprout import Sprout
from hornbeam.growing.whereabouts import Whereabouts
from hornbeam.kernels.subtree import Block, Nodes, Terms

__all__ = ["LevelPhase"]


@dataclass(frozen=True, slots=True)
class LevelPhase:
    """Grows one tree from sums.

    Parameters
    ----------
    source : CodedSource
        The rows.
    terms : Terms
        What the columns are, what a split is worth, which rules it must keep.
    engine : Engine
        Where the work runs.
    means : Means
        What a pass may take.
    checkpoint : Checkpoint or None
        Where the tree so far is kept.
    on_progress : callable or None
        Told after every pass, once what it found is safe.
    """

    source: CodedSource
    terms: Terms
    engine: Engine
    means: Means
    checkpoint: Checkpoint | None = None
    on_progress: Callable[[Pass], None] | None = None

    def grow(self) -> Nodes:
        """Grow the tree, from the root or from where the checkpoint is."""
        state = None if self.checkpoint is None else self.checkpoint.read(self.terms, self.means.survey)
        frontier = Frontier(self.terms, self.means)
        if state is None:
            survey = self.means.survey
            made = NodeList(self.terms)
            root = made.add(-1, 0, survey.n_rows, survey.counts)
            frontier.add([Sprout(root, Block.root(survey.n_rows, self.terms), survey.counts)])
        else:
            made = NodeList.of(state.nodes, self.terms)
            frontier.small = state.small
            frontier.waiting.extend(Family([sprout]) for sprout in state.opened)
        self._tell(Pass("survey", 0, 0, self.means.survey.n_rows, self._settled(frontier), 0, 0, 1))
        whereabouts = Whereabouts(self.means.budget)
        while frontier.waiting:
            self._ask_level(made, frontier, whereabouts)
        nodes = made.nodes()
        finished: list[tuple[int, Nodes]] = []
        while frontier.small:
            finished += self._finish_some(nodes, finished, frontier, whereabouts)
        return graft(nodes, finished)

    def _ask_level(self, made: NodeList, frontier: Frontier, whereabouts: Whereabouts) -> None:
        """One pass for the next batch: nodes that split have children, the others are leaves."""
        batch, blocks = frontier.next()
        asked, n_rows = batch.asked, batch.n_rows
        ground = Ground(self.source, self.terms, guide_of(made.nodes()), whereabouts)
        found = find_splits(ground, self.engine, batch, blocks)
        for sprout, best in zip(asked, found, strict=True):
            if best is not None:
                check_same_rows(
                    best.n_rows.sum() == sprout.n_rows and (best.counts.sum(axis=0) == sprout.counts).all()
                )
                spans = [(0, n) for n in best.n_rows.tolist()]
                frontier.add(made.split(sprout, best.split, best.counts, spans), sprout.cells)
            sprout.cells = None
        self._keep(made.nodes(), frontier)
        task_bytes = len(batch.slots) * self.means.node_bytes(self.terms, wide=batch.wide)
        depth, settled = asked[0].block.depth, self._settled(frontier)
        self._tell(Pass("count", depth, len(asked), n_rows, settled, task_bytes, 0, blocks))

    def _finish_some(
        self,
        nodes: Nodes,
        finished: list[tuple[int, Nodes]],
        frontier: Frontier,
        whereabouts: Whereabouts,
    ) -> list[tuple[int, Nodes]]:
        """One pass for as many small nodes as there is room for: return their subtrees, grown to the end."""
        # Subtrees that are finished need not be walked again: all rows that count are on their way to small nodes.
        guide = guide_of(nodes, [sprout.node for sprout in frontier.small])
        blocks = deal_round(frontier.small, self.means, self.engine.parallelism)
        survey, ground = self.means.survey, Ground(self.source, self.terms, guide, whereabouts)
        subtrees = grow_subtrees(ground, self.engine, blocks, survey)
        if self.checkpoint is not None:
            self._keep(graft(nodes, [*finished, *subtrees]), frontier)
        sprouts = [sprout for block in blocks for sprout in block]
        n_rows, depth = sum(s.n_rows for s in sprouts), min(s.block.depth for s in sprouts)
        moved, settled = n_rows * survey.row_bytes, self._settled(frontier)
        self._tell(Pass("gather", depth, len(sprouts), n_rows, settled, 0, moved, len(blocks)))
        return subtrees

    def _settled(self, frontier: Frontier) -> int:
        return self.means.survey.n_rows - frontier.n_rows

    def _keep(self, nodes: Nodes, frontier: Frontier) -> None:
        if self.checkpoint is not None:
            self.checkpoint.write(State(nodes, list(frontier.opened), frontier.small))

    def _tell(self, done: Pass) -> None:
        if self.on_progress is not None:
            self.on_progress(done)
