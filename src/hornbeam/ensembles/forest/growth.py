"""Growth of the trees of a forest: each by its number, in this process or by the tasks of an engine."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.forest.bootstrap import Bootstrap, Sample
from hornbeam.ensembles.forest.out_of_bag import OutOfBag, OutOfBagVotes
from hornbeam.kernels.subtree import child_key
from hornbeam.recipe import Recipe
from hornbeam.smoothing.borrowing import Borrowing, BorrowingTree
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats


@dataclass(frozen=True, slots=True, eq=False)
class ForestGrowth:
    """All that a tree is grown from, beside its number.

    Without `bootstrap` each tree has all rows. The smoothers of `candidates` predict the rows out of the bag; empty: no
    predictions are needed. `all_rows` is whether to predict all rows out of the bag, or as many as the choice of a
    smoother needs. `seed` is that of the features drawn at each node.
    """

    rows: CanonicalRows
    recipe: Recipe
    bootstrap: Bootstrap | None
    n_trees: int
    candidates: tuple[Recipe, ...] = ()
    all_rows: bool = False
    seed: int = 0

    def start_votes(self) -> OutOfBag | None:
        """Return out-of-bag sums without any votes; None if no predictions are needed."""
        if self.bootstrap is None or not self.candidates:
            return None
        n_candidates = len(self.candidates)
        return OutOfBag.of(
            self.rows, self.bootstrap.copies, self.n_trees, n_candidates, all_rows=self.all_rows
        )

    def grow(self, number: int, out_of_bag: OutOfBag | None = None) -> tuple[Tree, OutOfBagVotes | None]:
        """Grow a tree without smoothing, and predict the rows out of its bag."""
        sample = _all_rows(self.rows) if self.bootstrap is None else self.bootstrap.sample(number)
        sampled = self.rows.sample(
            sample.rows, sample.weight, sample.unit, values=self.recipe.reads_values(self.rows.table)
        )
        grown = self.recipe.grower.grow(sampled, key=child_key(self.seed, number))
        tree = self.recipe.prune(grown, sampled.table)
        if out_of_bag is None:
            return tree, None
        return tree, out_of_bag.votes(tree, sample.n_left, self._beliefs(tree))

    def _beliefs(self, tree: Tree) -> list[Floats]:
        """Smooth a tree with each candidate; those that borrow share what does not depend on their strengths."""
        shared, beliefs = None, []
        for candidate in self.candidates:
            if type(candidate.smoother) is Borrowing and not candidate.is_monotone:
                shared = shared or BorrowingTree.of(tree)
                beliefs.append(shared.predict(candidate.smoother)[0])
            else:
                beliefs.append(candidate.smooth(tree).belief)
        return beliefs


@dataclass(slots=True, eq=False)
class GrownTrees:
    """Some trees by their number, with the sums of their votes; ``+=`` joins those of two tasks."""

    trees: dict[int, Tree]
    total: Counts | None
    n_votes: Counts | None

    def __iadd__(self, other: Self) -> Self:
        """Take the trees of another task, and add its votes."""
        self.trees |= other.trees
        for own, others in ((self.total, other.total), (self.n_votes, other.n_votes)):
            if own is not None and others is not None:
                own += others
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy what ``+=`` changes; trees never change."""
        return type(self)(dict(self.trees), deepcopy(self.total, memo), deepcopy(self.n_votes, memo))

    def in_order(self) -> list[Tree]:
        """Return the trees in the order of their numbers."""
        return [self.trees[number] for number in sorted(self.trees)]


def grow_trees(numbers: Sequence[int], growth: ForestGrowth) -> list[GrownTrees]:
    """Grow some trees: a task of an engine."""
    out_of_bag, trees = growth.start_votes(), {}
    for number in numbers:
        trees[number], votes = growth.grow(number, out_of_bag)
        if out_of_bag is not None and votes is not None:
            out_of_bag.add(votes)
    if out_of_bag is None:
        return [GrownTrees(trees, None, None)]
    return [GrownTrees(trees, out_of_bag.total, out_of_bag.n_votes)]


def _all_rows(rows: CanonicalRows) -> Sample:
    """Return the sample of all rows at their own weights."""
    n_rows = rows.n_rows
    return Sample(np.arange(n_rows), rows.table.weight, rows.table.unit, np.zeros(n_rows, np.int64))
