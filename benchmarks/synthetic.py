"""The synthetic data every benchmark runs on.

A row starts as ``features`` independent standard normal draws ``z``. The class with the highest score wins
the row; scores mix the first half of ``z`` linearly, in products of neighbours and in sines, so that no tree
is exact and every depth still finds something to gain. The second half of ``z`` carries nothing. Then a tenth
of the labels move to another class at random.

What the libraries see is not ``z`` but a column made from it, and four shapes alternate: as drawn,
exponential (long tail), logistic (bounded), rounded to one decimal (a few dozen distinct values, many ties).

Rows are drawn in blocks and each block has its own seed. So the first rows of a large set are the rows of a
small one, and a set as large as memory is filled in place.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 14
NOISE = 0.1

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def make(rows: int, classes: int = 2, features: int = 20, *, seed: int = 0) -> tuple[Floats, Labels]:
    """Draw a data set: the same arguments always give the same bits.

    Parameters
    ----------
    rows, classes, features : int
        The size of it.
    seed : int
        Which sample of the one concept: train on 0, predict on 1.

    Returns
    -------
    X : float64[rows, features], C order
    y : int64[rows], labels 0 .. classes - 1
    """
    X = np.empty((rows, features))
    y = np.empty(rows, dtype=np.int64)
    begin = 0
    for some_X, some_y in blocks(rows, classes, features, seed=seed):
        end = begin + len(some_y)
        X[begin:end], y[begin:end] = some_X, some_y
        begin = end
    return X, y


def blocks(
    rows: int, classes: int = 2, features: int = 20, *, seed: int = 0
) -> Iterator[tuple[Floats, Labels]]:
    """Draw the rows of `make` block by block, for memory that cannot hold them all."""
    concept = _concept(classes, features)
    for block, begin in enumerate(range(0, rows, BLOCK)):
        rng = np.random.default_rng([seed, block])
        z = rng.standard_normal((BLOCK, features))
        label = np.argmax(_signals(z) @ concept, axis=1)
        moved = rng.random(BLOCK) < NOISE
        label[moved] = (label[moved] + rng.integers(1, classes, moved.sum())) % classes
        size = min(BLOCK, rows - begin)
        yield _columns(z)[:size], label[:size]


def _concept(classes: int, features: int) -> Floats:
    """Weight of every signal for every class, the same for every sample."""
    return np.random.default_rng([classes, features]).standard_normal((3 * (features // 2), classes))


def _signals(z: Floats) -> Floats:
    informative = z[:, : z.shape[1] // 2]
    return np.hstack([informative, informative * np.roll(informative, 1, axis=1), np.sin(2 * informative)])


def _columns(z: Floats) -> Floats:
    columns = z.copy()
    columns[:, 1::4] = np.exp(z[:, 1::4])
    columns[:, 2::4] = 1 / (1 + np.exp(-z[:, 2::4]))
    columns[:, 3::4] = np.round(z[:, 3::4], 1)
    return columns
