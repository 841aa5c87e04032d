"""Calibration of the intervals of a tree of any recipe."""

from dataclasses import replace

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Missing
from hornbeam.recipe import Fitter, RecipeFitter
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.interval_calibration import calibrate_taught_tree
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.tree import Tree
from hornbeam.tuning.cross_fitted import CrossFitted, TuningResult


def calibrate_intervals(
    tree: Tree, table: Table, recipe: Fitter | RecipeFitter | None, *, n_jobs: int = 1
) -> Tree:
    """Find the width with which the intervals of a tree have their nominal coverage.

    Trees of `CrossFitted` are calibrated already, and so are trees with a teacher, for which only their evidence is
    used (`hornbeam.smoothing.calibrate_taught_tree`). For others this takes about as long as a fit by `CrossFitted`: at
    most 30,000 rows are used.
    """
    if is_distilled(tree):
        return calibrate_taught_tree(tree)(tree)
    if not isinstance(recipe, RecipeFitter):
        raise ParameterError(
            "these parameters have a teacher, and the tree was fitted without one; expected the parameters of its fit."
        )
    chosen = recipe.choose(table, n_jobs=n_jobs)
    if chosen.grower.missing is Missing.FRACTIONAL:
        raise ParameterError(
            "missing='fractional' splits rows over several leaves, whose intervals cannot be calibrated; "
            "expected 'own' or 'learned'. Choose one of these, or use the intervals as they are."
        )
    bins, codes = chosen.encode(table, n_jobs)
    result = recipe.learn(chosen, table, bins, codes, n_jobs=n_jobs)
    if isinstance(result, TuningResult):
        finish, simulation = result.simulated_fit(tree), result.simulation
    else:
        # Held-out predictions must be good whatever the smoother of the recipe.
        smoothed = replace(chosen, smoother=Borrowing())
        tuned = CrossFitted(smoothed, tolerance=None).learn(smoothed, table, bins, codes, n_jobs=n_jobs)
        finish, simulation = chosen.finish, tuned.simulation
    assert simulation is not None  # no fractional rows
    return simulation.calibrate(chosen, finish, tree.n_leaves, n_jobs)(tree)
