"""Greedy growing of a tree of any size on rows with soft labels."""

from dataclasses import replace

import numpy as np

from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.growing import Criterion, Grower
from hornbeam.recipe import Recipe
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

__all__ = ["UNIT", "class_steps", "grow_soft", "relative_weights", "with_means"]

UNIT = 2.0**-20  #: step size of the class weights of a row
_SMALLEST = (
    0.01  # smaller probabilities are ignored in the choice of splits: with many classes most are smaller
)
_MAX_BINS = 255


def grow_soft(
    rows: Table, labels: Floats, min_rows: float, n_jobs: int = 1, max_depth: int | None = None
) -> Tree:
    """Grow a tree on class probabilities, or on means of a numeric target.

    A row of probabilities 0.7 and 0.3 counts as 0.7 rows of one class and 0.3 of the other.
    """
    if rows.schema.is_regression:
        soft, criterion = with_means(rows, labels), Criterion.SQUARED_ERROR
    else:
        soft, criterion = _repeated(rows, labels), Criterion.GINI
    recipe = Recipe(_MAX_BINS, Grower(criterion, min_weight_leaf=min_rows, max_depth=max_depth))
    return recipe.grower.grow(soft, recipe.bin(soft, n_jobs), n_jobs=n_jobs)


def with_means(rows: Table, labels: Floats) -> Table:
    """Make means of shape (n_rows, 1) the numeric target of rows."""
    means = np.ascontiguousarray(labels[:, 0])
    return replace(rows, numeric_target=NumericTarget.of(means, rows.weight, rows.unit))


def relative_weights(rows: Table) -> Floats:
    """Return the weights of rows, of mean 1."""
    return np.ones(rows.n_rows) if rows.weight is None else rows.weight / rows.weight.mean()


def class_steps(rows: Table, labels: Floats) -> Counts:
    """Split the weight of each row over the classes, in steps of `UNIT`; the mean weight of a row is 1."""
    return np.rint(labels * relative_weights(rows)[:, None] / UNIT).astype(np.int64)


def _repeated(rows: Table, labels: Floats) -> Table:
    """Repeat each row once per probable class, weighted by the probability of the class."""
    likely = np.where(labels >= _SMALLEST, labels, 0.0)
    steps = class_steps(rows, likely / likely.sum(axis=1, keepdims=True))
    row, code = np.nonzero(steps)
    return replace(rows.take(row), target=code.astype(np.int32), weight=steps[row, code], unit=UNIT)
