"""Stability of random estimators on random rows: refused properly, or a result that keeps its laws."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam.errors import HornbeamError
from hornbeam.evaluation import stability

IN_CI, LIMIT = 40, 20.0
ESTIMATORS: dict[str, Any] = {
    "default": hornbeam.TreeClassifier(),
    "cart": hornbeam.TreeClassifier("cart"),
    "c4.5": hornbeam.TreeClassifier("c4.5"),
    "forest": hornbeam.ForestClassifier(3),
    "regressor": hornbeam.TreeRegressor("cart"),
    "scikit-learn": DecisionTreeClassifier(max_depth=3),
    "linear": LogisticRegression(),
}


def draw(rng: np.random.Generator) -> dict[str, Any]:
    n = int(rng.choice([1, 2, 3, 5, 8, 20, 40]))
    return {
        "estimator": str(rng.choice(list(ESTIMATORS))),
        "rows": n,
        "seed": int(rng.integers(2**32)),
        "classes": int(rng.integers(1, 5)),
        "missing": float(rng.choice([0.0, 0.3])),
        "nominal": bool(rng.random() < 0.5),
        "groups": int(rng.choice([0, 1, 2, 5])),
        "weights": bool(rng.random() < 0.3),
        "refits": int(rng.choice([0, 2, 3, 5])),
        "only_seeds": bool(rng.random() < 0.2),
    }


def judge(case: dict[str, Any]) -> str | None:
    rng, n = np.random.default_rng(int(case["seed"])), int(case["rows"])
    estimator = ESTIMATORS.get(str(case["estimator"]))
    if estimator is None:
        return None
    X = pd.DataFrame({"a": rng.integers(0, 5, n).astype(float), "b": rng.normal(size=n).round(1)})
    X = X.mask(rng.random(X.shape) < case["missing"])
    if case["nominal"]:
        X["place"] = rng.choice(["p", "q", "r"], n)
    y = rng.integers(0, max(1, int(case["classes"])), n)
    options = {
        "groups": rng.integers(0, case["groups"], n) if case["groups"] else None,
        "sample_weight": rng.integers(1, 4, n).astype(float) if case["weights"] else None,
        "n_refits": case["refits"],
        "only_seeds": case["only_seeds"],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = stability(estimator, X, y, **options)
        except HornbeamError:
            return None
        except Exception as error:
            other = not type(estimator).__module__.startswith("hornbeam")
            return (
                None if other and isinstance(error, ValueError) else f"{type(error).__name__}: {error}"[:300]
            )
        return wrong(found, n) or unlike(found, estimator, X, y, options, rng.permutation(n))


def wrong(found: Any, n: int) -> str | None:
    """What is wrong with a result, by itself."""
    json.dumps(found.summary(), allow_nan=False)
    assert repr(found)
    assert found._repr_html_()
    if (
        found.n_rows != n
        or not (found.low <= found.probability).all()
        or not (found.probability <= found.high).all()
    ):
        return "a range without the prediction of the fitted model"
    if found.changed is not None and not ((found.changed >= 0) & (found.changed <= 1)).all():
        return "a share that is none"
    if found.roots is not None and abs(sum(root.share for root in found.roots) - 1) > 1e-9:
        return "the shares of the root splits do not add up to 1"
    if found.leaves is not None and found.leaves.rows.sum() != n:
        return "a row in no leaf"
    return None


def unlike(found: Any, estimator: Any, X: Any, y: Any, options: dict[str, Any], order: Any) -> str | None:
    """Whether the order of the rows, or the number of threads, changes the result of a tree of ours."""
    if not type(estimator).__module__.startswith("hornbeam"):
        return None
    taken = {name: options[name] for name in ("groups", "sample_weight") if options[name] is not None}
    options = options | {name: values[order] for name, values in taken.items()} | {"n_jobs": 2}
    again = stability(estimator, X.iloc[order], y[order], **options)
    same = np.array_equal(found.moved[order], again.moved) and found.roots == again.roots
    return None if same else "another result for another order of rows"
