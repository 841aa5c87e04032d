"""What regrown trees taught, for a tree grown or counted elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hornbeam.data.table import Table
from hornbeam.pruning import Pruner
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Smoother, appraise
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.tuning.folds import Regrown
from hornbeam.typing import Floats

__all__ = ["Lesson"]


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """Prune, smooth and appraise a tree by what `Honest` learnt from some rows.

    Parameters
    ----------
    recipe : Recipe
        Its pruner, and the smoother with the strengths that were found.
    price : Pruner or None
        What leaves must be worth.
    smoother : Smoother
        With the strengths that were found for trees pruned by the price.
    pruner : Pruner or None
        What else cuts the smoothed tree back.
    table : Table
        The rows that took part.
    regrown : sequence of Regrown
        The trees, each without one fold of these rows.
    beliefs : sequence of float64 arrays
        What each of these trees believes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.recipe import PRESETS
    >>> from hornbeam.tuning import Honest
    >>> table, recipe = Table.read(*load_breast_cancer(return_X_y=True)), PRESETS["pet"]
    >>> bins = recipe.bin(table)
    >>> lesson = Honest(recipe).learn(recipe, table, bins, bins.encode(table))
    >>> tree = recipe.grower.grow(table, bins)
    >>> tree.n_leaves, lesson.finish(tree).n_leaves
    (20, 14)
    """

    recipe: Recipe
    price: Pruner | None
    smoother: Smoother
    pruner: Pruner | None
    table: Table
    regrown: Sequence[Regrown]
    beliefs: Sequence[Floats]

    def finish(self, tree: Tree) -> Tree:
        """Prune and smooth a tree."""
        tree = self.recipe.finish(tree)
        if self.price is not None:
            tree = replace(self.recipe, smoother=self.smoother).smooth(self.price(tree))
        return tree if self.pruner is None else self.pruner(tree)

    def appraise(self, tree: Tree, by: Tree | None = None) -> Tree:
        """Say what borrowed rows are worth, by what the regrown trees think of the rows of each leaf.

        Parameters
        ----------
        tree : Tree
            Finished.
        by : Tree, optional
            The finished tree that is held against the regrown ones, if not `tree` itself: one of the lesson's
            rows alone, where `tree` grew from so many more that it knows more than they do.

        Returns
        -------
        Tree
            As it is where missing values go to every child.
        """
        if any(one.node is None for one in self.regrown):
            return tree
        by = tree if by is None else by
        node, n = route(by.skeleton, self.table), by.n_nodes
        rows, opinion = np.zeros(n), np.zeros(by.belief.shape)
        for one, belief in zip(self.regrown, self.beliefs, strict=True):
            at, said = node[one.rows], belief[one.node] * one.weight[:, None]
            rows += np.bincount(at, one.weight, n)
            opinion += np.stack([np.bincount(at, each, n) for each in said.T], axis=1)
        opinion /= np.where(rows > 0, rows, 1.0)[:, None]
        return appraise(by, opinion)(tree)
