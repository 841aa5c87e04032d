"""Growing a forest: parameters, and the procedure from a table to trees."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.forest.bootstrap import Bootstrap, Sample
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.ensembles.forest.out_of_bag import OutOfBag, OutOfBagVotes
from hornbeam.ensembles.parallel_map import parallel_map
from hornbeam.errors import ParameterError
from hornbeam.growing import Criterion, Grower
from hornbeam.kernels.elementary import log
from hornbeam.kernels.subtree import child_key
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Borrowing, Smoother
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["BINS", "SMOOTHING_CANDIDATES", "ForestResult", "ForestTrainer", "default_grower"]

BINS = (
    255  #: of a numeric feature: a forest averages over many thresholds, so more cost time and gain nothing
)

# The uniform prior is small: many pseudo-counts in equal parts would make a rare class common.
SMOOTHING_CANDIDATES: tuple[Smoother | None, ...] = (
    None,
    *(
        Borrowing(scale=float(log(rows)), prior=float(log(rows / 100)))
        for rows in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    ),
)
"""Smoothers a forest chooses from: none, or `Borrowing` of 0.03 to 10 rows from each ancestor."""


def default_grower(*, regression: bool = False) -> Grower:
    """Return the grower of the trees of a forest, without a limit of features.

    Examples
    --------
    >>> default_grower(regression=True).criterion.value
    'squared_error'
    """
    return Grower(Criterion.SQUARED_ERROR if regression else Criterion.ENTROPY, corrected=True)


class ForestResult(NamedTuple):
    """A forest, its out-of-bag predictions and its smoother.

    `out_of_bag` has a row per row of the table, NaN for rows in every bootstrap sample; None unless requested.
    `smoother` is the chosen one, or that of the recipe.
    """

    forest: Forest
    out_of_bag: Floats | None
    smoother: Smoother | None


@dataclass(frozen=True, slots=True)
class ForestTrainer:
    """Parameters and procedure of growing a forest.

    Parameters
    ----------
    recipe : Recipe
        Growing, pruning and smoothing of each tree; the bins are shared by all trees.
    n_trees : int, default 100
        Number of trees.
    bootstrap : bool, default True
        Whether each tree is grown on a bootstrap sample, or on all rows.
    max_samples : int, float or None, default None
        Number of rows drawn for each tree, or their share; None: as many as the table has.
    smoothers : tuple of Smoother or None, default ()
        Candidate smoothers. The one with the least out-of-bag squared error replaces that of the recipe; then the
        temperature of the forest is chosen in the same way. Empty: the recipe's smoother, and a temperature of 1.
    out_of_bag : bool, default False
        Whether to return out-of-bag predictions.
    seed : int, default 0
        Seed of the bootstrap samples and of the features drawn at each node.

    Notes
    -----
    Random draws depend on the seed, the number of the tree, the node and the rows, but neither on the number of
    threads nor on the order of the rows. The first ten trees of a hundred are the forest of ten, except for a chosen
    smoother and temperature.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam.growing import Grower
    >>> table = Table.read(*load_iris(return_X_y=True))
    >>> trainer = ForestTrainer(Recipe(grower=Grower(max_features=2)), n_trees=20)
    >>> forest = trainer.fit(table).forest
    >>> forest.digest == trainer.fit(table, n_jobs=3).forest.digest
    True
    """

    recipe: Recipe = field(default_factory=Recipe)
    n_trees: int = 100
    bootstrap: bool = True
    max_samples: float | None = None
    smoothers: tuple[Smoother | None, ...] = ()
    out_of_bag: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_trees < 1:
            raise ParameterError(f"n_trees={self.n_trees}: expected 1 or more.")
        if self.bootstrap:
            return
        if self.out_of_bag or self.smoothers:
            raise ParameterError(
                "An out-of-bag score (oob_score) and a smoother chosen out of bag need rows outside the sample of a "
                "tree; with bootstrap=False there are no such rows. Set bootstrap=True, or oob_score=False."
            )
        if self.max_samples is not None:
            raise ParameterError(
                f"max_samples={self.max_samples} is the size of a bootstrap sample; expected None with bootstrap=False."
            )

    def fit(
        self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None
    ) -> ForestResult:
        """Grow a forest from a table; the result does not depend on `n_jobs`, the threads that share the trees.

        `on_progress` is called after each tree with the number of trees so far.
        """
        rows = CanonicalRows.of(table, self.recipe, n_jobs)
        bootstrap = Bootstrap.of(rows.table, self.max_samples, self.seed) if self.bootstrap else None
        grower = self.recipe.grower
        if bootstrap is not None:
            grower = replace(grower, design_effect=bootstrap.design_effect)
        candidates = [replace(self.recipe, smoother=one) for one in self.smoothers] or [self.recipe]
        out_of_bag: OutOfBag | None = None
        if self.out_of_bag or self.smoothers:
            out_of_bag = OutOfBag.of(rows, len(candidates), all_rows=self.out_of_bag)

        def grow(number: int) -> tuple[Tree, OutOfBagVotes | None]:
            sample = _all_rows(rows) if bootstrap is None else bootstrap.sample(number)
            sampled = rows.sample(sample.rows, sample.weight, sample.unit)
            grown = grower.grow(sampled, key=child_key(self.seed, number))
            tree = self.recipe.prune(grown, sampled.table)
            if out_of_bag is None:
                return tree, None
            beliefs = [candidate.smooth(tree).belief for candidate in candidates]
            return tree, out_of_bag.votes(tree, sample.n_left, beliefs)

        trees = []
        for tree, votes in parallel_map(grow, self.n_trees, n_jobs):
            trees.append(tree)
            if out_of_bag is not None and votes is not None:
                out_of_bag.add(votes)
            if on_progress is not None:
                on_progress(len(trees))
        best, temperature, predictions = 0, 1.0, None
        if out_of_bag is not None:
            best = out_of_bag.best()
            temperature = out_of_bag.temperature(best) if self.smoothers else 1.0
            predictions = out_of_bag.predictions(best, temperature) if self.out_of_bag else None
        smooth = candidates[best].smooth
        smoothed = tuple(parallel_map(lambda number: smooth(trees[number]), self.n_trees, n_jobs))
        return ForestResult(Forest(smoothed, temperature), predictions, candidates[best].smoother)


def _all_rows(rows: CanonicalRows) -> Sample:
    """Return the sample of all rows at their own weights."""
    n_rows = rows.n_rows
    return Sample(np.arange(n_rows), rows.table.weight, rows.table.unit, np.zeros(n_rows, np.int64))
