"""Random fits of forests, boosted trees, rankers, rules and smoothed trees of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.attacks.fits import KINDS, NEEDS, draw_fit, judge_fit

__all__ = ["IN_CI", "LIMIT", "NEEDS", "draw", "judge"]

IN_CI, LIMIT, MEMORY = 50, 60.0, 1024
ALWAYS = {"SmoothedClassifier": {"estimator": {"made": "estimator"}}}


def draw(rng: np.random.Generator) -> dict[str, Any]:
    others = [name for name in KINDS if name not in ("TreeClassifier", "TreeRegressor", "Recipe")]
    name = str(rng.choice(others))
    always: dict[str, Any] = dict(ALWAYS.get(name, {}))
    if name == "ForestRegressor":  # drawn often, as for trees
        always["distribution"] = bool(rng.integers(2))
    return draw_fit(rng, name, always)


def judge(case: dict[str, Any]) -> str | None:
    return judge_fit(case)
