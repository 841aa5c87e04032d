"""Rows that nobody saw, near those that somebody did: two neighbours exchange some of their values."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.forest.trainer import ForestTrainer
from hornbeam.growing import Grower
from hornbeam.recipe import Recipe
from hornbeam.tree.route import route

__all__ = ["SyntheticRows"]

type Rows = NDArray[np.intp]

_VALUES = 50_000_000
_MAPS = 30  # trees that say who is whose neighbour; further turns use them again


@dataclass(frozen=True, slots=True)
class SyntheticRows:
    """Draws rows that could have been in a table.

    Parameters
    ----------
    exchange : float, default 0.4
        Share of the values that a row takes over from its neighbour.
    reach : int, default 12
        How many places away the neighbour stands at most, when the rows are lined up leaf by leaf.
    per_row : int, default 30
        New rows for each row of the table, within the limits below.
    least, most : int
        New rows at least and at most, in whole turns, at least one: each makes one of every row. Of wide tables there
        are fewer, so that they have 50 million values at most.
    seed : int, default 0
        Another seed, other rows.

    Notes
    -----
    Neighbours are rows that a tree of a random forest sends to the same leaf, or to one nearby: they are alike in what
    matters for the target. Every turn asks another tree. Values stay within their column and no value is made up, so
    categories, whole numbers and holes are what they are.

    Examples
    --------
    >>> table = Table.read([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], ["a", "b", "b"])
    >>> turns = list(SyntheticRows(least=9, most=9).mix(table))
    >>> len(turns), turns[0].shape
    (3, (3, 2))
    """

    exchange: float = 0.4
    reach: int = 12
    per_row: int = 30
    least: int = 10_000
    most: int = 300_000
    seed: int = 0

    def mix(self, table: Table, n_jobs: int = 1) -> Iterator[Rows]:
        """Say for each value of the new rows which row of the table it comes from, turn by turn.

        The draws go by the place of a row, so that the order of the rows matters; who wants it not to, orders them
        first.
        """
        n, n_features = table.n_rows, table.schema.n_features
        wanted = min(max(self.per_row * n, self.least), self.most, _VALUES // max(n_features, 1))
        n_turns = max(1, round(wanted / n))
        grower = Grower(max_features=max(1, isqrt(n_features)), corrected=True)
        planting = ForestTrainer(Recipe(grower=grower), min(n_turns, _MAPS), seed=self.seed)
        maps = [route(tree.skeleton, table) for tree in planting.fit(table, n_jobs=n_jobs).forest.trees]
        rng = np.random.default_rng(self.seed)
        own = np.arange(n)
        for turn in range(n_turns):
            neighbour = self._neighbours(maps[turn % len(maps)], rng)
            taken = rng.random((n, n_features)) < self.exchange
            yield np.where(taken, neighbour[:, None], own[:, None])

    def _neighbours(self, leaf: NDArray[np.int32], rng: np.random.Generator) -> Rows:
        """Line the rows up by leaf, in any order within it, and let each look some places up or down."""
        n = len(leaf)
        line = np.lexsort((rng.random(n), leaf))
        step = rng.integers(1, self.reach + 1, n) * rng.choice([-1, 1], n)
        place = np.arange(n) + step
        outside = (place < 0) | (place >= n)
        place = np.clip(np.where(outside, np.arange(n) - step, place), 0, n - 1)
        neighbour = np.empty(n, np.intp)
        neighbour[line] = line[place]
        return neighbour
