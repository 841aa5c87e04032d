"""Models to report on, and rows to ask their pages about."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hornbeam import TreeClassifier

__all__ = ["halves_of_iris", "letters", "rows_by_name", "uci"]

REPOSITORY = Path(__file__).parents[2]


@cache
def halves_of_iris():
    """Training rows and labels, test rows and labels."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
    return X[::2], y[::2], X[1::2], y[1::2]


def uci(name):
    """Two thirds and one third of a set of the UCI collection, shuffled; its folder is named by HORNBEAM_DATA."""
    pd = pytest.importorskip("pandas", reason="the extra 'test' brings pandas")
    named = os.environ.get("HORNBEAM_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data" / "uci"
    path = folder / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"no {path}: set HORNBEAM_DATA to the folder of the UCI collection")
    frame = pd.read_parquet(path).sample(frac=1, random_state=0).reset_index(drop=True)
    X, y = frame.drop(columns="target"), frame["target"].astype(str)
    cut = 2 * len(frame) // 3
    return X[:cut], y[:cut], X[cut:], y[cut:]


@cache
def letters(n_leaves=200):
    """A made-up problem of 26 classes and a tree of this many leaves, with test rows."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 16, (6000, 16)).astype(float)
    y = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[
        (X[:, 0] * 3 + X[:, 1] // 2 + X[:, 2] // 8).astype(int) % 26
    ]
    clf = TreeClassifier(smoothing="hgs", pruning=None, max_leaf_nodes=n_leaves).fit(X[:4000], y[:4000])
    assert clf.tree_.n_leaves == n_leaves
    return clf, X[4000:], y[4000:]


def rows_by_name(X):
    """The rows of a frame as dicts from names to plain values, None where missing: as JSON has them."""
    columns = {
        name: [
            None if missing else value
            for value, missing in zip(X[name].tolist(), X[name].isna(), strict=True)
        ]
        for name in X
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
