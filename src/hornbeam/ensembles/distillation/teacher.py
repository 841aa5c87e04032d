"""The default teacher of a tree: a forest, mixed with boosted trees if held-out rows are predicted better so."""

from dataclasses import dataclass, replace
from math import isqrt
from typing import NamedTuple

import numpy as np

from hornbeam.data.row_order import unit_ranks
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.losses import Loss, SquaredError, class_loss
from hornbeam.ensembles.boosting.trainer import Boosting
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.ensembles.forest.trainer import BINS, SMOOTHING_CANDIDATES, ForestTrainer, default_grower
from hornbeam.growing.leafwise import Leafwise
from hornbeam.kernels.elementary import dot, row_dots
from hornbeam.recipe import Recipe
from hornbeam.typing import Floats

_TREES = 100
_FOLDS = 3
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the boosted trees in the prediction
_ROUNDS, _RATE = 50, 0.15
_RIDGE = 1.0  # rows: without it, scores of rows that are told apart with certainty grow without limit
_MOST_LABELS = 60_000  # rows times classes; beyond, boosting takes too long: a tree per class and round
_MANY_CLASSES = 20  # more of them, each with fewer rows than these: boosting takes seconds and learns little
_FEW_ROWS = 10
_ROUNDING = 1e-9  # relative: a smaller decrease of the loss does not count


@dataclass(frozen=True, slots=True, eq=False)
class Teacher:
    """A forest, and the mean of boosted models that were fitted to two thirds of the rows each.

    `share` is that of the boosted models in a prediction; their `loss` turns scores into predictions.
    """

    forest: Forest
    boosted: tuple[BoostedTrees, ...]
    loss: Loss
    share: float

    def predict(self, table: Table, n_jobs: int = 1) -> Floats:
        """Predict the class probabilities, or the mean, of each row."""
        predicted = self.forest.predict(table, n_jobs=n_jobs)
        if self.share == 0.0:
            return predicted
        boosted = [self.loss.predict(one.scores(table, n_jobs=n_jobs)) for one in self.boosted]
        return (1 - self.share) * predicted + self.share * (sum(boosted[1:], boosted[0]) / len(boosted))


class TeacherResult(NamedTuple):
    """A teacher, and its predictions of held-out rows."""

    teacher: Teacher
    held_out: Floats


def fit_teacher(rows: CanonicalRows, seed: int = 0, n_jobs: int = 1) -> TeacherResult:
    """Fit a teacher to rows in canonical order; the result does not depend on `n_jobs`, the number of threads."""
    table = rows.table
    forest, out_of_bag = _fit_forest(table, seed, n_jobs)
    loss = _loss(table)
    n_rows, n_outputs = table.n_rows, table.schema.n_outputs
    if n_rows * n_outputs > _MOST_LABELS or (n_outputs > _MANY_CLASSES and n_rows < _FEW_ROWS * n_outputs):
        return TeacherResult(Teacher(forest, (), loss, 0.0), out_of_bag)
    boosted, held_out = _fit_boosted(rows, loss, seed, n_jobs)
    share = _best_share(out_of_bag, held_out, table)
    mixed = (1 - share) * out_of_bag + share * held_out
    return TeacherResult(Teacher(forest, boosted, loss, share), mixed)


def _fit_forest(table: Table, seed: int, n_jobs: int) -> tuple[Forest, Floats]:
    grower = default_grower(regression=table.schema.is_regression)
    if not table.schema.is_regression:
        grower = replace(grower, max_features=max(1, isqrt(table.schema.n_features)))
    trainer = ForestTrainer(
        Recipe(BINS, grower), _TREES, smoothers=SMOOTHING_CANDIDATES, out_of_bag=True, seed=seed
    )
    result = trainer.fit(table, n_jobs=n_jobs)
    forest, out_of_bag = result.forest, result.out_of_bag
    assert out_of_bag is not None
    unknown = np.flatnonzero(np.isnan(out_of_bag[:, 0]))
    if len(unknown):
        out_of_bag[unknown] = forest.predict(table.take(unknown), n_jobs=n_jobs)
    return forest, out_of_bag


def _loss(table: Table) -> Loss:
    return SquaredError() if table.schema.is_regression else class_loss(table.schema.n_classes)


def _fit_boosted(
    rows: CanonicalRows, loss: Loss, seed: int, n_jobs: int
) -> tuple[tuple[BoostedTrees, ...], Floats]:
    """Fit a model without each fold, and predict the fold with it."""
    table = rows.table
    unit = unit_ranks(rows.row_hash, table)
    n_folds = min(_FOLDS, int(unit.max()) + 1)
    held_out = np.zeros((table.n_rows, table.schema.n_outputs))
    models = []
    for fold in range(n_folds):
        held = np.flatnonzero(unit % _FOLDS == fold)
        known = np.flatnonzero(unit % _FOLDS != fold) if n_folds > 1 else held
        boosting = Boosting(
            loss, Leafwise(l2_regularization=_RIDGE), n_rounds=_ROUNDS, learning_rate=_RATE, seed=seed
        )
        model = boosting.fit(table.take(known), n_jobs=n_jobs).boosted
        held_out[held] = loss.predict(model.scores(table.take(held), n_jobs=n_jobs))
        models.append(model)
    return tuple(models), held_out


def _best_share(forest: Floats, boosted: Floats, table: Table) -> float:
    """Find the share of least squared error on held-out rows, the smallest on a tie."""
    truth = table.truth
    weight = np.ones(table.n_rows) if table.weight is None else table.weight.astype(np.float64)
    weight = weight / dot(weight, np.ones(table.n_rows))
    best, least = 0.0, np.inf
    for share in _SHARES:
        error = (1 - share) * forest + share * boosted - truth
        loss = dot(weight, row_dots(error, error))
        if loss < least * (1 - _ROUNDING):
            best, least = share, loss
    return best
