"""Ways to a robust regression tree, measured before any is built: clipped targets, medians of leaves, boosted medians.

python -m benchmarks.quality.tails --csv benchmarks/results/regression/tails.csv

Four worlds, 1,500 training rows, root mean squared distance to the true medians of 4,000 new rows, over seeds.
`clipped` is fitted to targets within three median absolute deviations of the median of all rows, `ranks` to their ranks
and `arcsinh` to the arcsinh of their distance to the median in such deviations; `median` is the median of each leaf's
distribution, which is converted back. `boosted medians` is a tree fitted to the predictions of boosted trees that lower
the absolute error, as the guide advises; `lightgbm` lowers it too.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hornbeam import BoostedTreesRegressor, TreeRegressor

ROWS, NEW_ROWS = 1_500, 4_000
FIELDS = ["world", "method", "seeds", "distance"]
type World = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def heavy(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Student's noise of 1.5 degrees of freedom around a step and a slope."""
    return 3 * (X[:, 0] > 0.5) + 2 * X[:, 1], rng.standard_t(1.5, len(X))


def heavy_friedman(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same noise, three times as large, around Friedman's first function."""
    bent = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return bent + 10 * X[:, 3] + 5 * X[:, 4], 3 * rng.standard_t(1.5, len(X))


def rare(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Large values that are no errors: 40 in a corner of one row in twenty."""
    return np.where((X[:, 0] > 0.9) & (X[:, 1] > 0.5), 40.0, X[:, 2]), rng.normal(size=len(X))


def skewed(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Lognormal targets: their means are above their medians."""
    median = np.exp(1.5 * X[:, 0])
    return median, median * (np.exp(rng.normal(0, 0.8, len(X))) - 1)


WORLDS: dict[str, World] = {
    "heavy tails": heavy,
    "heavy tails, Friedman 1": heavy_friedman,
    "rare large values": rare,
    "skewed": skewed,
}


def clipped(y: np.ndarray) -> np.ndarray:
    """Targets within three median absolute deviations."""
    middle = np.median(y)
    apart = 3 * np.median(np.abs(y - middle))
    return np.clip(y, middle - apart, middle + apart)


def ranks_median(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Medians of a tree that is fitted to ranks."""
    ordered = np.sort(y)
    rank = TreeRegressor(distribution=True).fit(X, np.searchsorted(ordered, y).astype(float))
    return ordered[np.clip(np.rint(rank.predict_quantile(new, 0.5)), 0, len(y) - 1).astype(int)]


def arcsinh_median(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Medians of a tree that is fitted to logarithms of large distances."""
    middle = np.median(y)
    unit = np.median(np.abs(y - middle))
    bent = TreeRegressor(distribution=True).fit(X, np.arcsinh((y - middle) / unit))
    return middle + unit * np.sinh(bent.predict_quantile(new, 0.5))


def predictions(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> dict[str, np.ndarray]:
    """Predictions of each method."""
    from lightgbm import LGBMRegressor

    plain, cut = (TreeRegressor(distribution=True).fit(X, target) for target in (y, clipped(y)))
    medians = BoostedTreesRegressor(loss="absolute_error").fit(X, y).predict(X)
    return {
        "default": plain.predict(new),
        "median": plain.predict_quantile(new, 0.5),
        "clipped": cut.predict(new),
        "clipped, median": cut.predict_quantile(new, 0.5),
        "ranks, median": ranks_median(X, y, new),
        "arcsinh, median": arcsinh_median(X, y, new),
        "boosted medians": TreeRegressor().fit(X, medians).predict(new),
        "lightgbm": LGBMRegressor(objective="mae", n_jobs=1, verbose=-1, random_state=0)
        .fit(X, y)
        .predict(new),
    }


def main() -> None:
    """Score all worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    options.csv.parent.mkdir(parents=True, exist_ok=True)
    with options.csv.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for name, world in WORLDS.items():
            found: dict[str, list[float]] = {}
            for seed in range(options.seeds):
                rng = np.random.default_rng(seed)
                X, new = rng.uniform(size=(ROWS, 5)), rng.uniform(size=(NEW_ROWS, 5))
                (truth, noise), (expected, _) = world(X, rng), world(new, rng)
                for method, predicted in predictions(X, truth + noise, new).items():
                    distance = float(np.sqrt(np.mean((predicted - expected) ** 2)))
                    found.setdefault(method, []).append(distance)
            means = {method: f"{np.mean(each):.3f}" for method, each in found.items()}
            table.writerows(
                dict(zip(FIELDS, [name, method, options.seeds, mean], strict=True))
                for method, mean in means.items()
            )
            file.flush()
            print(name, means, flush=True)


if __name__ == "__main__":
    main()
