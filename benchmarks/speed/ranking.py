"""Ranking methods by NDCG@10 on drawn or real queries: LambdaMART, LightGBM's, pointwise trees, and averages.

Drawn queries have 30 rows each, whose grades are a known function of six features plus noise: six draws of 300 queries
for training and 300 for testing. Real ones are read from a folder of SVMlight files with `qid:` (as LETOR and MSLR
come), all files together; five folds of whole queries, in three drawn orders. All methods see the same rows.

"alike" has LightGBM's settings: pairs with a row among the first 30 by score, both normalisations, 20 rows a leaf.
LightGBM's least sum of hessians (.001) stays, and changed nothing where we tried 0. "bagged" is the mean of ten
LambdaMART models, each trained on as many queries drawn with replacement. "average of two" is the mean of the scores of
LambdaMART and pointwise boosting, each divided by its standard deviation; "average of three" has the forest too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_files
from sklearn.model_selection import GroupKFold

from hornbeam import BoostedTreesRanker, BoostedTreesRegressor, ForestRegressor
from hornbeam.evaluation import ndcg

SAME = {"num_leaves": 31, "learning_rate": 0.1, "max_bin": 255, "verbose": -1}
DRAWS, REPEATS, FOLDS = 6, 3, 5
BAGS = 10


class Queries(NamedTuple):
    """Rows, their grades, and the query of each."""

    X: np.ndarray
    grade: np.ndarray
    query: np.ndarray

    def take(self, rows: np.ndarray) -> Queries:
        """Some rows, query after query, as LightGBM wants them."""
        rows = rows[np.argsort(self.query[rows], kind="stable")]
        return Queries(*(part[rows] for part in self))


def by_query(query: np.ndarray) -> list[np.ndarray]:
    """The row numbers of each query."""
    _, code = np.unique(query, return_inverse=True)
    return np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])


Learner = Callable[[Queries, np.ndarray], np.ndarray]


def ours(**settings: Any) -> Learner:
    return lambda train, X: (
        BoostedTreesRanker(**settings).fit(train.X, train.grade, query=train.query).predict(X)
    )


def theirs(**settings: Any) -> Learner:
    def score(train: Queries, X: np.ndarray) -> np.ndarray:
        ranker = lightgbm.LGBMRanker(**SAME, min_child_samples=20, n_jobs=1, **settings)
        sizes = np.unique(train.query, return_counts=True)[1]
        return ranker.fit(train.X, train.grade, group=sizes).predict(X)

    return score


def pointwise(model: Any) -> Learner:
    """Predict the grade; the query of a row is not used."""
    return lambda train, X: model.fit(train.X, train.grade).predict(X)


def bagged(learner: Learner) -> Learner:
    """The mean of models, each trained on queries drawn with replacement: a query drawn twice is two queries."""

    def score(train: Queries, X: np.ndarray) -> np.ndarray:
        rng, rows_of = np.random.default_rng(0), by_query(train.query)
        total = np.zeros(len(X))
        for _ in range(BAGS):
            drawn = [rows_of[i] for i in rng.integers(len(rows_of), size=len(rows_of))]
            query = np.repeat(np.arange(len(drawn)), [len(rows) for rows in drawn])
            rows = np.concatenate(drawn)
            total += learner(Queries(train.X[rows], train.grade[rows], query), X)
        return total

    return score


def averaged(*learners: Learner) -> Learner:
    """The mean of standardised scores."""

    def score(train: Queries, X: np.ndarray) -> np.ndarray:
        scores = [learner(train, X) for learner in learners]
        return sum(one / one.std() for one in scores)

    return score


BOOSTING = pointwise(BoostedTreesRegressor(early_stopping=False))
FOREST = pointwise(ForestRegressor(n_jobs=1))
LEARNERS: dict[str, Learner] = {
    "hornbeam": ours(),
    "hornbeam, plain": ours(normalize=False),
    "hornbeam, alike": ours(truncation=30),
    "lightgbm": theirs(),
    "lightgbm, plain": theirs(lambdarank_norm=False),
    "pointwise boosting": BOOSTING,
    "pointwise forest": FOREST,
    "hornbeam, bagged": bagged(ours()),
    "average of two": averaged(ours(), BOOSTING),
    "average of three": averaged(ours(), BOOSTING, FOREST),
}


def draw(seed: int, n_queries: int = 300, size: int = 30) -> tuple[Queries, np.ndarray]:
    """Rows with grades from 0 to 4, and what the grades are a noisy view of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * size, 10))
    X[:, 9] = np.repeat(rng.normal(size=n_queries), size)  # what a query is, and all its rows share
    truth = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + X[:, 4] * X[:, 9]
    noisy = truth + rng.normal(scale=0.7, size=len(X))
    grade = np.digitize(noisy, [0.5, 1.5, 2.5, 3.5]).astype(float)
    return Queries(X, grade, np.repeat(np.arange(n_queries), size)), truth


def read(folder: Path) -> Queries:
    """The queries of all files of a folder; two files share none."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    parts = load_svmlight_files([str(file) for file in files], query_id=True)
    X = np.vstack([rows.toarray() for rows in parts[::3]])
    names = [[f"{i}/{name}" for name in query] for i, query in enumerate(parts[2::3])]
    return Queries(X, np.concatenate(parts[1::3]), np.concatenate(names))


def contest(folder: Path | None) -> Iterator[dict[str, Any]]:
    """NDCG@10 of every method, and how far from LightGBM's, by draw or repeat."""
    if folder is None:
        for turn in range(DRAWS):
            train, (asked, truth) = draw(2 * turn)[0], draw(2 * turn + 1)
            known: dict[str, Learner] = {"truth": lambda _, __, truth=truth: truth}
            yield from _turn(turn, asked, [(train, np.arange(len(truth)))], LEARNERS | known)
    else:
        asked = read(folder)
        for turn in range(REPEATS):
            folds = GroupKFold(FOLDS, shuffle=True, random_state=turn).split(*asked)
            yield from _turn(turn, asked, [(asked.take(train), test) for train, test in folds], LEARNERS)


def _turn(
    turn: int, asked: Queries, parts: list[tuple[Queries, np.ndarray]], learners: dict[str, Learner]
) -> Iterator[dict[str, Any]]:
    """Ask all methods the same queries; the error is that of the mean difference between two on one query."""
    # Without a relevant row every order is as good.
    rows_of = [rows for rows in by_query(asked.query) if asked.grade[rows].any()]
    found, cpu = {}, {}
    for method, learner in learners.items():
        scores, start = np.zeros(len(asked.grade)), time.process_time()
        for train, test in parts:
            scores[test] = learner(train, asked.X[test])
        cpu[method] = time.process_time() - start
        found[method] = np.array([ndcg(asked.grade[rows], scores[rows], k=10) for rows in rows_of])
    for method, of_query in found.items():
        gap = of_query - found["lightgbm"]
        facts = {"ndcg@10": of_query.mean(), "gap": gap.mean(), "error": gap.std() / len(gap) ** 0.5}
        yield {"method": method, "turn": turn, **facts, "cpu": cpu[method]}


def summary(found: list[dict[str, Any]]) -> str:
    """Means over the turns; the error is that of one turn."""
    return (
        pd.DataFrame(found).groupby("method")[["ndcg@10", "gap", "error", "cpu"]].mean().round(4).to_string()
    )
