"""The trees that every library gets, and the rows to predict.

Features are whole numbers of 16 bits, as a sensor gives them, so that floats and integers hold the very same rows and
the libraries that take only one of them get the same tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.synthetic import Floats, Labels, make
from hornbeam import Tree, TreeClassifier
from hornbeam.interop import to_sklearn
from hornbeam.tree import Table
from hornbeam.tree.route import decision_path

FEATURES, CLASSES = 10, 3
TRAINING = 30_000


@dataclass(frozen=True, slots=True)
class Model:
    """One tree: as an estimator of ours, as a tree, and as a tree of scikit-learn with the same probabilities."""

    estimator: TreeClassifier
    twin: Any

    @classmethod
    def grow(cls, leaves: int) -> Model:
        """Grow a tree of this many leaves; its probabilities are smoothed, so that no two leaves are equal."""
        settings = {
            "max_leaf_nodes": leaves,
            "smoothing": "hgs",
            "pruning": None,
            "max_bins": None,
            "n_jobs": 1,
        }
        estimator = TreeClassifier(**settings).fit(*readings(TRAINING))
        if estimator.tree_.n_leaves != leaves:
            raise RuntimeError(f"the tree has {estimator.tree_.n_leaves} leaves, expected {leaves}")
        return cls(estimator, to_sklearn(estimator.tree_, on_missing="majority"))

    @property
    def tree(self) -> Tree:
        """The tree itself."""
        tree: Tree = self.estimator.tree_
        return tree


def readings(rows: int, seed: int = 0) -> tuple[Floats, Labels]:
    """Rows of a sensor with ten channels, which saturates at both ends."""
    X, y = make(rows, CLASSES, FEATURES, seed=seed)
    return np.rint(4000 * np.clip(X, -8, 8)), y


def at_thresholds(model: Model, X: Floats, seed: int = 2) -> Floats:
    """The rows, each moved to one of the thresholds on its path: just at most that, or just above."""
    rng = np.random.default_rng(seed)
    skeleton, moved = model.tree.skeleton, X.copy()
    indptr, nodes = decision_path(skeleton, Table.read(X, schema=model.tree.schema))
    for row, path in zip(moved, np.split(nodes, indptr[1:-1]), strict=True):
        node = rng.choice(path[:-1])  # the last one is a leaf
        row[skeleton.feature[node]] = np.floor(skeleton.threshold[node]) + rng.integers(2)
    return moved


def with_holes(X: Floats, seed: int = 3) -> Floats:
    """The rows, a tenth of their values missing."""
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.1, np.nan, X)
