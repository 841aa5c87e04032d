"""Synthetic rows: each mixes feature values of two rows from the same or a nearby leaf."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.forest.trainer import ForestTrainer
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.recipe import Recipe
from hornbeam.tree.route import route

type Rows = NDArray[np.intp]

_MOST_TREES = 30  # of the forest that defines neighbours; with more passes they are used again


@dataclass(frozen=True, slots=True)
class SyntheticRows:
    """Draws synthetic rows near the rows of a table.

    Neighbours are rows in the same leaf, or in a nearby leaf, of a tree of a random forest: they are similar in the
    features that matter for the target. Every pass uses another tree. Values stay within their column and none is
    invented, so categories, integers and missing values stay possible.

    A row takes the share `exchange` of its values from its neighbour, which is at most `reach` positions away when rows
    are sorted by leaf. There are `per_row` synthetic rows per row, from `least` to `most`, rounded to whole passes over
    the table, at least one. Wide tables have fewer, so that all synthetic rows have at most `most_values` values.
    """

    exchange: float = 0.4
    reach: int = 12
    per_row: int = 30
    least: int = 10_000
    most: int = 300_000
    most_values: int = 50_000_000
    seed: int = 0

    def draw(self, table: Table, n_jobs: int = 1) -> Iterator[Rows]:
        """Yield, per pass, the row of the table that each value of the synthetic rows comes from.

        The draws depend on the order of the rows; pass rows in canonical order if it must not matter.
        """
        n, n_features = table.n_rows, table.schema.n_features
        wanted = min(max(self.per_row * n, self.least), self.most, self.most_values // max(n_features, 1))
        n_passes = max(1, round(wanted / n))
        criterion = Criterion.SQUARED_ERROR if table.schema.is_regression else Criterion.ENTROPY
        grower = Grower(criterion, max_features=max(1, isqrt(n_features)), corrected=True)
        trainer = ForestTrainer(Recipe(grower=grower), min(n_passes, _MOST_TREES), seed=self.seed)
        leaves = [route(tree.skeleton, table) for tree in trainer.fit(table, n_jobs=n_jobs).forest.trees]
        rng = np.random.default_rng(self.seed)
        own = np.arange(n)
        for number in range(n_passes):
            neighbour = self._neighbours(leaves[number % len(leaves)], rng)
            taken = rng.random((n, n_features)) < self.exchange
            yield np.where(taken, neighbour[:, None], own[:, None])

    def _neighbours(self, leaf: NDArray[np.int32], rng: np.random.Generator) -> Rows:
        """Sort the rows by leaf, in random order within a leaf, and pick for each a row some positions away."""
        n = len(leaf)
        order = np.lexsort((rng.random(n), leaf))
        step = rng.integers(1, self.reach + 1, n) * rng.choice([-1, 1], n)
        position = np.arange(n) + step
        outside = (position < 0) | (position >= n)
        position = np.clip(np.where(outside, np.arange(n) - step, position), 0, n - 1)
        neighbour = np.empty(n, np.intp)
        neighbour[order] = order[position]
        return neighbour
