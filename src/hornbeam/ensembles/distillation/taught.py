"""A tree fitted to the predictions of a teacher, by default a forest and boosted trees: a fitter for estimators."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.distillation.distillation import Distillation, recombined
from hornbeam.ensembles.distillation.teacher import fit_teacher
from hornbeam.recipe import FitLimits, Listener, Recipe, TreeStep
from hornbeam.tree.evidence.count import recount
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

_MOST_ROWS = 20_000  # for the fit of the default teacher; more rows hardly change its predictions


class FittedTeacher(NamedTuple):
    """A fitted teacher.

    `predict` is the teacher of `Distillation.fit`; `held_out` are its predictions of held-out rows, None if it has
    none; `name` is written to the history of the tree.
    """

    predict: Callable[[NDArray[np.intp]], Floats]
    held_out: Floats | None
    name: str | None = None


class OwnTeacher(Protocol):
    """A teacher that the user chose, with the rows that it predicts."""

    def fit(self, order: Counts) -> FittedTeacher:
        """Fit it, unless it is fitted; its rows are numbered by `order`, their positions in the table that was read."""
        ...


@dataclass(frozen=True, slots=True)
class Taught:
    """Fits a teacher to a table, and one tree to the predictions of the teacher.

    Of more than 20,000 rows, the default teacher is fitted to a random sample of 20,000. The evidence of the tree is
    that of all rows, in memory or in files. `own` is a teacher that replaces the default one.
    """

    distillation: Distillation = field(default_factory=Distillation)
    own: OwnTeacher | None = None

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
        self.distillation.check_schema(table.schema)
        rows = CanonicalRows.of(table, Recipe(), n_jobs)
        if self.own is None:
            rows = rows.subset(_MOST_ROWS)
            teacher = _fit_default(rows, self.limits.seed, n_jobs)
        else:
            teacher = self.own.fit(rows.origin)
        tree = self.distillation.fit(
            rows.table, teacher.predict, teacher.held_out, n_jobs, count=count, teacher_name=teacher.name
        )
        if on_progress is not None:
            on_progress(table.n_rows)
        return tree


def _fit_default(rows: CanonicalRows, seed: int, n_jobs: int) -> FittedTeacher:
    """Fit a forest and boosted trees."""
    teacher, held_out = fit_teacher(rows, seed, n_jobs)

    def predict(origin: NDArray[np.intp]) -> Floats:
        return teacher.predict(recombined(rows.table, origin), n_jobs)

    return FittedTeacher(predict, held_out)
