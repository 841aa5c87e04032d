"""Forests of one, two, three, ... a hundred trees: ours, raw and smoothed, and scikit-learn's.

The first ten trees of a forest of a hundred are the forest of ten with the same seed, in both libraries, so one fit
predicts for every size. Where the smoothing is chosen out of bag, each size chooses its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks.quality.studies.sets import SEED, Fold
from hornbeam import TreeClassifier
from hornbeam.data.table import Table
from hornbeam.ensembles.forest.trainer import SMOOTHING_CANDIDATES, ForestTrainer
from hornbeam.ensembles.prediction import mean_prediction
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HGS
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree

SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
Scored = tuple[str, int, NDArray[np.float64]]


def answers(fold: Fold) -> Iterator[Scored]:
    """Every method and size, with what it says of the test rows."""
    train, test = fold.table(fold.train), fold.table(fold.test)
    yield from _theirs(fold)
    for criterion in (Criterion.GINI, Criterion.ENTROPY):
        planting = _planting(train, criterion)
        trees = planting.fit(train).forest.trees
        yield from _cumulated(f"hornbeam {criterion.value}", trees, test)
        if criterion is Criterion.ENTROPY:
            yield from _cumulated("hornbeam entropy, HGS", [HGS()(tree) for tree in trees], test)
            yield from _chosen("hornbeam entropy, chosen", planting, train, test)
    one = TreeClassifier().fit(fold.frames()[0], fold.y_train)
    yield "one default tree", 1, one.predict_proba(fold.frames()[1])


def _planting(table: Table, criterion: Criterion) -> ForestTrainer:
    n_features = max(1, int(table.schema.n_features**0.5))
    grower = Grower(criterion, max_features=n_features)
    return ForestTrainer(Recipe(255, grower), max(SIZES), seed=SEED)


def _theirs(fold: Fold) -> Iterator[Scored]:
    train, test = fold.matrices()
    forest = RandomForestClassifier(max(SIZES), random_state=SEED).fit(train, fold.y_train)
    total = np.zeros((len(test), len(fold.seen)))
    for size, tree in enumerate(forest.estimators_, start=1):
        total += tree.predict_proba(test)
        if size in SIZES:
            yield "scikit-learn gini", size, total / size


def _cumulated(name: str, trees: tuple[Tree, ...] | list[Tree], test: Table) -> Iterator[Scored]:
    total = np.zeros((test.n_rows, trees[0].n_classes))
    for size, tree in enumerate(trees, start=1):
        total += predict_rows(tree, test)
        if size in SIZES:
            yield name, size, total / size


def _chosen(name: str, planting: ForestTrainer, train: Table, test: Table) -> Iterator[Scored]:
    for size in SIZES:
        planted = replace(planting, n_trees=size, smoothers=SMOOTHING_CANDIDATES).fit(train)
        yield (
            name,
            size,
            mean_prediction(planted.forest.trees, test),
        )  # what smoothing does, without a temperature
