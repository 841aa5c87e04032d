"""A random forest of a hundred trees, which is also those of its first one, two, three, ... trees.

scikit-learn draws the seeds of its trees one after the other, so the first ten trees of a forest of a hundred are the
forest of ten with the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import SEED, Fold

SIZES = (1, 2, 3, 5, 7, 10, 20, 50, 100)
PLAIN = {f"rf-{size}": size for size in SIZES}
SMOOTHED = {f"rf-{size}-hgs": size for size in SIZES}


def run(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """Fit once; every size is a mean of the first trees. A size's seconds are its share of the fit."""
    train, test = fold.matrices()
    make = RandomForestClassifier(max(SIZES), random_state=SEED)
    forest, seconds = timed(lambda: make.fit(train, fold.y_train))
    stops = [tree.tree_.apply(test) for tree in forest.estimators_]
    nodes = np.cumsum([tree.tree_.node_count for tree in forest.estimators_])
    for methods, belief_of in ((PLAIN, frequencies), (SMOOTHED, hgs)):
        if wanted.isdisjoint(methods):
            continue
        total = np.zeros((len(test), len(fold.seen)))
        sizes = {size: method for method, size in methods.items()}
        for i, (tree, stop) in enumerate(zip(forest.estimators_, stops, strict=True), start=1):
            total += belief_of(tree.tree_)[stop]
            if i in sizes:
                share = seconds * i / max(SIZES)
                yield Outcome(sizes[i], fold.spread(total / i), share, int(nodes[i - 1]))


def frequencies(tree: Any) -> NDArray[np.float64]:
    """The class frequencies of every node."""
    value = tree.value[:, 0, :]
    return value / value.sum(axis=1, keepdims=True)


def hgs(tree: Any) -> NDArray[np.float64]:
    """The same smoothed by HGS: a row of every ancestor and a row of the uniform distribution."""
    raw = frequencies(tree)
    n = tree.weighted_n_node_samples
    lent = np.full_like(raw, 1 / raw.shape[1])  # the row of the uniform distribution
    rows = np.ones(len(n))
    at = np.zeros(1, np.intp)
    while len(at):
        children = np.concatenate([tree.children_left[at], tree.children_right[at]])
        parent = np.concatenate([at, at])
        at, parent = children[children >= 0], parent[children >= 0]
        lent[at] = lent[parent] + raw[parent]
        rows[at] = rows[parent] + 1
    return (raw * n[:, None] + lent) / (n + rows)[:, None]


FOREST = Group("sklearn-forest", (*PLAIN, *SMOOTHED), run)
