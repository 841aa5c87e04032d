"""Settings chosen by cross-validation that grows the tree anew: shrinkage strength and cost-complexity alpha.

Three inner folds, as in imodels' ``HSTreeClassifierCV``; both choices look at the same inner trees.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality.studies.sets import SEED, Fold
from hornbeam.data.table import Table
from hornbeam.pruning.cost_complexity import cost_complexity_pruners, cut_alphas
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HierarchicalShrinkage
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.tuning.candidate_losses import CandidateLosses, evaluate_alphas, losses
from hornbeam.typing import Floats

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
    pruners = cost_complexity_pruners(tree)
    alphas = np.array([pruner.alpha for pruner in pruners])
    trial = reduce(add, (_try(*pair, alphas) for pair in zip(inner.trees, inner.held_out, strict=True)))
    return pruners[trial.winner()].alpha, pruners[trial.winner(simplicity=1.0)].alpha


def _try(tree: Tree, rows: Table, alphas: Floats) -> CandidateLosses:
    """All alphas at once; a row is predicted at the node where a missing value first stops it."""
    assert rows.target is not None
    held = np.zeros(tree.evidence.shape)
    np.add.at(held, (route(tree.skeleton, rows), rows.target), 1.0)
    return evaluate_alphas(alphas, tree, cut_alphas(tree), held, losses(tree.belief, "brier"))
