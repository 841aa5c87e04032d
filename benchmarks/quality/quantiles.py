"""Quantiles and ranges of single rows: trees, readable trees and forests, leaves alone, and other libraries.

python -m benchmarks.quality.quantiles --data FOLDER --csv benchmarks/results/regression/quantiles.csv
python -m benchmarks.quality.quantiles --data FOLDER --methods forest,quantile-forest --csv forest.csv
python -m benchmarks.quality.quantiles --data FOLDER --methods ngboost,linear --csv others.csv
python -m benchmarks.quality.quantiles --data FOLDER --methods readable --csv readable.csv

FOLDER has UCI sets as Parquet files; without, the sets of scikit-learn and the made-up worlds alone are used. Each of
four splits trains on half of the rows, at most 1,000, and tests on the others, at most 2,000. `tree` is ours,
`readable` the preset of this name, `forest` a forest, `leaf` the quantiles of the training rows in the same leaves,
`lightgbm` a boosted quantile model for each level, `quantile-forest` the forest of the package of this name and
`ngboost` normal distributions by NGBoost, all three with their defaults; `linear` is linear quantile regression by
scikit-learn, without a penalty. Losses are pinball losses, means over splits;
`crps` is twice their integral over the levels from .05 to .95, by trapezia. `held 80` and `held 90` are the shares of
test rows in the ranges of 80 and 90 %: conformal ones of ours, else those between two quantiles. Losses are parts of
the target's deviation, or of its quartile range where the deviation is more than five times that.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import iqr
from sklearn.linear_model import QuantileRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.quality.regression import sets
from hornbeam import ForestRegressor, TreeRegressor

LEVELS = np.array([0.05, *np.arange(1, 10) / 10, 0.95])
SHOWN = (0.05, 0.1, 0.5, 0.9, 0.95)
MOST_TRAINED, MOST_TESTED = 1_000, 2_000
FIELDS = ["set", "rows", "method", "splits", *(f"pinball {q:g}" for q in SHOWN), "crps", "held 80", "held 90"]


def worlds(n: int = 3_000) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Targets whose spread, skewness, tails or atoms depend on the features."""
    rng = np.random.default_rng(0)
    X, noise = rng.uniform(size=(n, 5)), rng.normal(size=n)
    yield "heteroscedastic", X, 2 * X[:, 0] + (0.1 + X[:, 1]) * noise
    yield "skewed", X, np.exp(1.5 * X[:, 0] + 0.7 * noise)
    yield "heavy tails, 1.5 degrees", X, 3 * (X[:, 0] > 0.5) + 2 * X[:, 1] + rng.standard_t(1.5, n)
    yield "many zeros", X, np.where(rng.random(n) < X[:, 0], 0.0, rng.gamma(2.0, 1 + X[:, 1]))
    yield "counts", X, rng.poisson(np.exp(1 + X[:, 0])).astype(float)
    yield "noise", X, noise


def pinball(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Mean loss of each level."""
    apart = y[:, None] - predicted
    return np.maximum(LEVELS * apart, (LEVELS - 1) * apart).mean(axis=0)


def held(y: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Share of the values within the bounds."""
    return float(((low <= y) & (y <= high)).mean())


def leaf_quantiles(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Quantiles of the training rows in the same leaf."""
    model = TreeRegressor().fit(X, y)
    leaf = model.apply(X)
    own = {one: np.quantile(y[leaf == one], LEVELS, method="inverted_cdf") for one in np.unique(leaf)}
    root = np.quantile(y, LEVELS)  # of rows that stop at an inner node
    return np.array([own.get(one, root) for one in model.apply(new)])


def lightgbm(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Quantiles of one model per level, sorted so that they do not cross."""
    from lightgbm import LGBMRegressor

    models = (
        LGBMRegressor(objective="quantile", alpha=q, n_jobs=1, verbose=-1, random_state=0) for q in LEVELS
    )
    return np.sort(np.stack([model.fit(X, y).predict(new) for model in models], axis=1), axis=1)


def quantile_forest(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Quantiles of the package quantile-forest."""
    from quantile_forest import RandomForestQuantileRegressor

    return RandomForestQuantileRegressor(random_state=0).fit(X, y).predict(new, quantiles=LEVELS.tolist())


def ngboost(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Quantiles of the normal distributions of NGBoost."""
    from ngboost import NGBRegressor

    predicted = NGBRegressor(random_state=0, verbose=False).fit(X, y).pred_dist(new)
    return np.stack([predicted.ppf(q) for q in LEVELS], axis=1)


def linear(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Quantiles of a linear model per level, of standardised columns, sorted so that they do not cross."""
    models = (make_pipeline(StandardScaler(), QuantileRegressor(quantile=q, alpha=0.0)) for q in LEVELS)
    return np.sort(np.stack([model.fit(X, y).predict(new) for model in models], axis=1), axis=1)


MODELS = {
    "tree": TreeRegressor,
    "readable": partial(TreeRegressor, "readable"),
    "forest": ForestRegressor,
}
OTHERS = {
    "leaf": leaf_quantiles,
    "lightgbm": lightgbm,
    "quantile-forest": quantile_forest,
    "ngboost": ngboost,
    "linear": linear,
}


def split_scores(X: np.ndarray, y: np.ndarray, seed: int, methods: list[str]) -> dict[str, np.ndarray]:
    """Losses of the levels and held shares of some methods on one split."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [len(y) // 2])
    train, test = train[:MOST_TRAINED], test[:MOST_TESTED]
    quantiles, ranges = {}, {}
    for method in methods:
        if method in MODELS:
            model = MODELS[method](distribution=True).fit(X[train], y[train])
            quantiles[method] = model.predict_quantile(X[test], LEVELS)
            ranges[method] = [
                model.predict_interval(X[test], level=level, kind="row") for level in (0.8, 0.9)
            ]
        else:
            quantiles[method] = OTHERS[method](X[train], y[train], X[test])
    unit = float(y.std()) if y.std() < 5 * iqr(y) or not iqr(y) else float(iqr(y))
    found = {}
    for name, q in quantiles.items():
        bounds = ranges.get(name, [(q[:, 1], q[:, -2]), (q[:, 0], q[:, -1])])
        found[name] = np.append(pinball(y[test], q) / unit, [held(y[test], *bound) for bound in bounds])
    return found


def line(name: str, rows: int, method: str, scores: list[np.ndarray]) -> dict[str, Any]:
    """One line of the table."""
    mean = np.mean(scores, axis=0)
    loss, shares = mean[: len(LEVELS)], mean[len(LEVELS) :]
    crps = 2 * float(np.trapezoid(loss, LEVELS))
    shown = [loss[int(np.abs(LEVELS - q).argmin())] for q in SHOWN]
    values = [*(f"{one:.4f}" for one in (*shown, crps)), *(f"{one:.3f}" for one in shares)]
    return dict(zip(FIELDS, [name, rows, method, len(scores), *values], strict=True))


def main() -> None:
    """Score all sets and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of UCI sets")
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--methods", default="tree,leaf,lightgbm", help="with commas: tree, readable, ...")
    options = parser.parse_args()
    options.csv.parent.mkdir(parents=True, exist_ok=True)
    with options.csv.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for name, X, y in (*worlds(), *sets(options.data)):
            begin, found = time.process_time(), dict[str, list[np.ndarray]]()
            for seed in range(options.first, options.first + options.splits):
                for method, scores in split_scores(X, y, seed, options.methods.split(",")).items():
                    found.setdefault(method, []).append(scores)
            table.writerows(line(name, len(y), method, scores) for method, scores in found.items())
            file.flush()
            print(f"{name}: {time.process_time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
