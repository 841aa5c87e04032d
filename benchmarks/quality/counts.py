"""Counts with exposure: `TreeRegressor(criterion="poisson")`, scikit-learn's tree, LightGBM, and our default.

python -m benchmarks.quality.counts --csv benchmarks/results/regression/counts.csv

Three made-up worlds of counts with 500, 2,000 and 8,000 training rows. The target is the count divided by the exposure,
which is the weight. `deviance` is the mean Poisson deviance of 10,000 new rows, over seeds; that of `truth` is what
the true rates leave. `beside lightgbm` is the mean quotient of the deviances. The least rows of a leaf of
scikit-learn's tree are chosen by 5-fold cross-validation of the deviance; LightGBM has its defaults. Predictions of 0
count as a millionth.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from hornbeam import TreeRegressor

SIZES, NEW_ROWS, LEAF_SIZES = (500, 2_000, 8_000), 10_000, (5, 10, 20, 40, 80, 160)
FIELDS = ["world", "rows", "method", "seeds", "deviance", "beside lightgbm", "leaves", "seconds"]


def steps(X: np.ndarray) -> np.ndarray:
    """Rates with jumps and an interaction; two of six features have no effect."""
    return np.exp(1.2 * (X[:, 0] > 0.6) - 0.8 * (X[:, 1] > 0.5) + 0.9 * (X[:, 2] > 0.5) * (X[:, 3] > 0.5) - 1)


def smooth(X: np.ndarray) -> np.ndarray:
    """Rates that change smoothly by a factor of about 60."""
    return np.exp(2 * X[:, 0] + np.sin(5 * X[:, 1]) - X[:, 2] * X[:, 3] - 0.5)


def rare(X: np.ndarray) -> np.ndarray:
    """About one event in ten rows, and hardly any in a part of them."""
    rate = 0.06 * np.exp(1.5 * (X[:, 0] > 0.7) + X[:, 1] - 1.2 * (X[:, 2] > 0.4))
    return np.where((X[:, 3] < 0.3) & (X[:, 4] < 0.5), 0.05 * rate, rate)


WORLDS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], bool]] = {
    "steps": (steps, False),
    "smooth, overdispersed": (smooth, True),
    "rare": (rare, False),
}


def draw(world: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features, counts divided by exposures, exposures, and true rates."""
    rng = np.random.default_rng([seed, n])
    rate_of, overdispersed = WORLDS[world]
    X, exposure = rng.uniform(size=(n, 6)), rng.uniform(0.1, 2.0, n)
    rate = rate_of(X)
    own = rng.gamma(2.0, 0.5, n) if overdispersed else 1.0
    return X, rng.poisson(rate * own * exposure) / exposure, exposure, rate


def deviance(y: np.ndarray, predicted: np.ndarray, exposure: np.ndarray) -> float:
    """Mean Poisson deviance per exposure."""
    return float(mean_poisson_deviance(y, np.maximum(predicted, 1e-6), sample_weight=exposure))


def sklearn_tree(X: np.ndarray, y: np.ndarray, exposure: np.ndarray) -> Any:
    """scikit-learn's tree with the best size of leaves."""

    def tree(leaf: int, rows: Any) -> Any:
        model = DecisionTreeRegressor(criterion="poisson", min_samples_leaf=leaf, random_state=0)
        return model.fit(X[rows], y[rows], sample_weight=exposure[rows])

    def held_out(leaf: int) -> float:
        folds = KFold(5, shuffle=True, random_state=0).split(X)
        return sum(deviance(y[t], tree(leaf, rows).predict(X[t]), exposure[t]) for rows, t in folds)

    return tree(min(LEAF_SIZES, key=held_out), slice(None))


def lightgbm(X: np.ndarray, y: np.ndarray, exposure: np.ndarray) -> Any:
    """Boosted trees with the defaults of LightGBM."""
    from lightgbm import LGBMRegressor

    model = LGBMRegressor(objective="poisson", n_jobs=1, verbose=-1, random_state=0)
    return model.fit(X, y, sample_weight=exposure)


METHODS: dict[str, Callable[..., Any]] = {
    "poisson": lambda X, y, e: TreeRegressor(criterion="poisson").fit(X, y, sample_weight=e),
    "default": lambda X, y, e: TreeRegressor().fit(X, y, sample_weight=e),
    "scikit-learn": sklearn_tree,
    "lightgbm": lightgbm,
}


def leaves(model: Any) -> int | str:
    """Number of leaves of one tree."""
    if isinstance(model, TreeRegressor):
        return model.tree_.n_leaves
    return int(model.tree_.n_leaves) if isinstance(model, DecisionTreeRegressor) else ""


def lines(world: str, n: int, seeds: int) -> list[dict[str, Any]]:
    """Score all methods on some draws."""
    found: dict[str, list[tuple[float, Any, float]]] = {}
    for seed in range(seeds):
        X, y, exposure, _ = draw(world, n, seed)
        new, y_new, exposure_new, rate = draw(world, NEW_ROWS, seed)
        for name, fit in METHODS.items():
            begin = time.process_time()
            model = fit(X, y, exposure)
            seconds = time.process_time() - begin
            loss = deviance(y_new, model.predict(new), exposure_new)
            found.setdefault(name, []).append((loss, leaves(model), seconds))
        found.setdefault("truth", []).append((deviance(y_new, rate, exposure_new), "", 0.0))
    beside = np.array([one[0] for one in found["lightgbm"]])
    table = []
    for name, scores in found.items():
        losses, sizes, seconds = (list(column) for column in zip(*scores, strict=True))
        values = [
            f"{np.mean(losses):.4f}",
            f"{np.mean(losses / beside):.4f}",
            "" if "" in sizes else f"{np.mean(sizes):.0f}",
            f"{np.mean(seconds):.3f}",
        ]
        table.append(dict(zip(FIELDS, [world, n, name, seeds, *values], strict=True)))
    return table


def main() -> None:
    """Score all worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    options.csv.parent.mkdir(parents=True, exist_ok=True)
    with options.csv.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for world in WORLDS:
            for n in SIZES:
                found = lines(world, n, options.seeds)
                table.writerows(found)
                file.flush()
                print(world, n, {one["method"]: one["deviance"] for one in found}, flush=True)


if __name__ == "__main__":
    main()
