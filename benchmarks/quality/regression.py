"""Cross-fitted means against raw ones and against hierarchical shrinkage, over many data sets.

python -m benchmarks.quality.regression --data FOLDER --json benchmarks/results/regression/scores.jsonl

FOLDER has UCI sets as Parquet files; without, the sets of scikit-learn alone are asked. All methods get the same
numbers: categories as columns of 0 and 1, holes filled with medians. Five folds, root mean squared error as a part
of the target's deviation. `shrinkage` is imodels' `HSTreeRegressorCV` as it comes (20 leaves at most),
`shrinkage, full tree` the same on a tree grown to the end.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3, make_regression
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from hornbeam import TreeRegressor

MOST_ROWS = 5_000
UCI = {
    "abalone": "Rings",
    "adult": "hours-per-week",
    "autos": "price",
    "breast-tissue": "DR",
    "cardiotocography": "LB",
    "cmc": "Number_of_children_ever_born",
    "credit-g": "credit_amount",
    "dry-bean": "roundness",
    "hcv": "CHOL",
    "heart-c": "thalach",
    "ilpd": "ALB",
    "liver-disorders": "drinks",
    "maternal-risk": "BS",
    "obesity": "Weight",
    "occupancy": "CO2",
    "parkinsons": "MDVP_Fo_Hz",
    "pima-diabetes": "mass",
    "seeds": "asymmetry",
    "vertebral-3c": "degree_spondylolisthesis",
    "wine-quality-red": "target",
    "wine-quality-white": "target",
}


def sets(folder: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Rows and targets by name."""
    yield "diabetes", *load_diabetes(return_X_y=True)
    for n in (200, 2_000):
        yield f"friedman1, {n}", *make_friedman1(n, noise=1.0, random_state=0)
        yield f"friedman2, {n}", *make_friedman2(n, noise=100.0, random_state=0)
        yield f"friedman3, {n}", *make_friedman3(n, noise=0.1, random_state=0)
        yield f"linear, {n}", *make_regression(n, 10, n_informative=4, noise=20.0, random_state=0)
    for name, target in UCI.items() if folder else ():
        frame = pd.read_parquet(folder / f"{name}.parquet")
        frame = frame[frame[target].notna()]
        frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
        y = frame.pop(target).astype(str).astype(float).to_numpy()
        numbers = pd.get_dummies(frame.drop(columns="target", errors="ignore"), dtype=float)
        yield f"{name}: {target}", numbers.fillna(numbers.median()).to_numpy(float), y


def methods() -> dict[str, Callable[[], Any]]:
    """Makers of estimators by name; those of imodels if it is installed."""
    ours: dict[str, Callable[[], Any]] = {
        "cross-fitted": TreeRegressor,
        "cross-fitted, every leaf": lambda: TreeRegressor(pruning=None),
        "raw": lambda: TreeRegressor("cart"),
    }
    try:
        from imodels import HSTreeRegressorCV
    except ImportError:
        print("imodels is not installed: no shrinkage")
        return ours
    return ours | {
        "shrinkage": HSTreeRegressorCV,
        "shrinkage, full tree": lambda: HSTreeRegressorCV(DecisionTreeRegressor(random_state=0)),
    }


def leaves(fitted: Any) -> int:
    """Leaves of a fitted tree, ours or imodels'."""
    return int(
        fitted.tree_.n_leaves if isinstance(fitted, TreeRegressor) else fitted.estimator_.tree_.n_leaves
    )


def ask(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Relative error over five folds, and leaves on average."""
    lost, size = 0.0, []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        fitted = make().fit(X[train], y[train])
        lost += float(((fitted.predict(X[test]) - y[test]) ** 2).sum())
        size.append(leaves(fitted))
    return (lost / len(y)) ** 0.5 / float(y.std()), float(np.mean(size))


def summary(scores: pd.DataFrame) -> str:
    """Mean error, mean leaves, and how often cross-fitted means win, with a sign test."""
    lines = [
        "| method | relative error | leaves | cross-fitted wins-losses | sign test |",
        "|---|---|---|---|---|",
    ]
    errors, size = (scores.pivot(index="set", columns="method", values=v) for v in ("error", "leaves"))
    for name in scores["method"].unique():
        apart = errors[name] - errors["cross-fitted"]
        won, lost = int((apart > 1e-9).sum()), int((apart < -1e-9).sum())
        test = f"{binomtest(won, won + lost).pvalue:.2g}" if won + lost else ""
        against = f"{won}-{lost}" if won + lost else ""
        lines.append(f"| {name} | {errors[name].mean():.4f} | {size[name].mean():.0f} | {against} | {test} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = []
    for name, X, y in sets(options.data):
        for method, make in methods().items():
            error, size = ask(make, X, y)
            found.append({"set": name, "rows": len(y), "method": method, "error": error, "leaves": size})
        print(
            name,
            len(y),
            {one["method"]: round(one["error"], 4) for one in found if one["set"] == name},
            flush=True,
        )
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text("".join(json.dumps(one) + "\n" for one in found))
    print(summary(pd.DataFrame(found)))


if __name__ == "__main__":
    main()
