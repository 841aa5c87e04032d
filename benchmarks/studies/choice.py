"""Settings chosen by cross-validation that grows the tree anew: shrinkage strength and cost-complexity alpha.

Three inner folds, as in imodels' ``HSTreeClassifierCV``; both choices look at the same inner trees.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from hornbeam.data import Table
from hornbeam.pruning import cost_complexity_path, cut_alphas
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HierarchicalShrinkage
from hornbeam.tree.route import decision_path, route
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats
from studies.sets import SEED, Fold

N_INNER = 3
STRENGTHS = (0.0, 0.1, 1.0, 10.0, 50.0, 100.0, 500.0)  # imodels' grid
LEAST = 1e-15


@dataclass(frozen=True)
class Inner:
    """Trees grown without a part of the training rows, and those rows."""

    trees: tuple[Tree, ...]
    held_out: tuple[Table, ...]

    @classmethod
    def grow(cls, recipe: Recipe, fold: Fold) -> Inner:
        splits = inner_splits(fold)
        trees = tuple(recipe.fit(fold.table(rows)) for rows, _ in splits)
        return cls(trees, tuple(fold.table(rows) for _, rows in splits))


def inner_splits(fold: Fold) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training rows to grow from, and those held out, a third of them each time."""
    splitter = StratifiedKFold(N_INNER, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        splits = list(splitter.split(fold.y_train, fold.y_train))
    return [(fold.train[rows], fold.train[held_out]) for rows, held_out in splits]


def choose_strength(inner: Inner) -> float:
    """The shrinkage of the grid with the least log loss of held-out rows."""
    losses = np.zeros(len(STRENGTHS))
    for tree, rows in zip(inner.trees, inner.held_out, strict=True):
        stops = route(tree.skeleton, rows)
        for i, strength in enumerate(STRENGTHS):
            said = HierarchicalShrinkage(strength)(tree).belief[stops, rows.target]
            losses[i] -= np.log(np.maximum(said, LEAST)).sum()
    return STRENGTHS[int(losses.argmin())]


def choose_alpha(inner: Inner, tree: Tree) -> tuple[float, float]:
    """The alpha with the least squared error of held-out rows, and the largest within one standard error of it.

    As in CART, candidates are the geometric middles of the intervals between the alphas of the whole tree's path.
    """
    alphas = cost_complexity_path(tree).alphas
    middles = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1])
    sums = sum(_losses(*pair, middles) for pair in zip(inner.trees, inner.held_out, strict=True))
    n = sum(rows.n_rows for rows in inner.held_out)
    mean = sums[0] / n
    error = np.sqrt(np.maximum(sums[1] / n - mean**2, 0.0) / n)
    best = int(np.flatnonzero(mean == mean.min())[-1])
    simple = int(np.flatnonzero(mean <= mean[best] + error[best])[-1])
    return float(middles[best]), float(middles[simple])


def _losses(tree: Tree, rows: Table, alphas: Floats) -> NDArray[np.float64]:
    """Sums of the squared errors of rows, and of their squares, at every alpha: two rows of numbers.

    A node on a row's path answers from its own alpha on until an ancestor is cut, so each adds to a run of alphas.
    """
    indptr, nodes = decision_path(tree.skeleton, rows)
    alpha = cut_alphas(tree)
    ends = _least_above(tree, alpha)
    begins = np.where(tree.skeleton.is_leaf, -np.inf, alpha)
    row = np.repeat(np.arange(rows.n_rows), np.diff(indptr))
    last = np.zeros(len(nodes), bool)
    last[indptr[1:] - 1] = True  # where a row stops it is answered until an ancestor is cut
    begin = np.where(last, -np.inf, begins[nodes])
    speaks = begin < ends[nodes]
    nodes, row, begin = nodes[speaks], row[speaks], begin[speaks]
    belief = tree.evidence / np.maximum(tree.evidence.sum(axis=1, keepdims=True), 1)
    assert rows.target is not None
    squared = np.einsum("ij,ij->i", belief, belief)[nodes] - 2 * belief[nodes, rows.target[row]] + 1
    first, after = np.searchsorted(alphas, begin), np.searchsorted(alphas, ends[nodes])
    size = len(alphas) + 1
    return np.array(
        [
            np.cumsum(np.bincount(first, part, size) - np.bincount(after, part, size))[:-1]
            for part in (squared, squared**2)
        ]
    )


def _least_above(tree: Tree, alpha: Floats) -> Floats:
    """The least alpha of a node's ancestors: when it disappears."""
    least = np.full(tree.n_nodes, np.inf)
    levels = tree.skeleton.levels
    for begin, end in pairwise(levels[1:]):
        parent = tree.skeleton.parent[begin:end]
        least[begin:end] = np.minimum(alpha[parent], least[parent])
    return least
