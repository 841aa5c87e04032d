"""What mistakes cost in a study: three matrices made by rule for any number of classes, and what decisions came to.

Decisions are made from a method's probabilities in two ways: the most probable class, which knows of no costs, and
the class of least expected cost.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.studies.methods import Group, Outcome
from benchmarks.quality.studies.sets import SEED, Fold
from hornbeam.tree.decision import Costs

MATRICES = ("rare", "ordered", "random")
DECISIONS = ("likeliest", "cheapest")
RULE = """Cost matrices, `cost[true][predicted]`, 0 where these are the same, K classes: `rare`: 1 / (K f), where f
is the true class's share of the training rows (one row at least), so that to be always wrong costs 1 a row;
`ordered`: the distance of the classes in their order, divided by K - 1, which for two classes is 0-1 loss; `random`:
whole numbers from 1 to 10, divided by 10, drawn once a set from a seed made of its name. A cost is the mean over test
rows of what the decisions came to, not what was expected of them."""


def matrices(fold: Fold) -> dict[str, NDArray[np.float64]]:
    """The three matrices of all classes of a set; the first knows the training rows."""
    k = fold.n_classes
    rows = np.maximum(np.bincount(fold.y_train, minlength=k), 1)
    place = np.arange(k)
    drawn = np.random.default_rng([SEED, zlib.crc32(fold.data.name.encode())]).integers(1, 11, (k, k))
    mistake = 1.0 - np.eye(k)
    return {
        "rare": mistake * (len(fold.y_train) / (k * rows))[:, None],
        "ordered": np.abs(place[:, None] - place) / max(k - 1, 1),
        "random": mistake * drawn / 10,
    }


def seen_matrices(fold: Fold) -> dict[str, NDArray[np.float64]]:
    """The same for the classes of the training rows; a tree has no others."""
    return {name: matrix[np.ix_(fold.seen, fold.seen)] for name, matrix in matrices(fold).items()}


def realised(fold: Fold, probabilities: NDArray[np.float64]) -> dict[str, float]:
    """Sums over the test rows of what the decisions by these probabilities cost, by ``matrix/decision``."""
    likeliest = probabilities.argmax(axis=1)
    sums = {}
    for name, matrix in matrices(fold).items():
        made = {"likeliest": likeliest, "cheapest": Costs(matrix).cheapest(probabilities)}
        for decision in DECISIONS:
            sums[f"{name}/{decision}"] = float(matrix[fold.y_test, made[decision]].sum())
    return sums


def priced(group: Group) -> Group:
    """A group whose outcomes say what they cost."""

    def run(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
        for outcome in group.run(fold, wanted):
            said = outcome.probabilities
            yield outcome if said is None else replace(outcome, costs=realised(fold, said))

    return Group(group.name, group.methods, run)
