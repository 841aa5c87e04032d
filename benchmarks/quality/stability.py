"""Which resampling has the spread that independent tables have, where the truth is known.

    python -m benchmarks.quality.stability --rows 1000 --tables 24

Tables are drawn from one world. The truth is how predictions differ between fits to `OTHERS` tables; the spread of one
table's refits, on halves, on 80 % of the rows, on a bootstrap and with other seeds, is compared with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from hornbeam import TreeClassifier

OTHERS, REFITS, NEW, FRESH = 150, 20, 500, 20_000
WAYS = ("halves", "80 %", "bootstrap", "seeds")


def world(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Rows, labels and true probabilities; two features are equally good at the root."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    p = 1 / (1 + np.exp(0.3 - X[:, 0] - X[:, 1] - X[:, 2] * (X[:, 3] > 0)))
    return X, (rng.random(n) < p).astype(int), p


def drawn(way: str, n: int, rng: np.random.Generator) -> Iterator[Any]:
    """The rows of each refit."""
    for _ in range(0, REFITS, 2):
        order = rng.permutation(n)
        if way == "halves":
            yield from (order[: n // 2], order[n // 2 :])
        elif way == "80 %":
            yield from (order[: 4 * n // 5], rng.permutation(n)[: 4 * n // 5])
        elif way == "bootstrap":
            yield from rng.integers(0, n, (2, n))
        else:
            yield from (order, order)


def bounds(values: Any, fitted: Any) -> tuple[Any, Any]:
    """The range that `hornbeam.evaluation.stability` tells."""
    low, high = np.quantile(values, [0.05, 0.95], axis=0, method="weibull")
    return np.minimum(low, fitted), np.maximum(high, fitted)


def held(low: Any, value: Any, high: Any) -> float:
    return float(((low <= value) & (value <= high)).mean())


def judge(way: str, seed: int, n: int, others: list[Any], new: Any) -> list[float]:
    """Ratio of standard deviations, coverage of rows, of leaves and of true rates, changed decisions and true ones."""
    X, y, _ = world(n, seed)
    model = TreeClassifier(random_state=seed).fit(X, y)
    rng = np.random.default_rng([seed, WAYS.index(way)])
    refits = [
        TreeClassifier(random_state=at).fit(X[rows], y[rows]) for at, rows in enumerate(drawn(way, n, rng))
    ]
    # Of new rows, then of the rows of the table.
    there, here = (
        [np.array([one.predict_proba(rows)[:, 1] for one in some]) for some in ([model], refits, others)]
        for rows in (new, X)
    )
    low, high = bounds(there[1], there[0][0])
    fresh, _, p = world(FRESH, 5)
    leaf, leaf_of_fresh, leaves = model.apply(X), model.apply(fresh), []
    for node in np.intersect1d(leaf, leaf_of_fresh):
        fitted, means, truth = (part[:, leaf == node].mean(axis=1) for part in here)
        span = bounds(means, fitted[0])
        leaves.append(
            [held(span[0], truth, span[1]), held(span[0], p[leaf_of_fresh == node].mean(), span[1])]
        )
    decided = here[0] > 0.5
    return [
        there[1].std(axis=0, ddof=1).mean() / there[2].std(axis=0, ddof=1).mean(),
        held(low, there[2], high),
        *np.mean(leaves, axis=0),
        ((here[1] > 0.5) != decided).mean(),
        ((here[2] > 0.5) != decided).mean(),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--tables", type=int, default=24)
    options = parser.parse_args()
    others = [
        TreeClassifier(random_state=at).fit(*world(options.rows, 10_000 + at)[:2]) for at in range(OTHERS)
    ]
    new = world(NEW, 99)[0]
    print(
        "| way | sd ratio | rows | leaves | true rate of leaves | changed | truly changed |\n|---|"
        + "--:|" * 6
    )
    for way in WAYS:
        found = [judge(way, seed, options.rows, others, new) for seed in range(options.tables)]
        print(f"| {way} |" + "|".join(f" {value:.3f} " for value in np.mean(found, axis=0)) + "|", flush=True)


if __name__ == "__main__":
    main()
