"""How often a 90 % interval holds the truth, where the truth is known.

python -m benchmarks.quality.coverage run --json benchmarks/results/coverage/calibrated.jsonl
python -m benchmarks.quality.coverage run --settings readable,slopes=2 --seed 100000 --json FILE
python -m benchmarks.quality.coverage show benchmarks/results/coverage/*.jsonl

Rows are drawn from a known p(class | x), or a known mean and noise; a tree is fitted; the truth of a leaf is the mean
of p, or of the mean, over fresh rows that come to it, and its bounds are the means of theirs. `of_rows` is the share of
fresh rows whose own p is within their bounds: a tree without terms promises that of a leaf alone. `run` writes a line
for each trial, and goes on where the file ends. Trees with an explicit smoothing are calibrated by
`calibrate_intervals`, unless `--as-fitted` is given.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.explain.intervals import predict_interval
from hornbeam.tree import Table
from hornbeam.tree.route import route

FRESH = 60_000
TRIALS = {300: 20, 1000: 20, 3000: 8, 10000: 3}
KEY = ("world", "rows", "setting", "seed")


def normals(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(n, 5))


def _two(p: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - p, p])


def _logistic(z: np.ndarray) -> np.ndarray:
    return _two(1 / (1 + np.exp(-z)))


def smooth(X: np.ndarray) -> np.ndarray:
    return _logistic(1.5 * X[:, 0] - X[:, 1] + 1.2 * X[:, 0] * X[:, 2])


def steps(X: np.ndarray) -> np.ndarray:
    left, right = np.where(X[:, 1] < 0.5, 0.1, 0.7), np.where(X[:, 2] < -0.5, 0.9, 0.3)
    return _two(np.where(X[:, 0] < 0, left, right))


def noise(X: np.ndarray) -> np.ndarray:
    return np.tile([0.7, 0.3], (len(X), 1))


def rare(X: np.ndarray) -> np.ndarray:
    return _logistic(-4.6 + X[:, 0] + 0.8 * X[:, 1])


def three(X: np.ndarray) -> np.ndarray:
    e = np.exp(np.column_stack([np.zeros(len(X)), 1.5 * X[:, 0], X[:, 1] + X[:, 2] - 0.5]))
    return e / e.sum(axis=1, keepdims=True)


def clean(X: np.ndarray) -> np.ndarray:
    """A rule that is nearly always right."""
    return _two(np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 0.99, 0.01))


def steep(X: np.ndarray) -> np.ndarray:
    """Two classes apart, but aslant: no test on one column is right."""
    return _logistic(6 * X[:, 0] - 4 * X[:, 1])


def six_normals(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(n, 6))


def xor(X: np.ndarray) -> np.ndarray:
    """Two columns that matter only together: no single split of the root explains anything."""
    return _logistic(2 * np.sign(X[:, 0] * X[:, 1]) + 0.5 * X[:, 2])


def unrelated(X: np.ndarray) -> np.ndarray:
    return _logistic(np.full(len(X), -1.0))


def clients(n: int, rng: np.random.Generator) -> np.ndarray:
    late, income = rng.poisson(0.5, n), rng.lognormal(10.8, 0.5, n).round(2)
    return np.column_stack([late, income, rng.integers(0, 2, n), rng.integers(18, 80, n)]).astype(float)


def loans(X: np.ndarray) -> np.ndarray:
    return _logistic(-2 + 0.9 * X[:, 0] - (X[:, 1] - 49000) / 40000)


def mixed(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Two nominal columns, of 8 and 5 categories, and two numbers."""
    names = np.array(list("abcdefgh"))[rng.integers(0, 8, n)], np.array(list("uvwxy"))[rng.integers(0, 5, n)]
    return pd.DataFrame({"a": names[0], "b": names[1], "x": rng.normal(size=n), "z": rng.normal(size=n)})


def pure(X: pd.DataFrame) -> np.ndarray:
    """Nearly pure classes by categories."""
    yes = (X["a"].isin(list("adf")) & (X["b"] != "w")) | (X["x"] > 1.5)
    return _two(np.where(yes, 0.995, 0.005))


@dataclass(frozen=True)
class World:
    """Where rows come from: features, and what is true of them."""

    features: Callable[[int, np.random.Generator], Any]
    truth: Callable[[Any], np.ndarray]
    noise: Callable[[Any, np.random.Generator], np.ndarray] | None = None

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
        X = self.features(n, rng)
        truth = self.truth(X)
        if self.noise is not None:
            return X, truth[:, 0] + self.noise(X, rng)
        return X, (rng.random(n)[:, None] > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)


def bent(X: np.ndarray) -> np.ndarray:
    return (2 * X[:, 0] - X[:, 1] + X[:, 0] * X[:, 2])[:, None]


def stairs(X: np.ndarray) -> np.ndarray:
    left, right = np.where(X[:, 1] < 0.5, 0.0, 3.0), np.where(X[:, 2] < -0.5, 5.0, 1.0)
    return np.where(X[:, 0] < 0, left, right)[:, None]


def wave(X: np.ndarray) -> np.ndarray:
    return (2 * np.sin(X[:, 0]) + X[:, 1])[:, None]


def ramp(X: np.ndarray) -> np.ndarray:
    return (1.5 * X[:, 0] + np.where(X[:, 1] > 0, 2, 0))[:, None]


def normal(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=len(X))


def unequal(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (0.3 + np.exp(0.8 * X[:, 2])) * rng.normal(size=len(X))


def heavy(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(3, len(X))


CLASSES = {f.__name__: World(normals, f) for f in (smooth, steps, noise, rare, three, clean, steep)}
CLASSES |= {
    "loans": World(clients, loans),
    "pure": World(mixed, pure),
    "xor": World(six_normals, xor),
    "noise-6": World(six_normals, unrelated),
}
MEANS = {
    "mean-smooth": World(normals, bent, normal),
    "mean-steps": World(normals, stairs, normal),
    "mean-unequal": World(normals, wave, unequal),
    "mean-heavy": World(normals, ramp, heavy),
}
WORLDS = CLASSES | MEANS


def settings(world: str, n: int) -> dict[str, dict[str, Any]]:
    least = 20 if n < 1000 else 50
    restricted: dict[str, dict[str, Any]] = {
        "default": {},
        "min_samples_leaf": {"min_samples_leaf": least},
        "max_depth": {"max_depth": 4},
        "max_leaf_nodes": {"max_leaf_nodes": 12},
        "tolerance": {"tolerance": 0.05},
    }
    explicit, smoothing = ("hgs", "hgs") if world in CLASSES else ("shrinkage", "hierarchical-shrinkage")
    taught = {"readable": {"preset": "readable"}} | {f"slopes={n}": {"slopes": n} for n in (1, 2, 3)}
    return restricted | {explicit: {"smoothing": smoothing}} | taught


def trial(name: str, n: int, setting: str, seed: int, as_fitted: bool) -> dict[str, Any]:
    world, rng = WORLDS[name], np.random.default_rng(seed)
    X, y = world.draw(n, rng)
    kind = TreeRegressor if world.noise is not None else TreeClassifier
    parameters = settings(name, n)[setting]
    model = kind(**parameters).fit(X, y)
    if "smoothing" in parameters and not as_fitted:
        model.calibrate_intervals(X, y)
    tree, fresh = model.tree_, world.features(FRESH, rng)
    truth = world.truth(fresh)
    if world.noise is None:
        truth = truth[:, list(tree.schema.classes)]
    table = Table.read(fresh, schema=tree.schema)
    node = route(tree.skeleton, table)
    rows = np.bincount(node, minlength=tree.n_nodes)
    leaf = tree.skeleton.is_leaf & (rows > 0)
    low, high = predict_interval(tree, table, 0.9)
    of_rows = float(((low <= truth) & (truth <= high)).mean())
    true, low, high = (
        np.column_stack([np.bincount(node, column, minlength=tree.n_nodes) for column in values.T])[leaf]
        / rows[leaf][:, None]
        for values in (truth, low, high)
    )
    missed = np.maximum(low - true, 0) + np.maximum(true - high, 0)
    last = tree.history[-1]
    return {
        "leaves": int(leaf.sum()),
        "terms": len(tree.slopes),
        "covered": round(float((missed == 0).mean()), 4),
        "of_rows": round(of_rows, 4),
        "width": round(float((high - low).mean()), 5),
        "score": round(float((high - low + 20 * missed).mean()), 5),
        **(dict(last.parameters) if last.name == "interval-calibration" else {}),
    }


def todo(options: argparse.Namespace) -> Iterator[tuple[str, int, str, int]]:
    for n in map(int, options.rows.split(",")):
        for world in options.worlds.split(","):
            for setting in options.settings.split(",") if options.settings else settings(world, n):
                for number in range(options.trials or TRIALS.get(n, 3)):
                    yield world, n, setting, options.seed + number


def run(options: argparse.Namespace) -> None:
    done = {tuple(line[name] for name in KEY) for line in read([options.json])}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    with options.json.open("a") as file:
        for key in todo(options):
            if key not in done:
                record = dict(zip(KEY, key, strict=True)) | trial(*key, options.as_fitted)
                file.write(json.dumps(record) + "\n")
                file.flush()


def read(paths: list[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths if path.exists() for line in path.read_text().splitlines()]


def cells(lines: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, float]]:
    """Share of the leaves of all trials of a cell that are covered, and their mean width and score."""
    grouped = defaultdict(list)
    for line in lines:
        grouped[line["world"], line["rows"], line["setting"]].append(line)
    means = {}
    for key, trials in grouped.items():
        leaves = np.array([line["leaves"] for line in trials], float)
        means[key] = {"trials": len(trials), "leaves": leaves.mean()} | {
            name: float(leaves @ [line.get(name, np.nan) for line in trials] / leaves.sum())
            for name in ("covered", "of_rows", "width", "score")
        }
    return means


def show(options: argparse.Namespace) -> None:
    tables = [cells(read([path])) for path in options.files]
    print(
        f"{'world':13} {'rows':>6} {'setting':17}",
        *(f"| leaves covered   rows  width  score {path.stem}" for path in options.files),
    )
    for key in sorted(tables[0], key=lambda key: (list(WORLDS).index(key[0]), *key[1:])):
        parts = [f"{key[0]:13} {key[1]:>6} {key[2]:17}"]
        for table in tables:
            cell = table.get(key)
            if cell:
                outside = " " if 0.85 <= cell["covered"] <= 0.97 else "*"
                parts.append(
                    f"{cell['leaves']:6.1f} {cell['covered']:6.3f}{outside} {cell['of_rows']:6.3f} "
                    f"{cell['width']:6.3f} {cell['score']:6.3f}"
                )
        print(" | ".join(parts))
    for path, table in zip(options.files, tables, strict=True):
        for name, worlds in (("classes", CLASSES), ("means", MEANS)):
            chosen = [cell for key, cell in table.items() if key[0] in worlds]
            if chosen:
                covered = np.array([cell["covered"] for cell in chosen])
                print(
                    f"{path.stem} {name}: mean covered {covered.mean():.3f}, least {covered.min():.3f}, "
                    f"{((covered < 0.85) | (covered > 0.97)).sum()} of {len(covered)} cells outside .85 to .97 "
                    f"({(covered < 0.85).sum()} below), mean width {np.mean([cell['width'] for cell in chosen]):.4f}, "
                    f"mean score {np.mean([cell['score'] for cell in chosen]):.4f}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="fit trees, and add a line for each to a file")
    running.add_argument("--json", type=Path, required=True)
    running.add_argument("--worlds", default=",".join(WORLDS))
    running.add_argument("--settings", help="names, with commas between; default: all")
    running.add_argument("--rows", default=",".join(map(str, TRIALS)))
    running.add_argument(
        "--trials", type=int, help="of each cell; default: 20 below 3,000 rows, then 8 and 3"
    )
    running.add_argument("--seed", type=int, default=0, help="of the first trial")
    running.add_argument("--as-fitted", action="store_true", help="never call calibrate_intervals")
    running.set_defaults(go=run)
    showing = commands.add_parser("show", help="print a table of files, side by side")
    showing.add_argument("files", type=Path, nargs="+")
    showing.set_defaults(go=show)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.go(options)


if __name__ == "__main__":
    main()
