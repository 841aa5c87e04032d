"""Calibration of the intervals of a tree of any recipe."""

from dataclasses import replace

from hornbeam.data.binning.bins import Bins
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing import Missing
from hornbeam.recipe import Fitter, RecipeFitter
from hornbeam.smoothing import Borrowing, calibrate_taught_tree
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.tree import Tree
from hornbeam.tuning.cross_fitted import CrossFitted, TuningResult
from hornbeam.typing import Codes


def calibrate_intervals(tree: Tree, table: Table, recipe: Fitter, *, n_jobs: int = 1) -> Tree:
    """Find the width with which the intervals of a tree have their nominal coverage.

    Parameters
    ----------
    tree : Tree
        Finished.
    table : Table
        The rows it was grown from, or others of the same distribution.
    recipe : Recipe, CrossValidated or CrossFitted
        The settings of the tree; not used for a tree with a teacher.
    n_jobs : int, default 1
        Threads; the result does not depend on them.

    Returns
    -------
    Tree
        The same tree with the calibration as its last step.

    Raises
    ------
    ParameterError
        If missing values go to every child.

    See Also
    --------
    hornbeam.tuning.simulation.Simulation : the method.

    Notes
    -----
    Trees of `CrossFitted` are calibrated already, and so are trees with a teacher, for which only their evidence is
    used (`hornbeam.smoothing.calibrate_taught_tree`). For others this takes about as long as a fit by `CrossFitted`: at
    most 30,000 rows are used.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read(*load_breast_cancer(return_X_y=True))
    >>> tree = PRESETS["cart"].fit(table)
    >>> print(calibrate_intervals(tree, table, PRESETS["cart"]).history[-1])
    interval-calibration(borrowed=0.0, own=0.37)
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
    bins = chosen.bin(table, n_jobs)
    codes = bins.encode(table, n_jobs)
    result = recipe.learn(chosen, table, bins, codes, n_jobs=n_jobs)
    if isinstance(result, TuningResult):
        fit, simulation = result.simulated_fit(tree), result.simulation
    else:
        # Held-out predictions must be good whatever the smoother of the recipe.
        smoothed = replace(chosen, smoother=Borrowing())
        tuned = CrossFitted(smoothed, tolerance=None).learn(smoothed, table, bins, codes, n_jobs=n_jobs)
        simulation = tuned.simulation

        def fit(table: Table, bins: Bins, codes: Codes) -> Tree:
            return chosen.finish(chosen.grower.grow(table, bins, codes), table)

    assert simulation is not None  # no fractional rows
    return simulation.calibrate(fit, tree.n_leaves, n_jobs)(tree)
