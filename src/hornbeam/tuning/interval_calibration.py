"""Intervals calibrated on demand, for trees of any recipe."""

from dataclasses import replace

from hornbeam.data.binning.bins import Bins
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing import Missing
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Borrowing
from hornbeam.tree.tree import Tree
from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.cross_validated import CrossValidated
from hornbeam.typing import Codes

__all__ = ["calibrate_intervals"]


def calibrate_intervals(
    tree: Tree, table: Table, recipe: Recipe | CrossValidated | CrossFitted, *, n_jobs: int = 1
) -> Tree:
    """Find how wide the intervals of a tree must be to hold the truth as often as they say.

    Parameters
    ----------
    tree : Tree
        Finished.
    table : Table
        The rows it was grown from, or others like them.
    recipe : Recipe, CrossValidated or CrossFitted
        How the tree was made.
    n_jobs : int, default 1
        Threads; the result does not depend on them.

    Returns
    -------
    Tree
        The same tree with an `hornbeam.smoothing.IntervalCalibration` as its last step.

    Raises
    ------
    ParameterError
        If missing values go to every child.

    See Also
    --------
    hornbeam.tuning.simulation.Simulation : how it is done.

    Notes
    -----
    Trees that `CrossFitted` made are calibrated already. For others this takes about as long as a fit by `CrossFitted`: at
    most 30,000 rows take part.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read(*load_breast_cancer(return_X_y=True))
    >>> tree = PRESETS["cart"].fit(table)
    >>> print(calibrate_intervals(tree, table, PRESETS["cart"]).history[-1])
    appraisal(borrowed=0.0, own=0.37)
    """
    chosen = recipe if isinstance(recipe, Recipe) else recipe.choose(table, n_jobs=n_jobs)
    if chosen.grower.missing is Missing.FRACTIONAL:
        raise ParameterError(
            "missing='fractional' shares rows out over the leaves, and their intervals cannot be calibrated; "
            "expected 'own' or 'learned'. Choose one of these, or use the intervals as they are."
        )
    bins = chosen.bin(table, n_jobs)
    codes = bins.encode(table, n_jobs)
    if isinstance(recipe, CrossFitted):
        lesson = recipe.learn(chosen, table, bins, codes, n_jobs=n_jobs)
        finish = lesson.finish
    else:
        # Held-out predictions must be good ones, whatever the smoother of the recipe.
        smoothed = replace(chosen, smoother=Borrowing())
        lesson = CrossFitted(smoothed, simplicity=None).learn(smoothed, table, bins, codes, n_jobs=n_jobs)
        finish = chosen.finish

    def grow(rows: Table, bins: Bins, codes: Codes) -> Tree:
        return finish(chosen.grower.grow(rows, bins, codes))

    return lesson.appraise(tree, grow, n_jobs)(tree)
