"""What regrown trees taught, for a tree grown or counted elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hornbeam.data.binning.bins import Bins
from hornbeam.data.table import Table
from hornbeam.pruning import Pruner
from hornbeam.recipe import Recipe
from hornbeam.smoothing import IntervalCalibration, Smoother
from hornbeam.tree.tree import Tree
from hornbeam.tuning.folds import FoldTree
from hornbeam.tuning.simulation import Grow, Simulation
from hornbeam.typing import Codes, Floats

__all__ = ["TuningResult"]


@dataclass(frozen=True, slots=True, eq=False)
class TuningResult:
    """Prune, smooth and appraise a tree by what `CrossFitted` learnt from some rows.

    Parameters
    ----------
    recipe : Recipe
        Its pruner, and the smoother with the strengths that were found.
    price : Pruner or None
        What leaves must be worth.
    smoother : Smoother
        With the strengths that were found for trees pruned by the price.
    pruner : Pruner or None
        What else cuts the smoothed tree back.
    table : Table
        The rows that took part.
    bins : Bins
        The bins of their features.
    regrown : sequence of FoldTree
        The trees, each without one fold of these rows.
    beliefs : sequence of float64 arrays
        What each of these trees believes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.recipe import PRESETS
    >>> from hornbeam.tuning import CrossFitted
    >>> table, recipe = Table.read(*load_breast_cancer(return_X_y=True)), PRESETS["default"]
    >>> bins = recipe.bin(table)
    >>> lesson = CrossFitted(recipe).learn(recipe, table, bins, bins.encode(table))
    >>> tree = recipe.grower.grow(table, bins)
    >>> tree.n_leaves, lesson.apply(tree).n_leaves
    (19, 11)
    """

    recipe: Recipe
    price: Pruner | None
    smoother: Smoother
    pruner: Pruner | None
    table: Table
    bins: Bins
    regrown: Sequence[FoldTree]
    beliefs: Sequence[Floats]

    def finish(self, tree: Tree) -> Tree:
        """Prune and smooth a tree."""
        tree = self.recipe.finish(tree)
        if self.price is not None:
            tree = replace(self.recipe, smoother=self.smoother).smooth(self.price(tree))
        return tree if self.pruner is None else self.pruner(tree)

    def apply(self, tree: Tree, n_jobs: int = 1) -> Tree:
        """Finish a tree, and say what its rows are worth."""
        finished = self.finish(tree)
        if any(one.node is None for one in self.regrown):  # missing values go to every child
            return finished
        return self.appraise(finished, self._simulate, n_jobs)(finished)

    def appraise(self, tree: Tree, grow: Grow, n_jobs: int = 1) -> IntervalCalibration:
        """Find what the rows of a finished tree are worth, by trees grown from simulated targets.

        Parameters
        ----------
        tree : Tree
        grow : callable
            Makes such a tree from a table, bins and codes.
        n_jobs : int, default 1
            Threads.
        """
        if not self.regrown:
            return IntervalCalibration(0.0)
        world = Simulation.of(self.table, self.bins, self.regrown, self.beliefs, n_jobs)
        return world.appraise(grow, tree.n_leaves, n_jobs)

    def _simulate(self, table: Table, bins: Bins, codes: Codes) -> Tree:
        return self.finish(self.recipe.grower.grow(table, bins, codes))
