"""Boosted trees beside LightGBM and scikit-learn: processor time, log loss, and NDCG.

OMP_WAIT_POLICY=passive python -m benchmarks.speed.boosting speed --json benchmarks/results/speed/boosting.jsonl
python -m benchmarks.speed.boosting study --data FOLDER --json benchmarks/results/boosting/study.jsonl
python -m benchmarks.speed.boosting ranking --json benchmarks/results/boosting/ranking.jsonl
python -m benchmarks.speed.boosting ranking --real FOLDER --json benchmarks/results/boosting/ranking-real.jsonl

All grow 100 rounds of 31 leaves at a learning rate of 0.1 on 255 bins, without early stopping. `speed` measures
binning and training, Hornbeam and LightGBM in turn; OpenMP's threads wait passively, or LightGBM's burn processor
time on a busy machine. `study` asks five folds, one
thread each, of every set of FOLDER (UCI sets as Parquet files, and index.csv) with 150 to 10,000 rows, at most 10
classes, and rows times features times classes of at most 200,000, which is all the time we have; classes of fewer
than ten rows are left out, categories are numbers, holes are left as they are. `ranking` is in ranking.py.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.speed import ranking
from benchmarks.speed.ranking import SAME
from hornbeam import BoostedTreesClassifier
from hornbeam.evaluation.comparison import Comparison

ROWS, MOST_CLASSES, MOST_CELLS = (150, 10_000), 10, 200_000


def clocked(work: Callable[[], Any]) -> tuple[float, float]:
    """Processor and wall seconds of some work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def speed(sizes: list[int], n_features: int, threads: list[int], repeats: int) -> Iterator[dict[str, Any]]:
    """Least processor and wall seconds of 100 rounds with binning, turn by turn, and LightGBM's over ours."""
    for n_rows in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_features))
        y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)
        for n in threads:
            contestants = {
                "hornbeam": partial(ours(n).fit, X, y),
                "lightgbm": partial(by_lightgbm, X, y, SAME | {"objective": "binary", "num_threads": n}),
            }
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
            for _ in range(_turns(repeats, n_rows)):
                for name, work in contestants.items():
                    found[name].append(clocked(work))
            best = {name: np.min(times, axis=0) for name, times in found.items()}
            facts = {"rows": n_rows, "features": n_features, "threads": n, "load": os.getloadavg()[0]}
            for name, (cpu, wall) in best.items():
                facts |= {f"{name} cpu": round(float(cpu), 4), f"{name} wall": round(float(wall), 4)}
            cpu, wall = (best["lightgbm"] / best["hornbeam"]).round(3).tolist()
            yield facts | {"lightgbm": lightgbm.__version__, "ratio cpu": cpu, "ratio wall": wall}


def by_lightgbm(X: np.ndarray, y: np.ndarray, settings: dict[str, Any]) -> None:
    """Bin and train."""
    lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), 100)


def _turns(repeats: int, n_rows: int) -> int:
    """Small fits take more turns, because other processes disturb them more."""
    return repeats * (8 if n_rows < 10_000 else 2 if n_rows < 500_000 else 1)


def ours(threads: int = 1) -> BoostedTreesClassifier:
    return BoostedTreesClassifier(early_stopping=False, n_jobs=threads)


def sets(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Rows and labels by name, of the sets that the rule lets in."""
    index = pd.read_csv(folder / "index.csv", index_col="name")
    cells = index["n_instances"] * (index["n_numeric"] + index["n_nominal"]) * index["n_classes"]
    allowed = (
        index["n_instances"].between(*ROWS) & (index["n_classes"] <= MOST_CLASSES) & (cells <= MOST_CELLS)
    )
    for name, file in index.loc[allowed, "file"].items():
        frame = pd.read_parquet(folder / file)
        frame = frame[frame["target"].notna()]
        y = frame.pop("target").astype("category").cat.codes.to_numpy()
        common = np.isin(y, np.flatnonzero(np.bincount(y) >= 10))
        words = frame.select_dtypes(exclude="number").columns
        frame[words] = frame[words].apply(
            lambda column: column.astype("category").cat.codes.replace(-1, np.nan)
        )
        yield str(name), frame.to_numpy(float)[common], np.unique(y[common], return_inverse=True)[1]


def study(folder: Path) -> Iterator[dict[str, Any]]:
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
            size = {"rows": len(y), "classes": int(y.max()) + 1}
            yield {"set": name, **size, "method": method, "loss": loss, "cpu": time.process_time() - start}


def summary(found: list[dict[str, Any]]) -> str:
    """Mean log loss, wins-draws-losses with the sign test, and seconds: of all sets, and by the number of classes."""
    table = pd.DataFrame(found)
    parts = {"all": table["classes"] > 1, "two": table["classes"] == 2, "several": table["classes"] > 2}
    lines = []
    for part, rows in parts.items():
        losses = table[rows].pivot(index="set", columns="method", values="loss")
        comparison = Comparison(tuple(losses.columns), tuple(losses.index), losses.to_numpy(), "log loss")
        lines += [
            f"classes: {part}, {len(losses)} sets",
            comparison.to_markdown(["lightgbm", "scikit-learn"]),
        ]
    return "\n".join([*lines, table.groupby("method")["cpu"].sum().round(1).to_string()])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "study", "ranking"])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, help="UCI sets, for study")
    parser.add_argument("--real", type=Path, help="files of queries, for ranking; without, queries are drawn")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.what == "study" and options.data is None:
        parser.error("study needs --data FOLDER")
    if options.what == "speed":
        lines = speed(options.rows, options.features, options.threads, options.repeats)
    else:
        lines = study(options.data) if options.what == "study" else ranking.contest(options.real)
    found = []
    for line in lines:
        found.append(line)
        print(line, flush=True)
    if options.what != "speed":
        print(summary(found) if options.what == "study" else ranking.summary(found))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text("".join(json.dumps(line) + "\n" for line in found))


if __name__ == "__main__":
    main()
