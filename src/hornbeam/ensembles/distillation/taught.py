"""A tree taught by a forest and boosted trees: a fitter for estimators."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.distillation.distillation import Distillation, recombined
from hornbeam.ensembles.distillation.teacher import fit_teacher
from hornbeam.errors import ParameterError
from hornbeam.recipe import Fitter, Recipe
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["Taught"]

_MOST_ROWS = 20_000  # that the teacher is fitted to; more rows are counted in the tree, and teach hardly more


@dataclass(frozen=True, slots=True)
class Taught(Fitter):
    """Fits a teacher to a table, and one tree to the predictions of the teacher.

    Parameters
    ----------
    distillation : Distillation
        Size of the tree, slopes of its leaves and synthetic rows.

    Notes
    -----
    Of more than 20,000 rows, the teacher sees a random sample of 20,000. The evidence of the tree is that of all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> table = Table.read(*load_iris(return_X_y=True))
    >>> Taught(Distillation(max_leaf_nodes=3)).fit(table).n_leaves
    3
    """

    distillation: Distillation = field(default_factory=Distillation)

    @property
    def seed(self) -> int:
        """Seed of the teacher and of the synthetic rows."""
        return self.distillation.synthetic_rows.seed

    def choose(self, table: Table, *, n_jobs: int = 1) -> Recipe:  # noqa: ARG002
        """Raise `ParameterError`: such a tree is not grown from a recipe."""
        raise ParameterError(
            "a tree with a teacher is fitted to rows in memory; expected an array or a data frame. Read the files "
            "first, all of them or a sample."
        )

    def fit(self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None) -> Tree:
        """Fit a tree; it depends neither on ``n_jobs`` nor on the order of the rows."""
        rows = CanonicalRows.of(table, Recipe(), n_jobs)
        sample = rows.subset(_MOST_ROWS)
        teacher, held_out = fit_teacher(sample, self.seed, n_jobs)

        def predict(origin: NDArray[np.intp]) -> Floats:
            return teacher.predict(recombined(sample.table, origin), n_jobs)

        tree = self.distillation.fit(sample.table, predict, held_out, n_jobs, counted=rows.table)
        if on_progress is not None:
            on_progress(table.n_rows)
        return tree
