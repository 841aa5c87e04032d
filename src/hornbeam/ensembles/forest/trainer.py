"""How a forest is grown: parameters, and the way from a table to trees."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from hornbeam.data.table import Table
from hornbeam.ensembles.encoded_table import EncodedTable
from hornbeam.ensembles.forest.bootstrap import Bootstrap, Sample
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.ensembles.forest.out_of_bag import OutOfBag, OutOfBagVotes
from hornbeam.ensembles.parallel_map import parallel_map
from hornbeam.errors import ParameterError
from hornbeam.kernels.elementary import log
from hornbeam.kernels.subtree import child_key
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Borrowing, Smoother
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["SMOOTHING_CANDIDATES", "ForestResult", "ForestTrainer"]

# Nobody in particular lends next to nothing: many rows that are half of each class would make a rare class common.
SMOOTHING_CANDIDATES: tuple[Smoother | None, ...] = (
    None,
    *(
        Borrowing(scale=float(log(rows)), prior=float(log(rows / 100)))
        for rows in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    ),
)
"""What a forest chooses its smoothing from: nothing, or ancestors that lend so many rows each."""


class ForestResult(NamedTuple):
    """A forest, and its predictions out of bag.

    `out_of_bag` has a row for each row of the table, NaN where every tree has seen it; None if it was not asked for.
    `smoother` is the one that was chosen, or given.
    """

    forest: Forest
    out_of_bag: Floats | None
    smoother: Smoother | None


@dataclass(frozen=True, slots=True)
class ForestTrainer:
    """Everything that makes a forest from a table.

    Parameters
    ----------
    recipe : Recipe
        How each tree is grown, pruned and smoothed; the bins are shared by all.
    n_trees : int, default 100
        How many there are.
    bootstrap : bool, default True
        Whether each tree sees its own sample of the rows, or all of them.
    max_samples : int, float or None, default None
        Rows drawn for each tree, or their share of all; None: as many as there are.
    smoothers : tuple of Smoother or None, default ()
        If there are any, the one whose forest has the least squared error out of bag takes the place of the
        recipe's; then the temperature of the forest is chosen in the same way. Without any, it is 1.
    out_of_bag : bool, default False
        Whether to keep the answers out of bag.
    seed : int, default 0
        Another seed, another forest.

    Notes
    -----
    Everything random depends on the seed, the number of the tree, the node, and the rows themselves: neither on the
    number of threads nor on the order of the rows. The first ten trees of a hundred are the forest of ten, but for
    a smoothing and a temperature that are chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam.growing import Grower
    >>> table = Table.read(*load_iris(return_X_y=True))
    >>> planting = ForestTrainer(Recipe(grower=Grower(max_features=2)), n_trees=20)
    >>> forest = planting.fit(table).forest
    >>> forest.digest == planting.fit(table, n_jobs=3).forest.digest
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
                "A score out of bag (oob_score), or smoothing that is chosen out of bag, asks rows that a tree has not "
                "seen; without bootstrap every tree has seen all. Let bootstrap be True, or do not ask."
            )
        if self.max_samples is not None:
            raise ParameterError(
                f"max_samples={self.max_samples} is the size of a sample; expected None without bootstrap."
            )

    def fit(
        self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None
    ) -> ForestResult:
        """Grow the forest of a table; ``n_jobs`` threads, who share the trees, cannot change it.

        `on_progress` is told how many trees there are.
        """
        rows = EncodedTable.of(table, self.recipe, n_jobs)
        bag = Bootstrap.of(rows.table, self.max_samples, self.seed) if self.bootstrap else None
        grower = self.recipe.grower
        if bag is not None:
            grower = replace(grower, design_effect=bag.design_effect)
        choices = [replace(self.recipe, smoother=one) for one in self.smoothers] or [self.recipe]
        ask: OutOfBag | None = None
        if self.out_of_bag or self.smoothers:
            ask = OutOfBag.of(rows, len(choices), all_rows=self.out_of_bag)

        def plant(number: int) -> tuple[Tree, OutOfBagVotes | None]:
            sample = _all_rows(rows) if bag is None else bag.sample(number)
            drawn = rows.take(sample.rows, sample.weight, sample.unit)
            tree = self.recipe.prune(drawn.grow(grower, child_key(self.seed, number)))
            if ask is None:
                return tree, None
            return tree, ask.witness(tree, sample.left, [choice.smooth(tree).belief for choice in choices])

        trees = []
        for tree, witness in parallel_map(plant, self.n_trees, n_jobs):
            trees.append(tree)
            if ask is not None and witness is not None:
                ask.hear(witness)
            if on_progress is not None:
                on_progress(len(trees))
        best = 0 if ask is None else ask.best()
        temperature = ask.temperature(best) if ask is not None and self.smoothers else 1.0
        smooth = choices[best].smooth
        smoothed = tuple(parallel_map(lambda number: smooth(trees[number]), self.n_trees, n_jobs))
        answers = ask.answers(best, temperature) if ask is not None and self.out_of_bag else None
        return ForestResult(Forest(smoothed, temperature), answers, choices[best].smoother)


def _all_rows(rows: EncodedTable) -> Sample:
    """All rows, each at its own weight; none is left."""
    n_rows = rows.n_rows
    return Sample(np.arange(n_rows), rows.table.weight, rows.table.unit, np.zeros(n_rows, np.int64))
