"""The settings that `CrossFitted` found, for a tree grown or counted elsewhere."""

from dataclasses import dataclass, replace

from hornbeam.data.binning.bins import Bins
from hornbeam.data.table import Table
from hornbeam.pruning import Pruner
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Smoother
from hornbeam.tree.tree import Tree
from hornbeam.tuning.simulation import Fit, Simulation
from hornbeam.tuning.size_choice import SizeChoice
from hornbeam.typing import Codes

__all__ = ["TuningResult"]


@dataclass(frozen=True, slots=True, eq=False)
class TuningResult:
    """Prunes, smooths and calibrates a tree with the settings that `CrossFitted` found.

    `recipe` has the chosen pruner, and the smoother with the strengths fitted to unpruned trees; `smoother` has those
    fitted to trees of the chosen size. `size` prunes the smoothed tree to its size, and `pruner` is a last pruner after
    that. `simulation` has held-out predictions of a sample of the rows, for the calibration of intervals; None if
    missing values go to every child: intervals are not calibrated then.
    """

    recipe: Recipe
    size: SizeChoice | Pruner | None
    smoother: Smoother
    pruner: Pruner | None
    simulation: Simulation | None

    def finish(self, tree: Tree, table: Table | None = None, *, n_jobs: int = 1) -> Tree:
        """Prune, smooth and calibrate a grown tree; `table` has the rows it was grown from."""
        finished = self.prune_and_smooth(tree, table)
        if self.simulation is None:
            return finished
        return self.simulation.calibrate(self.simulated_fit(finished), finished.n_leaves, n_jobs)(finished)

    def prune_and_smooth(self, tree: Tree, table: Table | None = None) -> Tree:
        """Prune and smooth a grown tree."""
        tree = self.recipe.finish(tree, table)
        if self.size is not None:
            tree = replace(self.recipe, smoother=self.smoother).smooth(self.size(tree))
        return tree if self.pruner is None else self.pruner(tree)

    def simulated_fit(self, finished: Tree) -> Fit:
        """Return the fit of simulated targets with the settings of a finished tree."""
        like = self
        if isinstance(self.size, SizeChoice):
            like = replace(self, size=self.size.for_simulations(finished.n_leaves))

        def fit(table: Table, bins: Bins, codes: Codes) -> Tree:
            return like.prune_and_smooth(self.recipe.grower.grow(table, bins, codes), table)

        return fit
