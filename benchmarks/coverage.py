"""How often a 90 % interval holds the truth, where the truth is known.

python benchmarks/coverage.py --smoothing hgs,shrinkage,tuned --json benchmarks/results/coverage/coverage.jsonl

Rows are drawn from a known p(class | x), a tree is grown with default settings, and the true rate of a leaf is
the mean of p over fresh rows that come to it. `tuned` is HGS with its alpha chosen on the held-out rows of
regrown trees, and appraised by what these trees say; every other name goes to `TreeClassifier(smoothing=)`.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import numpy as np

import hornbeam
from hornbeam import Recipe, Table, Tree, TreeClassifier
from hornbeam.explain import interval
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import HGS, appraise
from hornbeam.tree.route import answer, route

FEATURES, FOLDS, FRESH = 5, 5, 200_000
ALPHAS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)


def _logistic(z: np.ndarray) -> np.ndarray:
    p = 1 / (1 + np.exp(-z))
    return np.column_stack([1 - p, p])


def smooth(X: np.ndarray) -> np.ndarray:
    return _logistic(1.5 * X[:, 0] - X[:, 1] + 1.2 * X[:, 0] * X[:, 2])


def steps(X: np.ndarray) -> np.ndarray:
    left, right = np.where(X[:, 1] < 0.5, 0.1, 0.7), np.where(X[:, 2] < -0.5, 0.9, 0.3)
    p = np.where(X[:, 0] < 0, left, right)
    return np.column_stack([1 - p, p])


def noise(X: np.ndarray) -> np.ndarray:
    return np.tile([0.7, 0.3], (len(X), 1))


def rare(X: np.ndarray) -> np.ndarray:
    return _logistic(-4.6 + X[:, 0] + 0.8 * X[:, 1])


def three(X: np.ndarray) -> np.ndarray:
    e = np.exp(np.column_stack([np.zeros(len(X)), 1.5 * X[:, 0], X[:, 1] + X[:, 2] - 0.5]))
    return e / e.sum(axis=1, keepdims=True)


def clean(X: np.ndarray) -> np.ndarray:
    """A rule that is nearly always right."""
    p = np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 0.99, 0.01)
    return np.column_stack([1 - p, p])


def steep(X: np.ndarray) -> np.ndarray:
    """Two classes apart, but aslant: no test on one column is right."""
    return _logistic(6 * X[:, 0] - 4 * X[:, 1])


WORLDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    f.__name__: f for f in (smooth, steps, noise, rare, three, clean, steep)
}


def draw(world: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, FEATURES))
    y = (rng.random(n)[:, None] > WORLDS[world](X).cumsum(axis=1)[:, :-1]).sum(axis=1)
    return X, y


def tuned(X: np.ndarray, y: np.ndarray) -> Tree:
    """HGS with an honest alpha, appraised: what honest smoothing does, in a few lines."""
    table = Table.read(X, y)
    recipe: Recipe = PRESETS["pet"]
    grow = Recipe(recipe.max_bins, recipe.grower)
    fold = np.random.default_rng(0).permutation(len(y)) % FOLDS
    parts = [Table.read(X[fold == k], y[fold == k], schema=table.schema) for k in range(FOLDS)]
    trees = [grow.fit(Table.read(X[fold != k], y[fold != k], schema=table.schema)) for k in range(FOLDS)]

    def held_out(smoother: HGS) -> np.ndarray:
        said = np.empty((len(y), table.schema.n_classes))
        for k in range(FOLDS):
            said[fold == k] = answer(smoother(trees[k]), parts[k])
        return said

    best = min(
        map(HGS, ALPHAS), key=lambda hgs: -np.log(held_out(hgs)[np.arange(len(y)), table.target]).sum()
    )
    tree = best(grow.fit(table))
    return appraise(tree, leaf_means(tree, table, held_out(best)))(tree)


def leaf_means(tree: Tree, table: Table, values: np.ndarray) -> np.ndarray:
    """Mean of some values of the rows at the node where each stops; NaN where none does."""
    node = route(tree.skeleton, table)
    rows = np.bincount(node, minlength=tree.n_nodes)
    sums = np.column_stack([np.bincount(node, column, minlength=tree.n_nodes) for column in values.T])
    return np.divide(sums, rows[:, None], out=np.full(sums.shape, np.nan), where=rows[:, None] > 0)


def trial(world: str, n: int, smoothing: str, seed: int, level: float) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    X, y = draw(world, n, rng)
    tree = tuned(X, y) if smoothing == "tuned" else TreeClassifier(smoothing=smoothing).fit(X, y).tree_
    fresh = rng.normal(size=(FRESH, FEATURES))
    p = WORLDS[world](fresh)[:, list(tree.schema.classes)]
    truth = leaf_means(tree, Table.read(fresh, schema=tree.schema), p)
    leaf = tree.skeleton.is_leaf & ~np.isnan(truth[:, 0])
    low, high = (bound[leaf] for bound in interval(tree, level))
    within = (low <= truth[leaf]) & (truth[leaf] <= high)
    return {"leaves": int(leaf.sum()), "covered": float(within.mean()), "width": float((high - low).mean())}


def table_of(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    for world in options.worlds.split(","):
        for n in map(int, options.rows.split(",")):
            trials = max(1, min(options.trials, 6000 // n))
            for smoothing in options.smoothing.split(","):
                runs = [trial(world, n, smoothing, options.seed + i, options.level) for i in range(trials)]
                means = {name: round(float(np.mean([run[name] for run in runs])), 3) for name in runs[0]}
                yield {"world": world, "rows": n, "smoothing": smoothing, "trials": trials, **means}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoothing", default="auto,shrinkage,tuned")
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--rows", default="300,1000,10000")
    parser.add_argument("--trials", type=int, default=20, help="at most; 6,000 rows in all")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial")
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'world':8} {'rows':>6}  {'smoothing':12} {'leaves':>7} {'covered':>8} {'width':>6}")
    records = []
    for record in table_of(options):
        records.append(record)
        cells = "{world:8} {rows:>6}  {smoothing:12} {leaves:>7.0f} {covered:>8.3f} {width:>6.3f}"
        print(cells.format(**record), flush=True)
    if options.json:
        about = {
            "command": " ".join(["python", *sys.argv]),
            "date": date.today().isoformat(),
            "level": options.level,
        }
        about |= {
            "hornbeam": hornbeam.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text("".join(json.dumps(line) + "\n" for line in [*records, about]))


if __name__ == "__main__":
    main()
