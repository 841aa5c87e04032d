"""Growing a forest: parameters, and the procedure from a table to trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from hornbeam.data.engine import Engine
from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.forest.bootstrap import Bootstrap
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.ensembles.forest.growth import ForestGrowth, grow_trees
from hornbeam.ensembles.forest.out_of_bag import OutOfBag
from hornbeam.ensembles.prediction import parallel_map
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.kernels.elementary import log
from hornbeam.recipe import Recipe
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.smoother import Smoother
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from hornbeam.ensembles.forest.distribution import ForestDistribution

type Listener = Callable[[int], None] | None

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
    """Return the grower of the trees of a forest, without a limit of features."""
    return Grower(Criterion.SQUARED_ERROR if regression else Criterion.ENTROPY, corrected=True)


class ForestResult(NamedTuple):
    """A forest, its out-of-bag predictions and its smoother.

    `out_of_bag` has a row per row of the table, NaN for rows in every bootstrap sample; None unless requested.
    `smoother` is the chosen one, or that of the recipe; `distribution` that of a numeric target, if it was asked for.
    """

    forest: Forest
    out_of_bag: Floats | None
    smoother: Smoother | None
    distribution: ForestDistribution | None = None


@dataclass(frozen=True, slots=True)
class ForestTrainer:
    """Parameters and procedure of growing a forest.

    Random draws depend on the seed, the number of the tree, the node and the rows, but not on the engine, the number of
    threads or the order of the rows. The first ten trees of a hundred are the forest of ten, except for a chosen
    smoother and temperature.
    """

    recipe: Recipe = field(default_factory=Recipe)
    n_trees: int = 100
    bootstrap: bool = True
    max_samples: float | None = None
    smoothers: tuple[Smoother | None, ...] = ()
    out_of_bag: bool = False
    seed: int = 0
    distribution: bool = False

    def __post_init__(self) -> None:
        if self.n_trees < 1:
            raise ParameterError(f"n_trees={self.n_trees}: expected 1 or more.")
        if self.bootstrap:
            return
        if self.out_of_bag or self.smoothers or self.distribution:
            raise ParameterError(
                "An out-of-bag score (oob_score), a smoother chosen out of bag and a distribution of the target need "
                "rows outside the sample of a tree; with bootstrap=False there are no such rows. Set bootstrap=True, "
                "or oob_score=False and distribution=False."
            )
        if self.max_samples is not None:
            raise ParameterError(
                f"max_samples={self.max_samples} is the size of a bootstrap sample; expected None with bootstrap=False."
            )

    def fit(
        self,
        table: Table,
        *,
        engine: Engine | None = None,
        n_jobs: int = 1,
        on_progress: Listener = None,
    ) -> ForestResult:
        """Grow a forest from a table and smooth its trees.

        Parameters
        ----------
        table : Table
            Rows with their target.
        engine : Engine, optional
            Its tasks grow the trees; None: `n_jobs` threads. The forest does not depend on it.
        n_jobs : int, default 1
            Threads for the work in this process.
        on_progress : callable, optional
            Called with the number of trees so far: after each tree, or with an engine after all.

        Returns
        -------
        ForestResult
        """
        return self.grow(table, engine=engine, n_jobs=n_jobs, on_progress=on_progress).finish(n_jobs)

    def grow(
        self,
        table: Table,
        *,
        engine: Engine | None = None,
        n_jobs: int = 1,
        on_progress: Listener = None,
    ) -> GrownForest:
        """Grow the trees and choose their smoother and the temperature; parameters as in `fit`."""
        rows = CanonicalRows.of(table, self.recipe, n_jobs)
        bootstrap = (
            Bootstrap.of(rows.table, self.max_samples, self.seed, rows.unit) if self.bootstrap else None
        )
        grower = self.recipe.grower
        if bootstrap is not None:
            grower = replace(grower, design_effect=bootstrap.design_effect)
        candidates = tuple([replace(self.recipe, smoother=one) for one in self.smoothers]) or (self.recipe,)
        growth = ForestGrowth(
            rows,
            replace(self.recipe, grower=grower),
            bootstrap,
            self.n_trees,
            candidates if self.out_of_bag or self.smoothers else (),
            self.out_of_bag,
            self.seed,
        )
        out_of_bag = growth.start_votes()
        if engine is None:
            trees = _grow_on_threads(growth, out_of_bag, n_jobs, on_progress)
        else:
            trees = _grow_on_engine(growth, out_of_bag, engine, on_progress)
        best, temperature, predictions = 0, 1.0, None
        if out_of_bag is not None:
            best = out_of_bag.best()
            temperature = out_of_bag.temperature(best) if self.smoothers else 1.0
            predictions = out_of_bag.predictions(best, temperature) if self.out_of_bag else None
        distribution = None
        if self.distribution:
            from hornbeam.ensembles.forest.distribution import fit_forest_distribution  # only when needed

            distribution = fit_forest_distribution(growth, trees, n_jobs)
        return GrownForest(trees, candidates[best], temperature, predictions, distribution)


class GrownForest(NamedTuple):
    """Trees before smoothing, and what was chosen by their votes: the recipe with its smoother, and the temperature."""

    trees: list[Tree]
    recipe: Recipe
    temperature: float
    out_of_bag: Floats | None
    distribution: ForestDistribution | None = None

    def finish(self, n_jobs: int = 1) -> ForestResult:
        """Smooth the trees."""
        smooth, trees = self.recipe.smooth, self.trees
        smoothed = tuple(parallel_map(lambda number: smooth(trees[number]), len(trees), n_jobs))
        forest = Forest(smoothed, self.temperature)
        return ForestResult(forest, self.out_of_bag, self.recipe.smoother, self.distribution)


def _grow_on_threads(
    growth: ForestGrowth, out_of_bag: OutOfBag | None, n_jobs: int, on_progress: Listener
) -> list[Tree]:
    trees = []
    for tree, votes in parallel_map(lambda number: growth.grow(number, out_of_bag), growth.n_trees, n_jobs):
        trees.append(tree)
        if out_of_bag is not None and votes is not None:
            out_of_bag.add(votes)
        if on_progress is not None:
            on_progress(len(trees))
    return trees


def _grow_on_engine(
    growth: ForestGrowth, out_of_bag: OutOfBag | None, engine: Engine, on_progress: Listener
) -> list[Tree]:
    [grown] = engine.reduce(grow_trees, range(growth.n_trees), growth)
    if out_of_bag is not None:
        out_of_bag.total[:], out_of_bag.n_votes[:] = grown.total, grown.n_votes
    if on_progress is not None:
        on_progress(growth.n_trees)
    return grown.in_order()  # type: ignore[no-any-return]
