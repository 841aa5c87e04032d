"""A tree taught by a forest and boosted trees: a fitter for estimators."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.distillation.distillation import Distillation, recombined
from hornbeam.ensembles.distillation.teacher import fit_teacher
from hornbeam.recipe import FitLimits, Listener, Recipe, TreeStep
from hornbeam.tree.evidence.count import recount
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

_MOST_ROWS = 20_000  # that the teacher is fitted to; more rows are counted in the tree, and teach hardly more


@dataclass(frozen=True, slots=True)
class Taught:
    """Fits a teacher to a table, and one tree to the predictions of the teacher.

    Of more than 20,000 rows, the teacher is fitted to a random sample of 20,000. The evidence of the tree is that of
    all rows, in memory or in files.
    """

    distillation: Distillation = field(default_factory=Distillation)

    @property
    def limits(self) -> FitLimits:
        """The rows that the teacher is fitted to at most, and the seed of the teacher and of the synthetic rows."""
        seed = self.distillation.synthetic_rows.seed
        return FitLimits("a teacher", rows_to_grow=_MOST_ROWS, seed=seed)

    def fit(self, table: Table, *, n_jobs: int = 1, on_progress: Listener = None) -> Tree:
        """Fit a tree; it depends neither on ``n_jobs`` nor on the order of the rows."""
        return self.fit_sample(
            table, lambda tree: recount(tree, table), n_jobs=n_jobs, on_progress=on_progress
        )

    def fit_sample(
        self, table: Table, count: TreeStep, *, n_jobs: int = 1, on_progress: Listener = None
    ) -> Tree:
        """Fit a tree to a sample of the rows; `count` replaces its evidence by that of all rows."""
        sample = CanonicalRows.of(table, Recipe(), n_jobs).subset(_MOST_ROWS)
        teacher, held_out = fit_teacher(sample, self.limits.seed, n_jobs)

        def predict(origin: NDArray[np.intp]) -> Floats:
            return teacher.predict(recombined(sample.table, origin), n_jobs)

        tree = self.distillation.fit(sample.table, predict, held_out, n_jobs, count=count)
        if on_progress is not None:
            on_progress(table.n_rows)
        return tree
