"""Boosted trees beside LightGBM and scikit-learn: processor time, log loss, and NDCG.

python benchmarks/boosting.py speed --json benchmarks/results/boosting/speed.jsonl
python benchmarks/boosting.py study --data FOLDER --json benchmarks/results/boosting/study.jsonl
python benchmarks/boosting.py ranking --json benchmarks/results/boosting/ranking.jsonl

All grow 100 rounds of 31 leaves at a learning rate of 0.1 on 255 bins, without early stopping. `speed` measures
training on rows that are binned already for LightGBM, and with binning for the others. `study` asks five folds of each
set (FOLDER has UCI sets as Parquet files; without, those of scikit-learn alone are asked), categories as numbers, holes
left as they are. `ranking` draws queries whose relevance is known: a noisy function of five features, in grades.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from hornbeam import BoostedTreesClassifier, LambdaMARTRanker
from hornbeam.evaluation import ndcg

MOST_ROWS = 1_500
UCI = (
    "breast-tissue", "cmc", "credit-g", "heart-c", "hcv", "ilpd",
    "parkinsons", "pima-diabetes", "seeds", "vertebral-3c",
)  # fmt: skip
SAME = {"num_leaves": 31, "learning_rate": 0.1, "max_bin": 255, "verbose": -1}


def clocked(work: Callable[[], Any]) -> tuple[float, float]:
    """Processor and wall seconds of some work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def speed(n_rows: int, n_features: int, threads: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Least processor and wall seconds of 100 rounds, turn by turn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)

    def by_lightgbm() -> Callable[[], Any]:
        settings = SAME | {"objective": "binary", "num_threads": threads}
        rows = lightgbm.Dataset(X, y, params=settings).construct()
        return lambda: lightgbm.train(settings, rows, 100)

    contestants: dict[str, Callable[[], Callable[[], Any]]] = {
        "hornbeam, with binning": lambda: lambda: ours(threads).fit(X, y),
        "lightgbm": by_lightgbm,
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, prepare in contestants.items():
            found[name].append(clocked(prepare()))
    for name, times in found.items():
        cpu, wall = np.min(times, axis=0)
        facts = {"rows": n_rows, "features": n_features, "threads": threads, "load": os.getloadavg()[0]}
        yield {"method": name, "cpu": cpu, "wall": wall, **facts}


def ours(threads: int = 1) -> BoostedTreesClassifier:
    return BoostedTreesClassifier(early_stopping=False, n_jobs=threads)


def sets(folder: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Rows and labels by name."""
    for load in (load_breast_cancer, load_iris, load_wine):
        yield load.__name__.removeprefix("load_"), *load(return_X_y=True)
    for flip in (0.0, 0.2):
        yield f"made, {flip:.0%} flipped", *make_classification(1_000, flip_y=flip, random_state=0)
    for name in UCI if folder else ():
        frame = pd.read_parquet(folder / f"{name}.parquet")
        frame = frame[frame["target"].notna()]
        frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
        y = frame.pop("target").astype("category").cat.codes.to_numpy()
        common = np.isin(y, np.flatnonzero(np.bincount(y) >= 10))
        words = frame.select_dtypes(exclude="number").columns
        frame[words] = frame[words].apply(
            lambda column: column.astype("category").cat.codes.replace(-1, np.nan)
        )
        yield name, frame.to_numpy(float)[common], np.unique(y[common], return_inverse=True)[1]


def study(folder: Path | None) -> Iterator[dict[str, Any]]:
    """Log loss over five folds, the probabilities being at least 1e-7."""
    methods: dict[str, Callable[[], Any]] = {
        "hornbeam": ours,
        "lightgbm": lambda: lightgbm.LGBMClassifier(**SAME, n_jobs=1),
        "scikit-learn": lambda: HistGradientBoostingClassifier(early_stopping=False),
    }
    for name, X, y in sets(folder):
        for method, make in methods.items():
            said, start = np.zeros((len(y), y.max() + 1)), time.process_time()
            for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
                said[test] = make().fit(X[train], y[train]).predict_proba(X[test])
            loss = log_loss(
                y, np.clip(said, 1e-7, None) / np.clip(said, 1e-7, None).sum(axis=1, keepdims=True)
            )
            yield {
                "set": name,
                "rows": len(y),
                "method": method,
                "loss": loss,
                "cpu": time.process_time() - start,
            }


def queries(
    seed: int, n_queries: int = 300, size: int = 30
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, grades from 0 to 4, queries, and what the grades are a noisy view of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * size, 10))
    X[:, 9] = np.repeat(rng.normal(size=n_queries), size)  # what a query is, and all its rows share
    truth = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + X[:, 4] * X[:, 9]
    noisy = truth + rng.normal(scale=0.7, size=len(X))
    return (
        X,
        np.digitize(noisy, [0.5, 1.5, 2.5, 3.5]).astype(float),
        np.repeat(np.arange(n_queries), size),
        truth,
    )


def ranking() -> Iterator[dict[str, Any]]:
    """NDCG@10 on fresh queries, of LambdaMART, LightGBM, and the truth behind the grades."""
    X, grade, query, _ = queries(0)
    X_test, grade_test, query_test, truth = queries(1)
    settings = SAME | {"min_child_samples": 20, "n_jobs": 1}
    methods: dict[str, Callable[[], np.ndarray]] = {
        "hornbeam": lambda: LambdaMARTRanker().fit(X, grade, group=query).predict(X_test),
        "hornbeam, truncation 30": lambda: (
            LambdaMARTRanker(truncation=30).fit(X, grade, group=query).predict(X_test)
        ),
        "lightgbm": lambda: (
            lightgbm.LGBMRanker(**settings).fit(X, grade, group=np.bincount(query)).predict(X_test)
        ),
        "truth": lambda: truth,
        "chance": lambda: np.zeros(len(X_test)),
    }
    for method, score in methods.items():
        start = time.process_time()
        scores = score()
        cpu = time.process_time() - start
        yield {"method": method, "ndcg@10": ndcg(grade_test, scores, query_test, k=10), "cpu": cpu}


def summary(found: list[dict[str, Any]]) -> str:
    """Mean log loss of the study, and how often each peer is worse or better than ours."""
    losses = pd.DataFrame(found).pivot(index="set", columns="method", values="loss")
    apart = losses.rsub(losses["hornbeam"], axis=0)
    return pd.DataFrame(
        {"mean": losses.mean(), "ours better": (apart < -1e-4).sum(), "ours worse": (apart > 1e-4).sum()}
    ).to_string()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "study", "ranking"])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.what == "speed":
        lines = speed(options.rows, options.features, options.threads, options.repeats)
    else:
        lines = study(options.data) if options.what == "study" else ranking()
    found = []
    for line in lines:
        found.append(line)
        print(line, flush=True)
    if options.what == "study":
        print(summary(found))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text("".join(json.dumps(line) + "\n" for line in found))


if __name__ == "__main__":
    main()
